"""Kept conversations as one thing: begun, gone on with, listed, read, forgotten.

It joins the scribe and the rows, so that what is still in the queue reads as if it were written. The one rule: whatever
a database does, talking goes on; only reading can fail, and then in words.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from database import Database, is_away
from voice.errors import ThreadAway, ThreadNotThere
from voice.kept.conversation import Conversation
from voice.kept.lines import KeptLine, KeptThread, Note, overlaid
from voice.kept.rows import Rows
from voice.kept.scribe import Scribe

_T = TypeVar("_T")

# A drawer reads a page of threads at a time.
PAGE = 200
# Whoever opens a thread waits this long for the database at most.
_READ_S = 3.0


class Kept:
    """Every conversation kept in `database`. `now` gives Unix seconds, `new_id` names threads."""

    def __init__(
        self,
        database: Database,
        *,
        now: Callable[[], float] = time.time,
        new_id: Callable[[], str] = lambda: f"thread_{uuid.uuid4().hex}",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._database = database
        self._rows = Rows(database)
        self.scribe = Scribe(self._rows, sleep=sleep)
        self._now = now
        self._new_id = new_id

    async def open(self) -> None:
        """Bring the tables up to date and begin to write. Raises `DatabaseError`s in words."""
        await self._rows.bring_up()
        self.scribe.start()

    async def close(self) -> None:
        """Write the last lines and let the database go. Safe to call twice."""
        await self.scribe.close()
        await self._database.close()

    def begin(self, subject: str, bot: str) -> Conversation:
        """A conversation that nobody has spoken in."""
        return self._conversation(self._new_id(), subject, bot)

    async def go_on(self, subject: str, bot: str, thread: str) -> tuple[Conversation, list[KeptLine]]:
        """A kept conversation and what was said in it. Raises `ThreadNotThere` and `ThreadAway`."""
        found, lines = await self.read(subject, thread)
        if found.bot != bot:
            raise ThreadNotThere
        return self._conversation(thread, subject, bot, title=found.title), lines

    def go_on_unread(self, subject: str, bot: str, thread: str) -> Conversation:
        """The same while the database is away: what is said goes into the thread if it proves to be theirs."""
        return self._conversation(thread, subject, bot)

    async def threads(
        self, subject: str, bot: str | None = None, *, before: tuple[float, str] | None = None, limit: int = PAGE
    ) -> list[KeptThread]:
        """A person's threads, newest first. Raises `ThreadAway`."""
        limit = max(1, min(limit, PAGE))
        return await self._reading(self._rows.threads(subject, bot, before=before, limit=limit))

    async def counted(self, since_s: float) -> dict[str, int]:
        """How many conversations there were with each bot since then (Unix seconds). Raises `ThreadAway`."""
        return await self._reading(self._rows.counted(since_s))

    async def read(self, subject: str, thread: str) -> tuple[KeptThread, list[KeptLine]]:
        """A thread and its lines, oldest first. Raises `ThreadNotThere` and `ThreadAway`."""
        waiting = self.scribe.waiting(subject, thread)
        found = await self._reading(self._rows.read(subject, thread))
        if found is None and waiting and not self.scribe.away:
            # Said a moment ago: it is on its way into the database.
            await self._reading(self.scribe.written())
            found = await self._reading(self._rows.read(subject, thread))
        if found is None:
            raise ThreadNotThere
        kept, lines = found
        last = waiting[-1] if waiting else None
        return (_newer(kept, last) if last else kept), overlaid(lines, waiting)

    async def forget(self, subject: str, thread: str) -> None:
        """Take every word of a thread away. Raises `ThreadNotThere` and `ThreadAway`."""
        waiting = self.scribe.waiting(subject, thread)
        if waiting and not self.scribe.away:
            await self._reading(self.scribe.written())
        if not await self._reading(self._rows.forget(subject, thread, self._now())):
            raise ThreadNotThere
        self.scribe.forget(subject, thread)

    def _conversation(self, thread: str, subject: str, bot: str, *, title: str = "") -> Conversation:
        return Conversation(thread, subject=subject, bot=bot, take=self.scribe.take, now=self._now, title=title)

    async def _reading(self, asked: Awaitable[_T]) -> _T:
        try:
            async with asyncio.timeout(_READ_S):
                return await asked
        except Exception as fault:
            if is_away(fault):
                raise ThreadAway from fault
            raise


def _newer(thread: KeptThread, note: Note) -> KeptThread:
    return replace(thread, said_s=max(thread.said_s, note.line.said_s))
