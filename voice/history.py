"""The conversation as the model will see it: lines as they were heard.

It keeps text and ids, no sound. The one rule: a line of the assistant's is what was played of it, and a line nobody
heard is no line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from voice.door import Message

# What is sent to the door; the core keeps its own memory. Sixty lines are half an hour of talk.
_LINES = 60
_CHARS = 16_000


@dataclass(slots=True)
class Entry:
    """One line; blank, it only keeps its place."""

    item_id: str
    role: Literal["user", "assistant"]
    text: str


class History:
    """The lines of one session, the newest last. `noted` is told of each as it is said, and again when it changes."""

    def __init__(self, noted: Callable[[Entry], None] = lambda _entry: None) -> None:
        self._entries: list[Entry] = []
        self._noted = noted

    @property
    def last_id(self) -> str | None:
        """The id of the newest line."""
        return self._entries[-1].item_id if self._entries else None

    def add(self, entry: Entry) -> None:
        """Append a line; the oldest go where there are too many."""
        self._entries.append(entry)
        del self._entries[:-_LINES]
        self._noted(entry)

    def recall(self, entries: Iterable[Entry]) -> None:
        """Begin with lines of an earlier session, which are nothing new."""
        self._entries = [*entries, *self._entries][-_LINES:]

    def write(self, item_id: str, text: str) -> None:
        """What stands of a line; nothing where there is no such line (any more)."""
        entry = self.find(item_id)
        if entry is not None and entry.text != text:
            entry.text = text
            self._noted(entry)

    def find(self, item_id: str) -> Entry | None:
        """The line with this id."""
        return next((entry for entry in self._entries if entry.item_id == item_id), None)

    def remove(self, item_id: str) -> bool:
        """Forget a line; False where there was none."""
        entry = self.find(item_id)
        if entry is None:
            return False
        self._entries.remove(entry)
        self._noted(Entry(entry.item_id, entry.role, ""))
        return True

    def messages(self, *more: Message) -> list[Message]:
        """What the door gets, `more` after it: lines of one speaker in a row are one line."""
        told: list[Message] = []
        lines = [Message(entry.role, entry.text) for entry in self._entries if entry.text]
        for line in [*lines, *more]:
            if told and told[-1].role == line.role:
                told[-1] = Message(line.role, f"{told[-1].content} {line.content}")
            else:
                told.append(line)
        chars = 0
        for n in range(len(told) - 1, -1, -1):
            chars += len(told[n].content)
            if chars > _CHARS and n < len(told) - 1:
                return told[n + 1 :]
        return told
