"""What was played: how much of an answer a person made of files has heard by when.

It plays in real time without making a sound: it counts. The one rule: it does what the page does; it pauses on a hold,
goes on at the same sample, and forgets what was cleared.
"""

from __future__ import annotations

from sound import Pcm


class Played:
    """Mono at `rate_hz`. `at` is monotonic seconds and never goes back."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._came: list[Pcm] = []
        self._length = 0
        self._played = 0.0
        self._since = 0.0
        self._held = False

    def push(self, pcm: Pcm, at: float) -> float:
        """More to play, in order; gives the seconds by which it was late, 0 where something still played."""
        due = self._since + (self._length - self._played) / self._rate_hz
        late = 0.0 if self._held or not self._length else max(0.0, at - due)
        self._advance(at)
        self._came.append(pcm)
        self._length += len(pcm)
        return late

    def hold(self, at: float) -> None:
        """Pause."""
        self._advance(at)
        self._held = True

    def resume(self, at: float) -> None:
        """Play on at the next sample."""
        self._advance(at)
        self._held = False

    def clear(self, at: float) -> None:
        """Forget what has not been played."""
        self._advance(at)
        self._came = [self.heard.part(0, round(self._played))]
        self._length = len(self._came[0])
        self._held = False

    @property
    def heard(self) -> Pcm:
        """Everything that was or will be played."""
        return Pcm.join([Pcm.silence(0, self._rate_hz), *self._came])

    def _advance(self, at: float) -> None:
        if not self._held:
            self._played = min(float(self._length), self._played + (at - self._since) * self._rate_hz)
        self._since = at
