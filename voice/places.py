"""Places: how many conversations there may be at once, in all and for one person, and how long a person may talk a day.

Stamped entries that age out, never a counter: whatever dies without saying so frees its place by falling silent. The
one rule: whoever holds a place renews it; a place not renewed for a minute is nobody's, and was held until then.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from voice.errors import TooMany
from voice.parts import Limits

# A holder renews every few seconds; a minute of silence is a dead one.
STALE_S = 60.0
# What a person talked is kept by the hour it ended in, for a day after that hour: 25 numbers a person at most.
_HOUR_S = 3_600.0
DAY_S = 24 * _HOUR_S
# What a client that may try again is told to wait: a conversation lasts minutes.
_AGAIN_S = 30.0


@dataclass(slots=True)
class _Entry:
    subject: str
    taken_at: float
    stamp: float


class Places:
    """`in_all` places, `per_person` of them for one subject, who may hold them for `day_s` seconds in 24 hours.

    `clock` gives monotonic seconds.
    """

    def __init__(self, in_all: int, per_person: int, clock: Callable[[], float], *, day_s: float = math.inf) -> None:
        self._in_all = in_all
        self._per_person = per_person
        self._day_s = day_s
        self._clock = clock
        self._names = itertools.count()
        self._entries: dict[int, _Entry] = {}
        self._talked: dict[str, dict[int, float]] = {}

    @property
    def taken(self) -> int:
        """Places held now."""
        self._age()
        return len(self._entries)

    def talked_s(self, subject: str) -> float:
        """Seconds for which `subject` held places in the last 24 hours, to the hour, those held now among them."""
        self._age()
        held = sum(entry.stamp - entry.taken_at for entry in self._entries.values() if entry.subject == subject)
        return held + sum(self._talked.get(subject, {}).values())

    def take(self, subject: str) -> int:
        """A place for `subject`. Raises `TooMany` with words for the person."""
        self._age()
        if self.talked_s(subject) >= self._day_s:
            raise TooMany(self._spent(subject), again_s=None)
        if sum(entry.subject == subject for entry in self._entries.values()) >= self._per_person:
            raise TooMany(
                f"you already have {self._per_person} conversation(s) open; close one first, do not retry before that",
                again_s=None,
            )
        if len(self._entries) >= self._in_all:
            raise TooMany("every place is taken at the moment; try again in a few minutes", again_s=_AGAIN_S)
        name, now = next(self._names), self._clock()
        self._entries[name] = _Entry(subject, now, now)
        return name

    def renew(self, name: int) -> str | None:
        """The holder of `name` is alive. Gives words where they have talked for all of their day."""
        entry = self._entries.get(name)
        if entry is None:
            return None
        entry.stamp = self._clock()
        return self._spent(entry.subject) if self.talked_s(entry.subject) >= self._day_s else None

    def leave(self, name: int) -> None:
        """Give the place back. Safe to call twice."""
        entry = self._entries.pop(name, None)
        if entry is not None:
            entry.stamp = self._clock()
            self._note(entry)

    def _spent(self, subject: str) -> str:
        oldest = min(self._talked.get(subject, {}), default=int(self._clock() // _HOUR_S))
        hours = max(1, math.ceil(((oldest + 1) * _HOUR_S + DAY_S - self._clock()) / _HOUR_S))
        # A WebSocket's reason has 123 bytes at most.
        return (
            f"your {round(self._day_s / 60)} minutes of talking in 24 hours are spent; "
            f"come back in {hours} hour(s), do not retry before that"
        )

    def _note(self, entry: _Entry) -> None:
        talked = entry.stamp - entry.taken_at
        # Without a limit nobody asks, and nothing is kept.
        if talked > 0 and self._day_s < math.inf:
            by_hour = self._talked.setdefault(entry.subject, defaultdict(float))
            by_hour[int(entry.stamp // _HOUR_S)] += talked

    def _age(self) -> None:
        now = self._clock()
        for name, entry in [*self._entries.items()]:
            if now - entry.stamp >= STALE_S:
                del self._entries[name]
                self._note(entry)
        for subject, by_hour in [*self._talked.items()]:
            for hour in [hour for hour in by_hour if now >= (hour + 1) * _HOUR_S + DAY_S]:
                del by_hour[hour]
            if not by_hour:
                del self._talked[subject]


def places_of(limits: Limits, clock: Callable[[], float] = time.monotonic) -> Places:
    """The places that `limits` allow; `clock` gives monotonic seconds."""
    return Places(limits.sessions, limits.per_person, clock, day_s=limits.day_s)
