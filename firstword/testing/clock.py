"""A clock that only moves when told to.

It stands in for `time.monotonic` wherever a clock is passed in. The one rule: it never runs by itself.
"""

from __future__ import annotations


class VirtualClock:
    """Seconds from 0. Call it for the time, `forward` to move it."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        return self._now

    def forward(self, seconds: float) -> float:
        """Move on; gives the time it is then."""
        self._now += seconds
        return self._now
