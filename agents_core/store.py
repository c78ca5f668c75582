"""The rows: runs, and the steps they took.

Not a queue library and not the loop: it keeps what happened and who may write it. The one rule: every write after the
claim carries owner and fence, and a write that changes no row raises `LeaseLost`.

A claim is ONE statement. Select-then-update through SQLAlchemy's async SQLite at its defaults hands the same row to two
workers without an error (465 claims for 200 rows, measured); `isolation_level=None` with `BEGIN IMMEDIATE` closes the
same hole for every other transaction here. Leases are on the database's clock, never a worker's.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Column, Float, ForeignKey, Integer, MetaData, String, Table, Text, event, insert, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from agents_core.errors import LeaseLost
from agents_core.events import Ask, Ceilings, Ending, Line
from agents_core.loop import Call, Step

# Written beside each run, so that a later release can read an older release's rows.
SCHEMA = 1
# SQLite waits this long for another writer before it says "locked". A write here takes about a millisecond.
BUSY_MS = 5000

_META = MetaData()
RUNS = Table(
    "runs",
    _META,
    Column("id", String(40), primary_key=True),
    Column("schema_version", Integer, nullable=False),
    Column("bot", String(80), nullable=False),
    Column("room", String(200), nullable=False),
    Column("asker", String(200), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("ask", Text, nullable=False),
    Column("state", String(12), nullable=False, index=True),
    Column("ending", String(20)),
    Column("answer", Text),
    Column("reason", Text),
    Column("owner", String(40)),
    Column("fence", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("lease_until_s", Float, nullable=False),
    Column("cancel", Integer, nullable=False),
    Column("created_s", Float, nullable=False),
)
STEPS = Table(
    "steps",
    _META,
    # (run, n) is the key: no process can write the same step twice.
    Column("run", String(40), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("at_s", Float, nullable=False),
    Column("what", Text, nullable=False),
)

# The database's clock in seconds. SQLite gets its fractions from julianday: unixepoch('subsec') wants 3.42.
_NOW = {
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
    "postgresql": "extract(epoch from clock_timestamp())",
}
_SKIP_LOCKED = {"sqlite": "", "postgresql": "FOR UPDATE SKIP LOCKED"}

# Write a run down. Born held, its fence is 1 and its lease runs; born free, both are 0.
_BEGIN = """
INSERT INTO runs (id, schema_version, bot, room, asker, subject, ask, state, owner, fence, attempt, lease_until_s,
                  cancel, created_s)
VALUES (:id, :schema_version, :bot, :room, :asker, :subject, :ask, :state, :owner, :held, :held,
        CASE :held WHEN 1 THEN {now} + :lease_s ELSE 0 END, 0, {now})
RETURNING created_s
"""
# Take the oldest run that nobody holds. One statement, so that two workers cannot both see it free.
_CLAIM = """
UPDATE runs SET state = 'doing', owner = :owner, fence = fence + 1, attempt = attempt + 1,
       lease_until_s = {now} + :lease_s
WHERE id = (SELECT id FROM runs WHERE state = 'todo' OR (state = 'doing' AND lease_until_s < {now})
            ORDER BY created_s, id LIMIT 1 {skip_locked})
RETURNING id, ask, fence, cancel, created_s, {now} AS now_s
"""
# Hold on to a run: the holder's own, whose fence is the newest. Says whether somebody cancelled it meanwhile.
_RENEW = """
UPDATE runs SET lease_until_s = {now} + :lease_s
WHERE id = :id AND owner = :owner AND fence = :fence AND state = 'doing'
RETURNING cancel, {now} AS now_s
"""
# End a run. The same guard: a holder that was overtaken ends nothing.
_FINISH = """
UPDATE runs SET state = :state, ending = :ending, answer = :answer, reason = :reason, owner = NULL, lease_until_s = 0
WHERE id = :id AND owner = :owner AND fence = :fence AND state = 'doing'
RETURNING {now} AS now_s
"""
# Anybody may ask for a cancel; the holder sees it when it renews. A run that nobody holds is over at once.
_CANCEL = """
UPDATE runs SET cancel = 1, state = CASE WHEN state = 'todo' THEN 'cancelled' ELSE state END,
       ending = CASE WHEN state = 'todo' THEN 'cancelled' ELSE ending END
WHERE id = :id AND state IN ('todo', 'doing')
"""

State = Literal["todo", "doing", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Held:
    """A run in the hands of `owner`: the token every later write carries. Times are the database's seconds."""

    id: str
    ask: Ask
    owner: str
    fence: int
    cancelled: bool
    began_s: float
    now_s: float


@dataclass(frozen=True, slots=True)
class Record:
    """A run as it is kept, for whoever asks what became of it."""

    id: str
    bot: str
    state: State
    ending: Ending | None
    answer: str | None
    reason: str | None
    attempt: int
    fence: int


