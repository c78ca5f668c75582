"""Who was removed: a row each, so that they stay out wherever and however often they sign in.

It is no list of who may come in; that is the identity provider's. The one rule: every request of a signed-in person
asks here, so a removal holds from the next one on.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Column, Connection, Float, MetaData, String, Table, delete, insert, select

from database import Database, Migrations

_TABLES = MetaData()
REMOVED = Table(
    "removed_people",
    _TABLES,
    Column("subject", String(200), primary_key=True),
    Column("removed_s", Float(53), nullable=False),
)
MIGRATIONS = Migrations(Path(__file__).parent / "migrations", _TABLES, "signin_version")


class Removed:
    """The rows behind one database. `open` first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self) -> None:
        """Bring the table up to date. Raises `DatabaseError`s in words."""
        await self._database.bring_up(MIGRATIONS)

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

    async def restore(self, subject: str) -> None:
        """Let `subject` in again. Safe to do twice."""

        def work(db: Connection) -> None:
            db.execute(delete(REMOVED).where(REMOVED.c.subject == subject))

        await self._database.act(work)
