"""`firstword bench`: measure how soon the first word is heard."""

from __future__ import annotations

import asyncio
import json

import click


@click.group(short_help="Measure: how soon the first word is heard.")
def bench() -> None:
    """Measurements on real models. Quote a figure only beside its machine; compare only inside one run."""


@bench.command("first-word", short_help="Words to the first audible sample, by engine and text.")
@click.option("--engine", "engines", multiple=True, help="piper, kokoro or supertonic; all that can be had if left out")
@click.option("--repeats", default=9, show_default=True, type=click.IntRange(1, 100), help="rounds over the texts")
@click.option("--words", is_flag=True, help="instead: word errors of hard lines, spoken whole and streamed")
@click.option("--text", is_flag=True, help="instead: what filter and cut cost a call, and how that grows with length")
@click.option("--quick", is_flag=True, help="one round over one text (with --words: two lines), to see that it runs")
@click.option("--json", "as_json", is_flag=True, help="print one object")
def first_word(engines: tuple[str, ...], repeats: int, words: bool, text: bool, quick: bool, as_json: bool) -> None:
    """Speak six texts whole, their first sentence, their opening, and streamed, and measure when each is heard."""
    if text:
        from benchmarks.text_cost import LENGTHS, ROUNDS, measure_text, text_table

        cost = measure_text(rounds=1 if quick else ROUNDS, lengths=LENGTHS[:2] if quick else LENGTHS)
        click.echo(json.dumps(cost) if as_json else text_table(cost))
        return
    from benchmarks.first_word import measure, table
    from benchmarks.said_words import hard_lines, measure_words, words_table
    from firstword.settings import load_settings
    from firstword.voices import engine_names

    chosen = engine_names(engines)
    settings = load_settings(**({"voice_engine": chosen[0]} if chosen else {}))
    if words:
        result = asyncio.run(measure_words(settings, lines=hard_lines()[:2] if quick else ()))
        click.echo(json.dumps(result) if as_json else words_table(result))
        return
    texts = ("twelve words",) if quick else ()
    result = asyncio.run(measure(settings, engines=chosen, repeats=1 if quick else repeats, texts=texts))
    click.echo(json.dumps(result) if as_json else table(result))


@bench.command(short_help="End of speech to the first audible sample.")
@click.option("--bot", default="guide", show_default=True, help="who answers")
@click.option("--brain", type=click.Choice(["script", "local", "both"]), default="both", show_default=True)
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(["speculation", "window", "streaming"]),
    help="measure beside ours without this; may be repeated; all three unless said",
)
@click.option("--repeats", default=1, show_default=True, type=click.IntRange(1, 20), help="rounds over the questions")
@click.option("--no-curve", is_flag=True, help="leave out first word against cut-offs over the waits")
@click.option("--stage", type=click.Choice(["listen"]), help="only this part of a turn, against the plain way")
@click.option("--quick", is_flag=True, help="few questions, the script brain, no curve: to see that it runs")
@click.option("--json", "as_json", is_flag=True, help="print one object")
def turn(
    bot: str,
    brain: str,
    without: tuple[str, ...],
    repeats: int,
    no_curve: bool,
    stage: str | None,
    quick: bool,
    as_json: bool,
) -> None:
    """Ask spoken questions through the real server and a real socket, in real time, and measure from outside.

    Twenty questions, eight with a pause for thought inside, to a server with everything on and to servers that each do
    without one thing. "over" counts answers heard before the person had finished, "again" turns that were taken for
    over too early and went on unheard.
    """
    from firstword.settings import load_settings

    settings = load_settings(single_user=True)
    if stage == "listen":
        from benchmarks.listen import measure as measure_listening
        from benchmarks.listen import table as listening_table

        heard = asyncio.run(measure_listening(settings, repeats=repeats, quick=quick))
        click.echo(json.dumps(heard) if as_json else listening_table(heard))
        return
    from benchmarks.questions import QUESTIONS
    from benchmarks.turn import BRAINS, WAITS, WITHOUT, measure, table

    result = asyncio.run(
        measure(
            settings,
            bot=bot,
            brains=["script"] if quick else list(BRAINS) if brain == "both" else [brain],
            without=without or tuple(WITHOUT),
            waits=() if no_curve or quick else WAITS,
            repeats=repeats,
            questions=QUESTIONS[2:6] if quick else QUESTIONS,
        )
    )
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


@bench.command("barge-in", short_help="Does it stop when somebody speaks, and only then?")
@click.option("--quick", is_flag=True, help="a tenth of everything")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1, 16), help="processes at once")
@click.option("--json", "as_json", is_flag=True, help="print one object")
def barge_in(quick: bool, jobs: int, as_json: bool) -> None:
    """A simulated room with the real session in it, on virtual time.

    1,000 minutes of playback with nobody there, 500 people who interrupt, 500 coughs, clicks and listener's noises,
    over leaks from headphones to loud and delays to 1.4 s; and what fixed thresholds make of the same sound.
    """
    from benchmarks.barge_in import measure, table
    from firstword.settings import load_settings

    told = (lambda line: click.echo(line, err=True)) if not as_json else (lambda _line: None)
    result = measure(load_settings(single_user=True), quick=quick, jobs=jobs, told=told)
    click.echo(json.dumps(result) if as_json else table(result))


@bench.command(short_help="What the door adds to a model's own first word.")
@click.option("--strain", is_flag=True, help="refused grants and slow clients too: half a minute more")
@click.option("--quick", is_flag=True, help="one stream, to see that it runs")
@click.option("--json", "as_json", is_flag=True, help="print one object")
def door(strain: bool, quick: bool, as_json: bool) -> None:
    """Ask a model at an even pace itself and through the door, 1, 8 and 64 streams at once, and compare."""
    from benchmarks.door import measure, table

    result = measure(quick=quick, strain=strain)
    click.echo(json.dumps(result) if as_json else table(result))
