"""The cushion: how long a first sound is kept back, so that what follows it is there in time.

Sound is made in windows, the first of them small, and the second is wanted before it is heard out. With a machine to
oneself it always is. Beside other conversations it may stand in a queue, and the first syllable would stutter: there a
first sound waits as long as second ones were late of late, which is a jitter buffer at the source. The one rule: who
talks alone waits for nothing.
"""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass, field

# Answers come every few seconds to a person: long enough to have seen some, short enough to forget a bad moment.
_REMEMBERED_S = 20.0
# What is later than anything before it is so by little, as a rule; and the more people, the less is known of them.
_MARGIN_EACH_S, _MARGIN_S = 0.015, 0.05
# A stutter is better than a longer wait than this.
_LONGEST_S = 0.25
# Windows double; after so much sound the next one is there long before it is wanted.
_OPENING_S = 1.0


@dataclass(frozen=True, slots=True)
class _Seen:
    at_s: float
    session: int
    lag_s: float


@dataclass(slots=True)
class Cushions:
    """What all conversations of a server saw. Times are seconds on their common clock."""

    _seen: deque[_Seen] = field(default_factory=deque)
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def newcomer(self) -> int:
        """A conversation that begins."""
        return next(self._ids)

    def watch(self, session: int) -> Watch:
        """For one answer of a conversation."""
        return Watch(self, session)

    def wait_s(self, now: float) -> float:
        """How long a first sound is to be kept back, 0 to 0.25 s."""
        while self._seen and now - self._seen[0].at_s > _REMEMBERED_S:
            self._seen.popleft()
        others = len({seen.session for seen in self._seen}) - 1
        if others < 1:
            return 0.0
        late_s = max(0.0, *(seen.lag_s for seen in self._seen))
        return min(_LONGEST_S, late_s + min(_MARGIN_S, others * _MARGIN_EACH_S))

    def note(self, session: int, lag_s: float, now: float) -> None:
        """An answer of `session` had to be kept back `lag_s` for its sound to follow on; less than 0 is to spare."""
        self._seen.append(_Seen(now, session, lag_s))


class Watch:
    """Looks at the sound of one answer as it is made, and notes how much later than the first the rest of its opening
    came than it would have been wanted. When it was let go, held or heard does not matter for that.
    """

    def __init__(self, shared: Cushions, session: int) -> None:
        self._shared = shared
        self._session = session
        self._first_at: float | None = None
        self._lag_s = -_LONGEST_S
        self._over = False

    def made(self, before_s: float, now: float, *, opening: bool) -> None:
        """More came, after `before_s` seconds of sound; `opening`: of the first piece, which waits for no text."""
        if self._over:
            return
        if self._first_at is None:
            self._first_at = now
            return
        if opening and before_s < _OPENING_S:
            self._lag_s = max(self._lag_s, now - self._first_at - before_s)
            return
        self._over = True
        self._shared.note(self._session, self._lag_s, now)
