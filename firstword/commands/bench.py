"""`firstword bench`: measure how soon the first word is heard.

Every benchmark takes the same four flags and prints the same head; what it is about it takes beside them.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

Measured = Callable[[], dict[str, Any]]
Table = Callable[[dict[str, Any]], str]
_HERE = "benchmarks/results"


@dataclass(frozen=True, slots=True)
class Flags:
    """What every benchmark is told. `save` is the folder to keep the result in, `_HERE` for the project's own."""

    repeats: int
    quick: bool
    as_json: bool
    save: str | None

    def told(self, line: str) -> None:
        """How far it is, for whoever waits at a terminal."""
        if not self.as_json:
            click.echo(line, err=True)

    def finish(self, measure: Measured, table: Table, *, inside: bool = False) -> None:
        """Measure, print and keep. `inside`: it repeats itself; else the whole of it is repeated."""
        from benchmarks.history import RESULTS, save
        from benchmarks.instrument import footer, rounds, run

        repeated = measure if inside else lambda: rounds(measure, self.repeats)
        result = run(repeated, repeats=self.repeats, quick=self.quick)
        click.echo(json.dumps(result) if self.as_json else f"{table(result)}\n{footer(result)}")
        if self.save is not None:
            from benchmarks.figures import renew

            kept = save(result, RESULTS if self.save == _HERE else Path(self.save))
            click.echo(f"kept in {kept}", err=True)
            if self.save == _HERE and renew():
                click.echo("the README's figures are those of the results again", err=True)


