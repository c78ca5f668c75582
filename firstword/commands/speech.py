"""`firstword say`: one mouth, no server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click


@click.command(short_help="Speak a text into a file, or aloud.")
@click.argument("text")
@click.option("--out", default=None, type=click.Path(path_type=Path, dir_okay=False), help="write a WAV here")
@click.option("--play", is_flag=True, help="play it on this machine's loudspeaker (extra `play`)")
@click.option("--engine", default=None, help="piper, kokoro or supertonic [FIRSTWORD_VOICE_ENGINE]")
@click.option("--voice", default=None, help="a voice of the engine")
@click.option("--language", default=None, help="the language of the text [FIRSTWORD_LANGUAGE]")
@click.option("--speed", default=1.0, show_default=True, type=click.FloatRange(0.5, 2.0), help="how fast")
@click.option("--opening", default=None, type=click.IntRange(1, 100), help="solver steps of the first piece")
@click.option("--dry", is_flag=True, help="only show how the text is filtered, cut and read")
@click.option("--json", "as_json", is_flag=True, help="print one object: pieces, first sample ms, whole ms")
def say(
    text: str,
    out: Path | None,
    play: bool,
    engine: str | None,
    voice: str | None,
    language: str | None,
    speed: float,
    opening: int | None,
    dry: bool,
    as_json: bool,
) -> None:
    """Speak TEXT (or standard input, where TEXT is -) to a file or aloud; tells how soon its first sample was there."""
    from firstword.dry import cut, shown
    from firstword.mouth import Say, speak
    from firstword.settings import load_settings
    from firstword.voices import engine_names

    words = sys.stdin.read() if text == "-" else text
    if not words.strip():
        raise click.UsageError("there is nothing to say: the text is empty")
    if not dry and out is None and not play and not as_json:
        raise click.UsageError("where should it go? give --out FILE.wav or --play (or --dry to see how it is cut)")
    settings = load_settings()
    if dry:
        report = cut(words, language or settings.language)
        lines = [json.dumps(report, ensure_ascii=False)] if as_json else shown(report)
        click.echo("\n".join(lines))
        return
    named = engine_names([engine] if engine else [])
    how = Say(named[0] if named else None, voice, language, speed, opening, out, play)
    report = speak(settings, words, how)
    if as_json:
        click.echo(json.dumps(report, ensure_ascii=False))
        return
    for piece in report["pieces"]:
        click.echo(f"{piece['n']:3}  {piece['spoken']}")
    for fault in report["faults"]:
        click.echo(fault, err=True)
    click.echo(f"first sample after {report['first_sample_ms']:.0f} ms, all after {report['whole_ms']:.0f} ms")
