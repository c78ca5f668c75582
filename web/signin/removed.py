"""Who was removed: a row each, so that they stay out wherever and however often they sign in.

It is no list of who may come in; that is the identity provider's. The one rule: every request of a signed-in person
asks here, so a removal holds from the next one on. Grants are checked without a look-up, against `seen`: the rows as
this process saw them last, which is at once for what it wrote itself and `LOOK_EVERY_S` for what another one did.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from sqlalchemy import Column, Connection, Float, MetaData, String, Table, delete, insert, select

from database import Database, Migrations, is_away

_LOG = logging.getLogger(__name__)

# How long somebody who was removed in one process may still be let in by another. One statement that reads.
LOOK_EVERY_S = 5.0

_TABLES = MetaData()
REMOVED = Table(
    "removed_people",
    _TABLES,
    Column("subject", String(200), primary_key=True),
    Column("removed_s", Float(53), nullable=False),
)
MIGRATIONS = Migrations(Path(__file__).parent / "migrations", _TABLES, "signin_version")


class Removed:
    """The rows behind one database. `open` first, and `close`. `seen` is who was removed, as far as is known here."""

    def __init__(self, database: Database, *, look_every_s: float = LOOK_EVERY_S) -> None:
        self._database = database
        self._look_every_s = look_every_s
        self._watching: asyncio.Task[None] | None = None
        self._writes = 0
        self.seen: set[str] = set()

    async def open(self) -> None:
        """Bring the table up to date, and look at it from now on. Raises `DatabaseError`s in words."""
        await self._database.bring_up(MIGRATIONS)
        await self._look()
        self._watching = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Look no more. Safe to call twice, and without `open`."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def holds(self, subject: str) -> bool:
        """Whether `subject` was removed."""
        asked = select(REMOVED.c.subject).where(REMOVED.c.subject == subject)
        return await self._database.act(lambda db: db.execute(asked).first() is not None, reads=True)

    async def everybody(self) -> list[str]:
        """Who was removed, the newest first."""
        asked = select(REMOVED.c.subject).order_by(REMOVED.c.removed_s.desc())
        return await self._database.act(lambda db: [str(one) for one in db.scalars(asked)], reads=True)

    async def remove(self, subject: str, now_s: float) -> None:
        """Remove `subject`. Safe to do twice."""

        def work(db: Connection) -> None:
            if db.execute(select(REMOVED.c.subject).where(REMOVED.c.subject == subject)).first() is None:
                db.execute(insert(REMOVED).values(subject=subject, removed_s=now_s))

        await self._database.act(work)
        self._writes += 1
        self.seen.add(subject)

    async def restore(self, subject: str) -> None:
        """Let `subject` in again. Safe to do twice."""

        def work(db: Connection) -> None:
            db.execute(delete(REMOVED).where(REMOVED.c.subject == subject))

        await self._database.act(work)
        self._writes += 1
        self.seen.discard(subject)

    async def _watch(self) -> None:
        """While the database is away the last list holds: whoever was out stays out."""
        away = False
        while True:
            await asyncio.sleep(self._look_every_s)
            try:
                await self._look()
                away = False
            except Exception as fault:
                if not is_away(fault):
                    raise
                if not away:
                    _LOG.warning("who was removed cannot be read at the moment; who was out stays out")
                away = True

    async def _look(self) -> None:
        writes, found = self._writes, set(await self.everybody())
        if writes != self._writes:
            return  # what was written here meanwhile is newer than what was read
        self.seen.intersection_update(found)
        self.seen.update(found)
