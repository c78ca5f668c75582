"""`firstword bench`: measure how soon the first word is heard."""

from __future__ import annotations

import asyncio
import json

import click


@click.group(short_help="Measure: how soon the first word is heard.")
def bench() -> None:
    """Measurements on real models. Quote a figure only beside its machine; compare only inside one run."""


@bench.command(short_help="End of speech to the first audible sample.")
@click.option("--bot", default="guide", show_default=True, help="who answers")
@click.option("--repeats", default=3, show_default=True, type=click.IntRange(1, 100), help="rounds over the questions")
@click.option("--script", is_flag=True, help="answer from a script: measures everything but the language model")
@click.option("--stage", type=click.Choice(["listen"]), help="only this part of a turn, against the plain way")
@click.option("--quick", is_flag=True, help="with --stage: two utterances, to see that it runs")
@click.option("--json", "as_json", is_flag=True, help="print one object")
def turn(bot: str, repeats: int, script: bool, stage: str | None, quick: bool, as_json: bool) -> None:
    """Ask spoken questions through the real server and a real socket, in real time, and measure from outside."""
    from firstword.settings import load_settings

    if stage == "listen":
        from benchmarks.listen import measure as measure_listening
        from benchmarks.listen import table as listening_table

        heard = asyncio.run(measure_listening(load_settings(single_user=True), quick=quick))
        click.echo(json.dumps(heard) if as_json else listening_table(heard))
        return
    from benchmarks.turn import measure, table

    settings = load_settings(single_user=True, **({"script_only": True} if script else {}))
    result = asyncio.run(measure(settings, bot=bot, repeats=repeats))
    click.echo(json.dumps(result) if as_json else table(result))


@bench.command(short_help="The loop's own overhead; or its promise, under SIGKILL.")
@click.option("--kill", "killing", is_flag=True, help="kill worker processes and count what is left of 300 runs")
@click.option("--quick", is_flag=True, help="a few turns on SQLite, to see that it runs")
@click.option("--json", "as_json", is_flag=True, help="print one object")
def core(killing: bool, quick: bool, as_json: bool) -> None:
    """What a turn costs beside the model, on SQLite and on PostgreSQL where it is installed.

    With --kill: four worker processes on one database, one of them killed every 0.15 s, until 300 runs of four steps
    are over. Every run must be done, no step written twice and none missing.
    """
    from benchmarks.core import measure, table

    result = measure(killing=killing, quick=quick)
    click.echo(json.dumps(result) if as_json else table(result))
