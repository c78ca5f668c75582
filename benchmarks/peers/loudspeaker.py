"""The loudspeaker in front of the person: what sounds when, of what was received.

It plays at once, without a buffer against jitter, pauses on a hold and forgets what is cleared. The one rule: what
has sounded has sounded; only what is still to come can be held or forgotten. Pure: the moment is passed in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sound import AUDIBLE, Samples

RATE_HZ = 24_000
# Longer than any silence inside an answer, and than what a system has sent ahead.
_MOMENT_S = 0.6


@dataclass(slots=True)
class _Stretch:
    at_s: float
    samples: Samples

    @property
    def end_s(self) -> float:
        return self.at_s + len(self.samples) / RATE_HZ


class Loudspeaker:
    """Mono at 24 kHz; times are seconds on one clock, and never go back."""

    def __init__(self) -> None:
        self._stretches: list[_Stretch] = []
        self._held_since: float | None = None
        self.broken_off = 0

    def push(self, samples: Samples, at_s: float) -> None:
        """More sound, received now."""
        tail_s = self._stretches[-1].end_s if self._stretches else at_s
        self._stretches.append(_Stretch(max(at_s, tail_s), samples))

    def clear(self, at_s: float) -> None:
        """Forget what has not sounded. Where something sounded a moment ago, it was broken off."""
        moment_s = at_s if self._held_since is None else self._held_since
        last_s = self.last_audible_s(moment_s)
        self.broken_off += last_s is not None and last_s > moment_s - _MOMENT_S
        self._held_since = None
        self._cut(moment_s)

    def hold(self, at_s: float) -> None:
        """Pause."""
        if self._held_since is None:
            self._held_since = at_s

    def resume(self, at_s: float) -> None:
        """Go on at the next sample."""
        if self._held_since is None:
            return
        since_s, self._held_since = self._held_since, None
        self._split(since_s)
        for stretch in self._stretches:
            if stretch.at_s >= since_s:
                stretch.at_s += at_s - since_s

    def sounding(self, at_s: float) -> bool:
        """Whether there is something that sounds, or will."""
        return bool(self._stretches) and (self._held_since is not None or self._stretches[-1].end_s > at_s)

    def between(self, start_s: float, stop_s: float) -> Samples:
        """What sounded from one moment to another, silence where nothing did."""
        wanted: Samples = np.zeros(round((stop_s - start_s) * RATE_HZ), dtype=np.float32)
        if self._held_since is not None:
            stop_s = min(stop_s, self._held_since)
        for stretch in self._stretches:
            first, last = max(start_s, stretch.at_s), min(stop_s, stretch.end_s)
            if first < last:
                to, of = round((first - start_s) * RATE_HZ), round((first - stretch.at_s) * RATE_HZ)
                count = min(round((last - first) * RATE_HZ), len(wanted) - to, len(stretch.samples) - of)
                wanted[to : to + count] = stretch.samples[of : of + count]
        return wanted

    def first_audible_s(self, after_s: float) -> float | None:
        """When the first audible sample after a moment sounded; None where none did."""
        for stretch in self._stretches:
            of = max(0, round((after_s - stretch.at_s) * RATE_HZ))
            loud = np.flatnonzero(np.abs(stretch.samples[of:]) > AUDIBLE)
            if loud.size:
                return stretch.at_s + (of + int(loud[0])) / RATE_HZ
        return None

    def last_audible_s(self, before_s: float = np.inf) -> float | None:
        """When the last audible sample before a moment sounded; None where none did."""
        for stretch in reversed(self._stretches):
            upto = len(stretch.samples)
            if before_s < stretch.end_s:
                upto = max(0, round((before_s - stretch.at_s) * RATE_HZ))
            loud = np.flatnonzero(np.abs(stretch.samples[:upto]) > AUDIBLE)
            if loud.size:
                return stretch.at_s + (int(loud[-1]) + 1) / RATE_HZ
        return None

    def all(self) -> Samples:
        """Everything that sounded or will, without the silences between."""
        return np.concatenate([np.zeros(0, dtype=np.float32), *(stretch.samples for stretch in self._stretches)])

    def forget(self) -> None:
        """Begin anew, with what is still to come."""
        self._stretches.clear()
        self._held_since = None
        self.broken_off = 0

    def _split(self, at_s: float) -> None:
        for n, stretch in enumerate(self._stretches):
            if stretch.at_s < at_s < stretch.end_s:
                of = round((at_s - stretch.at_s) * RATE_HZ)
                self._stretches[n : n + 1] = [
                    _Stretch(stretch.at_s, stretch.samples[:of]),
                    _Stretch(at_s, stretch.samples[of:]),
                ]
                return

    def _cut(self, at_s: float) -> None:
        self._split(at_s)
        self._stretches = [stretch for stretch in self._stretches if stretch.at_s < at_s]
