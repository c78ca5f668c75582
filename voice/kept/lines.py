"""Threads, lines and notes as values, and what makes a title of a sentence.

They know no database. The one rule: what is kept is text that every database takes, whatever a client sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Role = Literal["user", "assistant"]
# A title is one line of a narrow drawer, three at most.
TITLE_CHARS = 80
# Longer than anything a page sends in one line, and than an answer read aloud in ten minutes.
_LONGEST_LINE_CHARS = 20_000
_LONGEST_ITEM_CHARS = 64


@dataclass(frozen=True, slots=True)
class KeptThread:
    """One conversation in the drawer. Times are Unix seconds: its beginning, and its newest line."""

    id: str
    bot: str
    title: str
    began_s: float
    said_s: float


@dataclass(frozen=True, slots=True)
class KeptLine:
    """One line as it was heard. `item` is its id on the wire, `said_s` Unix seconds."""

    item: str
    role: Role
    text: str
    said_s: float


@dataclass(frozen=True, slots=True)
class Note:
    """A line to be written into `thread`, which is `subject`'s with `bot`; blank text takes the line away.

    `began_s` is when the thread was, and `title` what it is called if this note is what brings it into being.
    """

    thread: str
    subject: str
    bot: str
    title: str
    began_s: float
    line: KeptLine

    @property
    def key(self) -> tuple[str, str]:
        """What makes two notes the same line."""
        return self.thread, self.line.item


def line_of(item: str, role: Role, text: str, said_s: float) -> KeptLine:
    """A line that can be kept: no NUL, no half of a surrogate pair, bounded."""
    return KeptLine(plain(item)[:_LONGEST_ITEM_CHARS], role, plain(text)[:_LONGEST_LINE_CHARS], said_s)


def plain(text: str) -> str:
    """`text` without what PostgreSQL (NUL) or UTF-8 (lone surrogates) cannot hold."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def title_of(text: str) -> str:
    """The first thing they said, trimmed to a line."""
    words = plain(text).split()
    title = " ".join(words)
    if len(title) <= TITLE_CHARS:
        return title
    # At a word, unless the language writes none or the first is longer than half the line.
    at = title.rfind(" ", TITLE_CHARS // 2, TITLE_CHARS)
    return f"{title[: at if at > 0 else TITLE_CHARS - 1]}…"


def overlaid(lines: Sequence[KeptLine], notes: Iterable[Note]) -> list[KeptLine]:
    """`lines` with what is still to be written: replaced, taken away, or after the last."""
    by_item = {line.item: line for line in lines}
    for note in notes:
        if note.line.text:
            kept = by_item.get(note.line.item)
            said_s = kept.said_s if kept else note.line.said_s
            by_item[note.line.item] = KeptLine(note.line.item, note.line.role, note.line.text, said_s)
        else:
            by_item.pop(note.line.item, None)
    return list(by_item.values())
