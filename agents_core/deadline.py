"""Deadlines that are put off at each word.

asyncio's own makes a timer for each wait and drops it again, at every word of every stream.
The one rule: putting one off is an assignment; its one timer looks again when it would have rung.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")
# uvloop's clock has whole milliseconds, and a timer may come a hair before its time.
_GRAIN_S = 0.001


class Alarm:
    """Calls `ring` once when it is due, unless it is set anew or unset before. Made in a running loop; `close` it."""

    def __init__(self, ring: Callable[[], object]) -> None:
        self._loop = asyncio.get_running_loop()
        self._ring = ring
        self._due_s = self._looks_s = math.inf
        self._timer: asyncio.TimerHandle | None = None

    def set(self, after_s: float) -> None:
        """Ring `after_s` from now, in place of whatever was set; never where that is infinite."""
        self._due_s = self._loop.time() + after_s
        if self._due_s < self._looks_s:
            self.close()
            self._look_at(self._due_s)

    def unset(self) -> None:
        """Do not ring."""
        self._due_s = math.inf

    def close(self) -> None:
        """Never ring again, unless it is set again."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._looks_s = None, math.inf

    def _look_at(self, when_s: float) -> None:
        self._looks_s = when_s
        self._timer = self._loop.call_at(when_s, self._look)

    def _look(self) -> None:
        self._timer, self._looks_s = None, math.inf
        if self._due_s <= self._loop.time() + _GRAIN_S:
            self.unset()
            self._ring()
        elif self._due_s < math.inf:
            self._look_at(self._due_s)


class Deadline:
    """`asyncio.timeout` for one wait after the other. `close` it. `rang` says that the last wait took too long."""

    def __init__(self) -> None:
        self._alarm = Alarm(self._break_off)
        self._waiting: asyncio.Task[Any] | None = None
        self.rang = False

    async def wait(self, what: Awaitable[T], limit_s: float) -> T:
        """What `what` gives. Raises `TimeoutError` after `limit_s`."""
        task = self._waiting = asyncio.current_task()
        assert task is not None  # noqa: S101  (whoever awaits is a task)
        before = task.cancelling()
        self.rang = False
        self._alarm.set(limit_s)
        try:
            return await what
        except asyncio.CancelledError:
            # Not ours alone where somebody else cancels in the same moment.
            if self.rang and task.cancelling() - 1 <= before:
                raise TimeoutError from None
            raise
        finally:
            self._alarm.unset()
            self._waiting = None
            if self.rang:
                task.uncancel()

    def hurry(self) -> None:
        """Break off what is waited for, at once; nothing where nothing is."""
        if self._waiting is not None:
            self._alarm.set(0.0)

    def close(self) -> None:
        """Nothing more is waited for."""
        self._alarm.close()

    def _break_off(self) -> None:
        if self._waiting is not None:
            self.rang = True
            self._waiting.cancel()
