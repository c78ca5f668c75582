"""The worker: takes up what nobody holds, and stays with it until it is done.

Runs that were handed in, runs given back by a process that stopped, and runs whose process died: the rows say the same
of all three, an expired lease. It decides nothing and knows no bot. The one rule: a worker that drains claims nothing
more; what it claimed as it was told to stop would be stranded until its lease ran out.

A run it holds is followed by its id. The queue is only asked when a place is free, and would rightly say that there is
nothing while the lease is held.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress

from agents_core.events import Event
from database import is_away

_log = logging.getLogger(__name__)
# How long a process stays with one run before it gives it back between two steps. An ordinary answer needs seconds.
BUDGET_S = 60.0
# How often an idle place looks for work that no process told it of.
IDLE_S = 2.0
# Beside the conversations that people wait for, on two cores.
AT_ONCE = 4
# How long what is under way may go on when the process is told to stop.
GRACE_S = 5.0

Claim = Callable[[float | None], Awaitable[AsyncGenerator[Event, None] | None]]


class Worker:
    """`claim` takes a run and gives its events, which nobody reads here."""

    def __init__(
        self, claim: Claim, *, at_once: int = AT_ONCE, idle_s: float = IDLE_S, budget_s: float = BUDGET_S
    ) -> None:
        self._claim, self._at_once, self._idle_s, self._budget_s = claim, at_once, idle_s, budget_s
        self._places: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._nudged = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look for work, in this event loop."""
        self._looking = asyncio.create_task(self._look())

    def nudge(self) -> None:
        """There is work: look at once."""
        self._nudged.set()

    async def drain(self, grace_s: float = GRACE_S) -> None:
        """Claim nothing more, and wait for at most `grace_s` until what is under way is done."""
        self._stopping = True
        self.nudge()
        if self._looking:
            # Not cancelled: it may be in the middle of a claim, and what it claimed then would be nobody's.
            await self._looking
        if self._places:
            await asyncio.wait(self._places, timeout=grace_s)

    async def close(self) -> None:
        """Break off what is under way. Give its runs back first where they should go on elsewhere."""
        await self.drain(0.0)
        for place in self._places:
            place.cancel()
        await asyncio.gather(*self._places, return_exceptions=True)

    async def _look(self) -> None:
        """A place for each run, and one look at a time for the next."""
        while not self._stopping:
            self._nudged.clear()
            if len(self._places) < self._at_once and (events := await self._next()) is not None:
                place = asyncio.create_task(self._finish(events))
                self._places.add(place)
                place.add_done_callback(self._ended)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(self._idle_s):
                    await self._nudged.wait()

    def _ended(self, place: asyncio.Task[None]) -> None:
        self._places.discard(place)
        self.nudge()

    async def _next(self) -> AsyncGenerator[Event, None] | None:
        try:
            return await self._claim(self._budget_s)
        except Exception as fault:
            # A database that restarts is asked again; what it holds is not lost by waiting. Nor may one row that cannot
            # be read keep all others from being done: its lease runs, and the next look finds another.
            if not is_away(fault):
                _log.error("a run could not be taken up: %s", type(fault).__name__)
            return None

    async def _finish(self, events: AsyncGenerator[Event, None]) -> None:
        async with aclosing(events):
            async for _ in events:
                pass
