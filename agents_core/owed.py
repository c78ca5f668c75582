"""What the database is still to be told: ends of answers that were given while it was away.

Not the lines of a conversation, which voice keeps, and no log of everything: a debt is one write, tried until
it is made or is not ours to make any more. The one rule: while something is owed the database counts as away, so that a
conversation waits for it once in an outage and not at each question, and this process takes up no run that it ended.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

from agents_core.errors import LeaseLost
from agents_core.runs import out_of_reach
from database import DatabaseError, is_away

_log = logging.getLogger(__name__)
# How soon a database that is back is noticed. A refused connection costs a millisecond.
AGAIN_S = 0.5
# What a stopping process waits for its last debts.
_LAST_S = 2.0

Debt = Callable[[], Awaitable[None]]


class Owed:
    """The debts of one process. `mend` makes tables that are gone; `sleep` waits between two tries."""

    def __init__(self, mend: Debt, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._mend, self._sleep = mend, sleep
        self._debts: deque[Debt] = deque()
        self._paying: asyncio.Task[None] | None = None

    @property
    def away(self) -> bool:
        """Whether the database is not to be asked at this moment."""
        return bool(self._debts)

    def add(self, debt: Debt) -> None:
        """Make this write when it can be made."""
        if not self._debts:
            _log.warning("the database is away: answers go on, and are not written down")
        self._debts.append(debt)
        if self._paying is None or self._paying.done():
            self._paying = asyncio.create_task(self._pay())

    async def close(self) -> None:
        """Pay what can be paid at once."""
        if self._paying is None:
            return
        await asyncio.wait({self._paying}, timeout=_LAST_S)
        self._paying.cancel()
        with suppress(asyncio.CancelledError):
            await self._paying
        if self._debts:
            _log.error("the database is away: %d ends of answers were not written down", len(self._debts))

    async def _pay(self) -> None:
        mending = False
        while self._debts:
            try:
                if mending:
                    await self._mend()
                await self._debts[0]()
            except LeaseLost:
                _log.info("an answer's end is another process's to write")
            except Exception as fault:
                refused = isinstance(fault, DatabaseError)
                if out_of_reach(fault) and (refused or is_away(fault) or not mending):
                    mending = not is_away(fault)
                    await self._sleep(AGAIN_S)
                    continue
                _log.error("an answer's end could not be written: %s", type(fault).__name__)
            self._debts.popleft()
        _log.warning("the database is back")