class Store:
    """Runs and steps behind one database URL. `lease_s` is how long a holder may be silent."""

    def __init__(self, url: str, *, lease_s: float = 15.0) -> None:
        self.lease_s = lease_s
        self._engine = _engine(url)
        self._ready = False
        self._making = asyncio.Lock()
        dialect = self._engine.dialect.name
        words = {"now": _NOW[dialect], "skip_locked": _SKIP_LOCKED[dialect]}
        self._begin, self._claim, self._renew, self._finish, self._cancel = (
            text(statement.format(**words)) for statement in (_BEGIN, _CLAIM, _RENEW, _FINISH, _CANCEL)
        )

    async def begin(self, run: str, ask: Ask, owner: str | None = None) -> Held | None:
        """Write the run down. With `owner` it is born held, so that nobody else can take it first."""
        async with self._write() as db:
            row = (
                await db.execute(
                    self._begin,
                    {
                        "id": run,
                        "schema_version": SCHEMA,
                        "bot": ask.bot,
                        "room": ask.room,
                        "asker": ask.asker,
                        "subject": ask.subject,
                        "ask": _ask_to_json(ask),
                        "state": "doing" if owner else "todo",
                        "owner": owner,
                        "held": 1 if owner else 0,
                        "lease_s": self.lease_s,
                    },
                )
            ).one()
        now_s = float(row.created_s)
        return Held(run, ask, owner, 1, False, now_s, now_s) if owner else None

    async def claim(self, owner: str) -> Held | None:
        """The oldest run that nobody holds (never begun, or its holder fell silent), or None."""
        async with self._write() as db:
            row = (await db.execute(self._claim, {"owner": owner, "lease_s": self.lease_s})).one_or_none()
        if row is None:
            return None
        ask = _ask_from_json(row.ask)
        return Held(row.id, ask, owner, row.fence, bool(row.cancel), float(row.created_s), float(row.now_s))

    async def renew(self, held: Held, step: Step | None = None) -> bool:
        """Hold on, and write `step` in the same transaction. True where somebody cancelled. Raises `LeaseLost`."""
        async with self._write() as db:
            row = (await db.execute(self._renew, {**_token(held), "lease_s": self.lease_s})).one_or_none()
            if row is None:
                raise LeaseLost(f"run {held.id} is held by another process")
            if step is not None:
                await self._write_step(db, held, step, float(row.now_s))
        return bool(row.cancel)

    async def finish(
        self,
        held: Held,
        state: State,
        *,
        ending: Ending | None = None,
        answer: str = "",
        reason: str | None = None,
        step: Step | None = None,
    ) -> None:
        """End the run, with its last `step` in the same transaction. Raises `LeaseLost` where it is not ours to end."""
        values = {**_token(held), "state": state, "ending": ending, "answer": answer, "reason": reason}
        async with self._write() as db:
            row = (await db.execute(self._finish, values)).one_or_none()
            if row is None:
                raise LeaseLost(f"run {held.id} is held by another process")
            if step is not None:
                await self._write_step(db, held, step, float(row.now_s))

    async def cancel(self, run: str) -> bool:
        """Ask for a cancel. False where there is nothing left to cancel."""
        async with self._write() as db:
            return (await db.execute(self._cancel, {"id": run})).rowcount == 1

    async def steps(self, run: str) -> tuple[Step, ...]:
        """What happened in a run, in order."""
        async with self._write() as db:
            rows = (await db.execute(select(STEPS.c.what).where(STEPS.c.run == run).order_by(STEPS.c.n))).scalars()
            return tuple(_step_from_json(what) for what in rows)

    async def record(self, run: str) -> Record | None:
        """The run as it is kept, or None."""
        columns = [RUNS.c[name] for name in Record.__slots__]
        async with self._write() as db:
            row = (await db.execute(select(*columns).where(RUNS.c.id == run))).one_or_none()
        return Record(*row) if row else None

    async def close(self) -> None:
        """Close every connection."""
        await self._engine.dispose()

    async def _write_step(self, db: AsyncConnection, held: Held, step: Step, at_s: float) -> None:
        await db.execute(insert(STEPS).values(run=held.id, n=step.n, at_s=at_s, what=json.dumps(asdict(step))))

    @asynccontextmanager
    async def _write(self) -> AsyncIterator[AsyncConnection]:
        if not self._ready:
            async with self._making:
                if not self._ready:
                    async with self._engine.begin() as db:
                        await db.run_sync(_META.create_all)
                    self._ready = True
        async with self._engine.begin() as db:
            yield db


def _engine(url: str) -> AsyncEngine:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return create_async_engine(parsed)
    # Every transaction here ends itself, so giving a connection back need not roll back once more.
    options: dict[str, Any] = {"poolclass": AsyncAdaptedQueuePool, "pool_reset_on_return": None}
    if parsed.database in (None, "", ":memory:"):
        # Each connection would have a database of its own.
        options |= {"pool_size": 1, "max_overflow": 0}
    else:
        Path(str(parsed.database)).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    engine = create_async_engine(parsed, **options)

    @event.listens_for(engine.sync_engine, "connect")
    def _connect(connection: Any, _record: object) -> None:
        # The driver's own transaction handling would send a plain BEGIN late; ours begins as a writer.
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in ("journal_mode=WAL", f"busy_timeout={BUSY_MS}", "foreign_keys=ON", "synchronous=NORMAL"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _token(held: Held) -> dict[str, object]:
    return {"id": held.id, "owner": held.owner, "fence": held.fence}


def _ask_to_json(ask: Ask) -> str:
    return json.dumps(asdict(ask))


def _ask_from_json(what: str) -> Ask:
    given = json.loads(what)
    given["history"] = tuple(Line(**line) for line in given["history"])
    given["ceilings"] = Ceilings(**given["ceilings"])
    given["script"] = tuple(given["script"])
    return Ask(**given)


def _step_from_json(what: str) -> Step:
    given = json.loads(what)
    given["calls"] = tuple(Call(**call) for call in given["calls"])
    given["skipped"] = tuple(given["skipped"])
    return Step(**given)
