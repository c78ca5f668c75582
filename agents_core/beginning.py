"""Beginning a run as a row, without a conversation waiting for a database that is away.

Not the statement, which is the store's, and not the memory that a run is held in instead. The one rule: a beginning
that was not waited for leaves no row that anybody would finish.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any

from agents_core.errors import AskRefused
from agents_core.owed import Owed
from agents_core.runs import out_of_reach
from agents_core.store import Held, Store

# How long a question waits for its row while the database answers nobody. Measured: a row takes 1 to 5 ms, and a
# PostgreSQL that was killed says so in 2 ms. A locked SQLite file says nothing for 5 s (its busy timeout), nor does a
# network that swallows.
BEGIN_S = 0.5


class Beginning:
    """The beginnings of one process, whose name is `owner`."""

    def __init__(self, store: Store, owed: Owed, owner: str) -> None:
        self._store, self._owed, self._owner = store, owed, owner
        self._answered_s = 0.0
        self._under_way: set[asyncio.Task[Held | None]] = set()

    async def row(self, run: str, begin: Coroutine[Any, Any, Held | None]) -> Held | None:
        """What `begin` gives; None where the database is away. Raises what else `begin` raises.

        Raises `AskRefused` where this process stops meanwhile.
        """
        if self._owed.away:
            begin.close()
            return None
        beginning = asyncio.create_task(begin)
        self._under_way.add(beginning)
        beginning.add_done_callback(self._over)
        try:
            soon = await self._soon(beginning)
        except asyncio.CancelledError:
            await self._left(beginning, run)
            raise
        if soon:
            if beginning.cancelled():
                raise AskRefused("the server is stopping; ask again in a moment")
            try:
                return beginning.result()
            except Exception as fault:
                if not out_of_reach(fault):
                    raise
        beginning.cancel()
        self._owed.add(partial(self._take_back, beginning, run))
        return None

    async def close(self) -> None:
        """Break off what is under way, with what it wrote taken back where that can be."""
        for beginning in self._under_way:
            beginning.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _soon(self, beginning: asyncio.Task[Held | None]) -> bool:
        """Whether it is over in time. A database that answers others meanwhile is busy, and not away."""
        now = asyncio.get_running_loop().time
        since_s = now()
        while not beginning.done() and (left_s := max(since_s, self._answered_s) + BEGIN_S - now()) > 0:
            await asyncio.wait({beginning}, timeout=left_s)
        return beginning.done()

    async def _left(self, beginning: asyncio.Task[Held | None], run: str) -> None:
        """Whoever asked has left. A row that is written in that very moment would be answered by another process."""
        beginning.cancel()
        await asyncio.wait({beginning})
        if beginning.cancelled() or beginning.exception() is not None:
            return
        try:
            await self._store.abandon(run, self._owner)
        except Exception as fault:
            if not out_of_reach(fault):
                raise
            self._owed.add(partial(self._take_back, beginning, run))

    async def _take_back(self, beginning: asyncio.Task[Held | None], run: str) -> None:
        await asyncio.wait({beginning})
        await self._store.abandon(run, self._owner)

    def _over(self, beginning: asyncio.Task[Held | None]) -> None:
        self._under_way.discard(beginning)
        if not beginning.cancelled() and beginning.exception() is None:
            self._answered_s = asyncio.get_running_loop().time()
