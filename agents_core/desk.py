"""The desk: what the house knows of whom a run is about, and what it writes down for them.

Not a support system: a ticket is a row for the staff to read. The one rule: everything here is asked by run, and whom a
run is about is read off its own row; no caller can say somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import (
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from agents_core.audience import People
from agents_core.rows import NOW
from database import Database, Migrations

TABLES = MetaData()
# The number is what people say to one another; (run, call) makes it once, however often the call is tried.
Table(
    "tickets",
    TABLES,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("run", String(40), nullable=False),
    Column("call", String(120), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("bot", String(80), nullable=False),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("at_s", Float, nullable=False),
    UniqueConstraint("run", "call", name="tickets_once"),
    Index("tickets_of", "subject"),
)
# What a person said to a bot that remembers. The model's name stands beside each vector: two models' are never
# compared.
Table(
    "memories",
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("person", String(200), nullable=False),
    Column("bot", String(80), nullable=False),
    Column("run", String(40), nullable=False),
    Column("said", Text, nullable=False),
    Column("model", String(80), nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Column("at_s", Float, nullable=False),
    UniqueConstraint("run", name="memories_once"),
    Index("memories_of", "person", "bot"),
)
# Since when a person's earlier questions are not to be read any more.
Table(
    "forgotten",
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("person", String(200), nullable=False),
    Column("bot", String(80), nullable=False),
    Column("at_s", Float, nullable=False),
    Index("forgotten_by", "person", "bot"),
)
MIGRATIONS = Migrations(Path(__file__).parent / "desk_migrations", TABLES, "desk_version")

_SUBJECT = "SELECT subject, bot FROM runs WHERE id = :run"
_TICKET = """
INSERT INTO tickets (run, call, subject, bot, title, text, at_s)
VALUES (:run, :call, :subject, :bot, :title, :text, {now})
ON CONFLICT (run, call) DO NOTHING
"""
_NUMBER = "SELECT number FROM tickets WHERE run = :run AND call = :call"


class Known(Protocol):
    """What a site knows of somebody."""

    async def about(self, person: str) -> Mapping[str, Any]:
        """Facts that `person` may be told about themselves; empty where there are none."""


class Site(People, Known, Protocol):
    """What a site knows of people: the words of audiences that they hold, and facts for themselves."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A ticket as the staff read it."""

    number: int
    run: str
    subject: str
    bot: str
    title: str
    text: str
    at_s: float


class RowsDesk:
    """The desk on the rows."""

    def __init__(self, database: Database, known: Known) -> None:
        self._database, self._known = database, known
        self._write = text(_TICKET.format(now=NOW[database.dialect]))

    async def about(self, run: str) -> Mapping[str, Any] | None:
        """See `Desk.about`."""
        subject, _ = await self._whom(run)
        return await self._known.about(subject) if subject else None

    async def raise_ticket(self, run: str, call: str, title: str, text_: str) -> str:
        """See `Desk.raise_ticket`."""
        subject, bot = await self._whom(run)
        row = {"run": run, "call": call, "subject": subject, "bot": bot, "title": title, "text": text_}
        async with self._database.write() as db:
            await db.execute(self._write, row)
            return str((await db.execute(text(_NUMBER), {"run": run, "call": call})).scalar_one())

    async def tickets(self, subject: str | None = None) -> list[Ticket]:
        """The tickets (of one person), newest first."""
        async with self._database.read() as db:
            columns = ", ".join(Ticket.__slots__)
            where = "WHERE subject = :subject" if subject is not None else ""
            rows = await db.execute(
                text(f"SELECT {columns} FROM tickets {where} ORDER BY number DESC"),  # noqa: S608  (our own names)
                {"subject": subject} if subject is not None else {},
            )
            return [Ticket(*row) for row in rows]

    async def _whom(self, run: str) -> tuple[str, str]:
        async with self._database.read() as db:
            row = (await db.execute(text(_SUBJECT), {"run": run})).one_or_none()
        return (str(row.subject), str(row.bot)) if row else ("", "")
