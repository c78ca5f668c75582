"""What `firstword say TEXT --dry` shows: how a text is filtered, cut and read, without a voice.

It speaks nothing and needs no weights. The one rule: it goes through the same filter, cut and tables as a conversation,
so that what is shown is what would be spoken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from tts import Cutter, speakable
from tts.words import count_words, is_speakable


def cut(text: str, language: str = "en") -> dict[str, Any]:
    """How `text` is filtered, cut and read: one object; a piece is `silent` where no engine would be asked for it."""
    filtered = speakable(text)
    cutter = Cutter(language=language)
    return {
        "language": language,
        "text": text,
        "filtered": filtered,
        "pieces": [
            {
                "n": piece.n,
                "opening": piece.opening,
                "source": piece.source,
                "spoken": piece.spoken,
                "silent": not is_speakable(piece.spoken),
                "words": int(count_words(piece.source)),
                "characters": len(piece.source.strip()),
            }
            for piece in [*cutter.push(filtered), *cutter.flush()]
        ],
    }


def shown(report: dict[str, Any], columns: int = 100) -> Iterator[str]:
    """`report` as lines for a terminal `columns` wide."""
    if report["filtered"] != report["text"]:
        yield click.style("left to read", bold=True)
        yield from _wrapped(report["filtered"], "     ", columns)
        yield ""
    for piece in report["pieces"]:
        if piece["silent"]:
            continue
        words, characters = piece["words"], piece["characters"]
        size = f"{words} word{'' if words == 1 else 's'}, {characters} character{'' if characters == 1 else 's'}"
        title = f"{'the opening, ' if piece['opening'] else ''}{size}"
        yield click.style(f"{piece['n'] + 1:3}  ", bold=True) + click.style(title, dim=True)
        yield from _wrapped(piece["source"], "     ", columns)
        if piece["spoken"] != " ".join(piece["source"].split()):
            yield from _wrapped(piece["spoken"], "   → ", columns)
    if all(piece["silent"] for piece in report["pieces"]):
        yield click.style("nothing in it is spoken", dim=True)


def _wrapped(text: str, lead: str, columns: int) -> Iterator[str]:
    width = max(20, columns - len(lead))
    for line in text.strip().split("\n"):
        wrapped = click.wrap_text(line, width).split("\n") if line.strip() else []
        for row in wrapped:
            yield lead + row
            lead = " " * len(lead)
