"""Places: how many conversations there may be at once, in all and for one person.

Stamped entries that age out, never a counter: whatever dies without saying so frees its place by falling silent. The
one rule: whoever holds a place renews it; a place not renewed for a minute is nobody's.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from voice.errors import TooMany

# A holder renews every few seconds; a minute of silence is a dead one.
STALE_S = 60.0


@dataclass(slots=True)
class _Entry:
    subject: str
    stamp: float


class Places:
    """`in_all` places, `per_person` of them for one subject. `clock` gives monotonic seconds."""

    def __init__(self, in_all: int, per_person: int, clock: Callable[[], float]) -> None:
        self._in_all = in_all
        self._per_person = per_person
        self._clock = clock
        self._names = itertools.count()
        self._entries: dict[int, _Entry] = {}

    @property
    def taken(self) -> int:
        """Places held now."""
        self._age()
        return len(self._entries)

    def take(self, subject: str) -> int:
        """A place for `subject`. Raises `TooMany` with words for the person."""
        self._age()
        if len(self._entries) >= self._in_all:
            raise TooMany("every place is taken at the moment; try again in a few minutes")
        if sum(entry.subject == subject for entry in self._entries.values()) >= self._per_person:
            raise TooMany(
                f"you already have {self._per_person} conversation(s) open; close one first, do not retry before that"
            )
        name = next(self._names)
        self._entries[name] = _Entry(subject, self._clock())
        return name

    def renew(self, name: int) -> None:
        """The holder of `name` is alive."""
        if name in self._entries:
            self._entries[name].stamp = self._clock()

    def leave(self, name: int) -> None:
        """Give the place back. Safe to call twice."""
        self._entries.pop(name, None)

    def _age(self) -> None:
        now = self._clock()
        self._entries = {name: entry for name, entry in self._entries.items() if now - entry.stamp < STALE_S}
