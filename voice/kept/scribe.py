"""The scribe: takes notes from every conversation and writes them down, in order, when the database is there.

Taking a note never waits and never fails; writing is patient. It knows nothing of turns. The one rule: a note leaves
the queue when it is in the database, and not before.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from database import DatabaseError, is_away
from voice.kept.lines import Note

_log = logging.getLogger("firstword.voice.kept")

# Two hours of 32 conversations, of about 200 bytes a line: 8 MB at most.
MOST_WAITING = 40_000
# Written in one transaction; a note takes about a third of a millisecond.
_BATCH = 64
# After a failure: long enough to spare a database that is starting, short enough that nobody waits for the drawer.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 10.0
# What a server that is being stopped waits for its last lines.
_LAST_S = 5.0


class Desk(Protocol):
    """Where notes are written; `Rows` is one."""

    async def write(self, notes: Sequence[Note]) -> None: ...
    async def bring_up(self) -> None: ...


class Scribe:
    """One for the process. `sleep` waits between attempts."""

    def __init__(
        self,
        desk: Desk,
        *,
        most: int = MOST_WAITING,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._desk = desk
        self._most = most
        self._sleep = sleep
        self._waiting: dict[tuple[str, str], Note] = {}
        self._some = asyncio.Event()
        self._none = asyncio.Event()
        self._none.set()
        self._task: asyncio.Task[None] | None = None
        self._pause_s = _FIRST_PAUSE_S
        self.dropped = 0
        self.away = False

    def start(self) -> None:
        """Begin to write."""
        self._task = asyncio.create_task(self._write_on())

    async def close(self) -> None:
        """Write what can be written, and stop. Safe to call twice."""
        task, self._task = self._task, None
        if task is None:
            return
        try:
            async with asyncio.timeout(_LAST_S):
                await self._none.wait()
        except TimeoutError:
            _log.error("the database is away: %d lines of conversations were not kept", len(self._waiting))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    def take(self, note: Note) -> None:
        """Write `note` when it can be. What is said again of a line takes the place of what waits."""
        if note.key not in self._waiting and len(self._waiting) >= self._most:
            if not self.dropped:
                _log.error("the database has been away too long: lines are not kept until it is back")
            self.dropped += 1
            return
        self._waiting[note.key] = note
        self._none.clear()
        self._some.set()

    def waiting(self, subject: str, thread: str) -> list[Note]:
        """What is still to be written of a person's thread, in order."""
        return [note for note in self._waiting.values() if note.thread == thread and note.subject == subject]

    def forget(self, subject: str, thread: str) -> None:
        """Do not write what waits of this thread."""
        for note in self.waiting(subject, thread):
            del self._waiting[note.key]
        self._settle()

    async def written(self) -> None:
        """Wait until nothing is left to write."""
        await self._none.wait()

    async def _write_on(self) -> None:
        while True:
            await self._some.wait()
            batch = list(self._waiting.values())[:_BATCH]
            if await self._write(batch):
                self._done(batch)
            else:
                await self._sleep(self._pause_s)
                self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)

    async def _write(self, batch: Sequence[Note]) -> bool:
        """Write a batch; False where the database is away. What can never be written is let go, alone."""
        try:
            await self._desk.write(batch)
        except Exception as fault:
            if is_away(fault):
                self._say_away(fault)
                return False
            if len(batch) > 1:
                # One of them is at fault: each by itself, in order.
                for note in batch:
                    if not await self._write([note]):
                        return False
                    self._done([note])
                return True
            return await self._again(batch, fault)
        return True

    async def _again(self, batch: Sequence[Note], fault: Exception) -> bool:
        """The tables may be gone with their file, or older than this program: make them, and try once more."""
        try:
            await self._desk.bring_up()
            await self._desk.write(batch)
        except DatabaseError as refused:
            self._say_away(refused)
            return False
        except Exception as again:
            if is_away(again):
                self._say_away(again)
                return False
            # The database's own words may quote the line; its kind may not.
            _log.error("a line could not be kept (%s, then %s)", type(fault).__name__, type(again).__name__)
        return True

    def _done(self, batch: Sequence[Note]) -> None:
        for note in batch:
            if self._waiting.get(note.key) is note:
                del self._waiting[note.key]
        if self.away:
            _log.warning("the database is back; %d lines are left to write", len(self._waiting))
        self.away, self._pause_s, self.dropped = False, _FIRST_PAUSE_S, 0
        self._settle()

    def _settle(self) -> None:
        if not self._waiting:
            self._some.clear()
            self._none.set()

    def _say_away(self, fault: Exception) -> None:
        if not self.away:
            _log.warning("the database is away (%s); lines wait in memory", type(fault).__name__)
        self.away = True
