"""`firstword talk`: hold a conversation with WAV files."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from firstword.settings import Settings
    from firstword.talk import Turn
    from sound import Pcm


@click.command(short_help="Hold a conversation with WAV files.")
@click.argument("recordings", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="WAV...")
@click.option("--bot", default="guide", show_default=True, help="who answers")
@click.option("--out", default=None, type=click.Path(path_type=Path, file_okay=False), help="write answer-N.wav here")
@click.option("--json", "as_json", is_flag=True, help="print one object with every turn and its trace")
def talk(recordings: tuple[Path, ...], bot: str, out: Path | None, as_json: bool) -> None:
    """Play each WAV into one conversation, in real time, through the same server that the page uses.

    Prints what was heard, what was said, and how long after the end of speech the first word was heard. With --out, the
    answers are written as recordings.
    """
    from firstword.house import known_bot
    from firstword.settings import load_settings
    from sound import read_recording, write_wav

    settings = load_settings(single_user=True)
    known_bot(settings, bot)
    sounds = [read_recording(path) for path in recordings]
    turns = asyncio.run(_hold(settings, bot, sounds))
    for n, turn in enumerate(turns, 1):
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            if len(turn.answer):
                write_wav(out / f"answer-{n}.wav", turn.answer)
        if not as_json:
            _print(turn)
    if as_json:
        click.echo(json.dumps({"turns": [turn.as_json() for turn in turns]}, ensure_ascii=False))


async def _hold(settings: Settings, bot: str, sounds: list[Pcm]) -> list[Turn]:
    from firstword.app import create_kept_app
    from firstword.house import signer_for
    from firstword.serving import serving, until_ready
    from firstword.talk import converse

    async with serving(lambda base_url: create_kept_app(settings, base_url)) as base_url:
        await until_ready(base_url)
        grant = signer_for(settings).mint(bot=bot, subject="owner", room="talk")
        async with converse(base_url, grant) as conversation:
            return [await conversation.ask(sound) for sound in sounds]


def _print(turn: Turn) -> None:
    click.echo(f"heard: {turn.heard or '(nothing)'}")
    click.echo(f"said:  {turn.said or '(nothing)'}")
    if turn.first_word_ms is not None:
        click.echo(f"first word after {turn.first_word_ms:.0f} ms")
