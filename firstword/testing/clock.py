"""Clocks that only move when told to: one for code that is handed a clock, and a loop for code that awaits.

`VirtualClock` stands in for `time.monotonic`. `VirtualLoop` is an asyncio loop whose time jumps to the next timer when
nothing else is ready, so that ten minutes of conversation take as long as their arithmetic. The one rule: virtual time
never passes while there is something to do.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

# With no timer set and nothing ready only a thread can go on; one that takes this long (real seconds) is stuck.
_STUCK_S = 30.0


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


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on virtual time. Work on threads takes no time while a timer is set: keep it off threads."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        super().__init__(_Jumping(self.clock))

    def time(self) -> float:
        """The virtual time in seconds."""
        return self.clock()


class _Jumping(selectors.DefaultSelector):
    """A selector that does not wait: it moves the clock instead."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready; where nothing is, `timeout` seconds have passed."""
        if timeout is None:
            ready = super().select(_STUCK_S)
            if not ready:
                raise RuntimeError("nothing is ready and no timer is set: whoever is awaited will never come")
            return ready
        ready = super().select(0)
        if not ready and timeout > 0:
            self._clock.forward(timeout)
        return ready


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` on virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