def measures(*, quick: str, repeats: int = 1) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command the four flags, as `flags`. `quick` says what is left out, `repeats` is how many rounds."""

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_flags(*, repeats: int, quick: bool, as_json: bool, save: str | None, **given: Any) -> None:
            if quick and save == _HERE:
                raise click.UsageError("a quick run shows that it runs; its figures are not kept with the project's")
            command(flags=Flags(1 if quick else repeats, quick, as_json, save), **given)

        for option in (
            click.option(
                "--save",
                is_flag=False,
                flag_value=_HERE,
                metavar="[DIR]",
                help="keep the result; DIR left out: in benchmarks/results/",
            ),
            click.option("--json", "as_json", is_flag=True, help="print one object"),
            click.option("--quick", is_flag=True, help=f"{quick}: to see that it runs"),
            click.option("--repeats", default=repeats, show_default=True, type=click.IntRange(1, 100), help="rounds"),
        ):
            with_flags = option(with_flags)
        return with_flags

    return wrap


@click.group(short_help="Measure: how soon the first word is heard.")
def bench() -> None:
    """Measurements on real models. Quote a figure only beside its machine; compare only inside one run.

    A result of a machine of which others used more than a tenth meanwhile says so, and is not to be quoted.
    """


@bench.command("first-word", short_help="Words to the first audible sample, by engine and text.")
@click.option("--engine", "engines", multiple=True, help="piper, kokoro or supertonic; all that can be had if left out")
@click.option("--words", is_flag=True, help="instead: word errors of hard lines, spoken whole and streamed")
@click.option("--text", is_flag=True, help="instead: what filter and cut cost a call, and how that grows with length")
@measures(quick="one round over one text (with --words: two lines)", repeats=9)
def first_word(flags: Flags, engines: tuple[str, ...], words: bool, text: bool) -> None:
    """Speak six texts whole, their first sentence, their opening, and streamed, and measure when each is heard."""
    if text:
        from benchmarks.text_cost import LENGTHS, ROUNDS, measure_text, text_table

        lengths = LENGTHS[:2] if flags.quick else LENGTHS
        flags.finish(
            lambda: measure_text(rounds=1 if flags.quick else ROUNDS, lengths=lengths), text_table, inside=True
        )
        return
    from benchmarks.first_word import measure, table
    from benchmarks.said_words import hard_lines, measure_words, words_table
    from firstword.settings import load_settings
    from firstword.voices import engine_names

    chosen = engine_names(engines)
    settings = load_settings(**({"voice_engine": chosen[0]} if chosen else {}))
    if words:
        lines = hard_lines()[:2] if flags.quick else ()
        flags.finish(lambda: asyncio.run(measure_words(settings, lines=lines)), words_table, inside=True)
        return
    texts = ("twelve words",) if flags.quick else ()
    flags.finish(
        lambda: asyncio.run(measure(settings, engines=chosen, repeats=flags.repeats, texts=texts)), table, inside=True
    )


@bench.command(short_help="End of speech to the first audible sample.")
@click.option("--bot", default="guide", show_default=True, help="who answers")
@click.option("--brain", type=click.Choice(["script", "local", "both"]), default="both", show_default=True)
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(["speculation", "window", "streaming"]),
    help="measure beside ours without this; may be repeated; all three unless said",
)
@click.option("--no-curve", is_flag=True, help="leave out first word against cut-offs over the waits")
@click.option("--stage", type=click.Choice(["listen", "window"]), help="only this part of a turn")
@click.option("--over", type=click.Choice(["livekit"]), help="through a LiveKit room, beside the WebSocket")
@measures(quick="few questions, the script brain, no curve")
def turn(
    flags: Flags,
    bot: str,
    brain: str,
    without: tuple[str, ...],
    no_curve: bool,
    stage: str | None,
    over: str | None,
) -> None:
    """Ask spoken questions through the real server and a real socket, in real time, and measure from outside.

    Twenty questions, eight with a pause for thought inside, to a server with everything on and to servers that each do
    without one thing. "over" counts answers heard before the person had finished, "again" turns that were taken for
    over too early and went on unheard. A round takes about twenty minutes.
    """
    from firstword.settings import load_settings

    settings = load_settings(single_user=True)
    if stage == "listen":
        from benchmarks.listen import measure as measure_listening
        from benchmarks.listen import table as listening_table

        flags.finish(
            lambda: asyncio.run(measure_listening(settings, repeats=flags.repeats, quick=flags.quick)),
            listening_table,
            inside=True,
        )
        return
    if stage == "window":
        from benchmarks.window import measure as measure_window
        from benchmarks.window import table as window_table

        flags.finish(
            lambda: measure_window(settings, repeats=flags.repeats, quick=flags.quick), window_table, inside=True
        )
        return
    from benchmarks.questions import QUESTIONS
    from benchmarks.turn import BRAINS, WAITS, WITHOUT, measure, measure_over_livekit, table

    questions = QUESTIONS[2:6] if flags.quick else QUESTIONS
    if over == "livekit":
        flags.finish(
            lambda: asyncio.run(measure_over_livekit(settings, bot=bot, repeats=flags.repeats, questions=questions)),
            table,
            inside=True,
        )
        return
    brains = ["script"] if flags.quick else list(BRAINS) if brain == "both" else [brain]
    flags.finish(
        lambda: asyncio.run(
            measure(
                settings,
                bot=bot,
                brains=brains,
                without=without or tuple(WITHOUT),
                waits=() if no_curve or flags.quick else WAITS,
                repeats=flags.repeats,
                questions=questions,
            )
        ),
        table,
        inside=True,
    )


@bench.command(short_help="The loop's own overhead; or its promise, under SIGKILL.")
@click.option("--kill", "killing", is_flag=True, help="kill worker processes and count what is left of 300 runs")
@measures(quick="a few turns on SQLite")
def core(flags: Flags, killing: bool) -> None:
    """What a turn costs beside the model, on SQLite and on PostgreSQL where it is installed.

    With --kill: four worker processes on one database, one of them killed every 0.15 s, until 300 runs of four steps
    are over. Every run must be done, no step written twice and none missing.
    """
    from benchmarks.core import measure, table

    flags.finish(lambda: measure(killing=killing, quick=flags.quick), table)


@bench.command("barge-in", short_help="Does it stop when somebody speaks, and only then?")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1, 16), help="processes at once")
@measures(quick="a tenth of everything")
def barge_in(flags: Flags, jobs: int) -> None:
    """A simulated room with the real session in it, on virtual time.

    1,000 minutes of playback with nobody there, 500 people who interrupt, 500 coughs, clicks and listener's noises,
    over leaks from headphones to loud and delays to 1.4 s; and what fixed thresholds make of the same sound.
    """
    from benchmarks.barge_in import measure, table
    from firstword.settings import load_settings

    settings = load_settings(single_user=True)
    flags.finish(lambda: measure(settings, quick=flags.quick, jobs=jobs, told=flags.told), table)


@bench.command(short_help="What the door adds to a model's own first word.")
@click.option("--strain", is_flag=True, help="refused grants and slow clients too: half a minute more")
@measures(quick="one stream")
def door(flags: Flags, strain: bool) -> None:
    """Ask a model at an even pace itself and through the door, 1, 8 and 64 streams at once, and compare."""
    from benchmarks.door import measure, table

    flags.finish(lambda: measure(quick=flags.quick, strain=strain), table)


@bench.command(short_help="Conversations at once, until the first underrun.")
@measures(quick="one person alone, one question")
def load(flags: Flags) -> None:
    """1 to 16 conversations at once with the scripted brain, until the first one's sound runs dry.

    Before a server whose work goes by deadline and one whose work goes by arrival: the first word's p95, gaps, cores
    used and memory a conversation.
    """
    from benchmarks.load import measure, table
    from firstword.settings import load_settings

    settings = load_settings(single_user=True)
    flags.finish(
        lambda: asyncio.run(measure(settings, repeats=flags.repeats, quick=flags.quick, told=flags.told)),
        table,
        inside=True,
    )


@bench.command(short_help="Beside Pipecat and LiveKit Agents, on the same models.")
@click.option("--only", multiple=True, help="firstword, pipecat or livekit; all of them if left out; may be repeated")
@measures(quick="one question each")
def peers(flags: Flags, only: tuple[str, ...]) -> None:
    """Ask Firstword, Pipecat and LiveKit Agents the same, each at its defaults and at its fastest safe settings.

    The same recordings, Piper voice, Whisper model and scripted brain behind an OpenAI-shaped address. Then
    interruptions, coughs, a loudspeaker that leaks into the microphone, and texts that are hard to read aloud. The
    peers are installed in an environment of their own by scripts/peers/setup.sh. Takes about half an hour.
    """
    from benchmarks.peers.bench import measure, table
    from firstword.settings import load_settings

    settings = load_settings(single_user=True)
    flags.finish(
        lambda: asyncio.run(measure(settings, repeats=flags.repeats, quick=flags.quick, told=flags.told, only=only)),
        table,
        inside=True,
    )


@bench.command(short_help="Which stage got slower between two results.")
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="print one object")
def compare(before: Path, after: Path, as_json: bool) -> None:
    """Say what moved from BEFORE to AFTER, two results of one benchmark, beyond the noise of both, and name the stage
    that got slower."""
    from benchmarks.compare import compare as compared
    from benchmarks.compare import table
    from benchmarks.history import load

    told = compared(load(before), load(after))
    click.echo(json.dumps(told) if as_json else table(told))


@bench.command(short_help="The results as one page to look at.")
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--out", default="report.html", show_default=True, type=click.Path(path_type=Path), help="the file")
def report(folder: Path | None, out: Path) -> None:
    """Draw the results in FOLDER, or the project's own, as one HTML file that asks nobody for anything."""
    from benchmarks.history import RESULTS
    from benchmarks.report.page import write

    click.echo(write(folder or RESULTS, out))
