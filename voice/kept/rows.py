"""Threads and lines in the database: listed, read, forgotten, written.

Statements only; who waits and who tries again is the scribe's. The one rule: every statement names the person, so that
somebody else's thread is no thread.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, case, delete, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from database import Database
from voice.kept.lines import KeptLine, KeptThread, Note
from voice.kept.tables import LINES, MIGRATIONS, THREADS

# A thread of a thousand lines is eight hours of talk; older lines stay in the database.
_MOST_LINES = 1_000
_FORGOTTEN_S = 86_400.0
Whose = tuple[str, str, str]
_THREAD = [THREADS.c[name] for name in KeptThread.__slots__]
_LINE = [LINES.c[name] for name in KeptLine.__slots__]


class Rows:
    """The rows behind one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._insert = postgres_insert if database.dialect == "postgresql" else sqlite_insert

    async def bring_up(self) -> None:
        """The tables in their newest form. Raises `DatabaseError`s in words."""
        await self._database.bring_up(MIGRATIONS)

    async def threads(
        self, subject: str, bot: str | None, *, before: tuple[float, str] | None, limit: int
    ) -> list[KeptThread]:
        """A person's threads, newest first; with `before`, those after that one (its `said_s` and id)."""
        theirs = [THREADS.c.subject == subject, THREADS.c.forgotten_s.is_(None)]
        if bot is not None:
            theirs.append(THREADS.c.bot == bot)
        if before is not None:
            at, thread = before
            older = and_(THREADS.c.said_s == at, THREADS.c.id < thread)
            theirs.append(or_(THREADS.c.said_s < at, older))
        newest = select(*_THREAD).where(*theirs).order_by(THREADS.c.said_s.desc(), THREADS.c.id.desc()).limit(limit)
        async with self._database.read() as db:
            return [KeptThread(*row) for row in await db.execute(newest)]

    async def counted(self, since_s: float) -> dict[str, int]:
        """How many threads of each bot were spoken in since then."""
        since = [THREADS.c.said_s > since_s, THREADS.c.forgotten_s.is_(None)]
        asked = select(THREADS.c.bot, func.count()).where(*since).group_by(THREADS.c.bot)
        async with self._database.read() as db:
            return {bot: int(times) for bot, times in await db.execute(asked)}

    async def read(self, subject: str, thread: str) -> tuple[KeptThread, list[KeptLine]] | None:
        """A thread and its lines, oldest first, the newest thousand; None where it is not there or not theirs."""
        one = select(*_THREAD).where(*_theirs(subject, thread))
        lines = select(*_LINE).where(LINES.c.thread == thread).order_by(LINES.c.n.desc()).limit(_MOST_LINES)
        async with self._database.read() as db:
            found = (await db.execute(one)).one_or_none()
            if found is None:
                return None
            rows = (await db.execute(lines)).all()
        return KeptThread(*found), [KeptLine(*row) for row in reversed(rows)]

    async def forget(self, subject: str, thread: str, now_s: float) -> bool:
        """Take every word of a thread away; False where it is not there or not theirs."""
        async with self._database.write() as db:
            emptied = update(THREADS).where(*_theirs(subject, thread)).values(title="", forgotten_s=now_s)
            if (await db.execute(emptied)).rowcount == 0:
                return False
            await db.execute(delete(LINES).where(LINES.c.thread == thread))
            await db.execute(delete(THREADS).where(THREADS.c.forgotten_s < now_s - _FORGOTTEN_S))
        return True

    async def write(self, notes: Sequence[Note]) -> None:
        """Write `notes` in their order, all or none. One that is written again changes nothing."""
        await self._database.act(lambda db: self._write(db, notes))

    def _write(self, db: Connection, notes: Sequence[Note]) -> None:
        newest: dict[Whose, float] = {}
        for note in notes:
            newest[_whose(note)] = max(note.line.said_s, newest.get(_whose(note), 0.0))
        theirs: dict[Whose, bool] = {}
        for note in notes:
            whose = _whose(note)
            if whose not in theirs:
                theirs[whose] = self._open(db, note, newest[whose])
            if theirs[whose]:
                _write_line(db, note)

    def _open(self, db: Connection, note: Note, said_s: float) -> bool:
        """Whether the thread is this person's to write in; it is made where there is none."""
        head = {"id": note.thread, "subject": note.subject, "bot": note.bot}
        new = {**head, "title": note.title, "began_s": note.began_s, "said_s": said_s}
        db.execute(self._insert(THREADS).values(new).on_conflict_do_nothing())
        newer = case((THREADS.c.said_s < said_s, said_s), else_=THREADS.c.said_s)
        # The update holds the row, so that two conversations in one thread number their lines one after the other.
        theirs = update(THREADS).where(*_theirs(note.subject, note.thread), THREADS.c.bot == note.bot)
        return db.execute(theirs.values(said_s=newer)).rowcount == 1


def _whose(note: Note) -> Whose:
    return note.thread, note.subject, note.bot


def _theirs(subject: str, thread: str) -> tuple[ColumnElement[bool], ...]:
    return THREADS.c.id == thread, THREADS.c.subject == subject, THREADS.c.forgotten_s.is_(None)


def _write_line(db: Connection, note: Note) -> None:
    line = note.line
    here = and_(LINES.c.thread == note.thread, LINES.c.item == line.item)
    if not line.text:
        db.execute(delete(LINES).where(here))
        return
    if db.execute(update(LINES).where(here).values(text=line.text)).rowcount:
        return
    last = select(func.coalesce(func.max(LINES.c.n), 0)).where(LINES.c.thread == note.thread).scalar_subquery()
    values = {"item": line.item, "role": line.role, "text": line.text, "said_s": line.said_s}
    db.execute(insert(LINES).values(thread=note.thread, n=last + 1, **values))
