"""`firstword hear`: one ear, no server."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command(short_help="Recognise a recording.")
@click.argument("recording", type=click.Path(path_type=Path))
@click.option("--language", default=None, help="the language spoken [FIRSTWORD_LANGUAGE]")
@click.option("--model", default=None, help="the recogniser's weights [FIRSTWORD_LISTEN_MODEL]")
@click.option("--live", is_flag=True, help="feed the file in real time and print partials as they come")
@click.option("--json", "as_json", is_flag=True, help="print one object: text, words with times, utterances")
def hear(recording: Path, language: str | None, model: str | None, live: bool, as_json: bool) -> None:
    """Recognise what is said in RECORDING (WAV, FLAC, OGG or MP3)."""
    from firstword.ear import listen
    from firstword.settings import load_settings
    from sound import read_recording

    settings = load_settings(**({"listen_model": model} if model else {}))
    pcm = read_recording(recording)
    partial = None if as_json else _show
    report = listen(settings, pcm, language=language or settings.language, live=live, on_partial=partial)
    click.echo(json.dumps(report, ensure_ascii=False) if as_json else report["text"] or "(nothing was said)")


def _show(text: str, stable: str) -> None:
    """A guess on standard error; a bar stands behind the part of it that will stand."""
    rest = text[len(stable) :] if text.startswith(stable) else f" {text}"
    click.echo(f"… {stable}|{rest}" if stable else f"… {text}", err=True)
