"""The rows: runs, and the steps they took.

Not a queue library and not the loop: it keeps what happened and who may write it. The one rule: every write after the
claim carries owner and fence, and a write that changes no row raises `LeaseLost`. Leases are on the database's clock,
never a worker's.

Each method is one transaction, and a write that was begun is finished even where whoever waits for it is cancelled.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeVar

from sqlalchemy import Connection, Row, bindparam, delete, select, text

from agents_core.errors import LeaseLost, OverLimit
from agents_core.events import Ask, Ceilings, Ending, Line
from agents_core.limits import WINDOWS, Per, grant
from agents_core.loop import Call, Step
from agents_core.points import Reach, nothing
from agents_core.rows import MIGRATIONS, RUNS, SCHEMA, STEPS, statements
from database import Database

T = TypeVar("T")
State = Literal["todo", "doing", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Held:
    """A run in the hands of `owner`: the token every later write carries. Times are the database's seconds.

    `reserved` is False where nothing was reserved, so that nothing is to be settled.
    """

    id: str
    ask: Ask
    owner: str
    fence: int
    cancelled: bool
    began_s: float
    now_s: float
    attempt: int = 1
    reserved: bool = True


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

    def __init__(self, url: str, *, lease_s: float = 15.0, reach: Reach = nothing) -> None:
        self.lease_s = lease_s
        self._database = Database(url)
        self._reach = reach
        self._ready = False
        self._making = asyncio.Lock()
        self._sql = {name: text(words) for name, words in statements(self._database.dialect).items()}
        for name in ("renew_all", "watch"):
            self._sql[name] = self._sql[name].bindparams(bindparam("ids", expanding=True))

    @property
    def database(self) -> Database:
        """Where the rows are, for what stands beside them."""
        return self._database

    async def open(self) -> None:
        """Bring the tables up to date. Raises `database.DatabaseError` where that cannot be."""
        async with self._making:
            if not self._ready:
                await self._database.bring_up(MIGRATIONS)
                self._ready = True

    async def begin(
        self, run: str, ask: Ask, owner: str | None = None, *, per: Per | None = None, wanted: int = 0
    ) -> Held | None:
        """Write the run down. With `owner` it is born held, so that nobody else can take it first.

        `per` are the ceilings of whom it is asked for, of which at most `wanted` is reserved; the ask's own ceiling is
        lowered to what was. Raises `OverLimit` where a window leaves nothing, and then no run exists.
        """

        def work(db: Connection) -> tuple[float, Ask]:
            asked = self._reserve(db, run, ask, per, wanted) if per else ask
            values = {
                "id": run,
                "schema_version": SCHEMA,
                "bot": ask.bot,
                "room": ask.room,
                "asker": ask.asker,
                "subject": ask.subject,
                "ask": json.dumps(asdict(asked)),
                "state": "doing" if owner else "todo",
                "owner": owner,
                "held": 1 if owner else 0,
                "lease_s": self.lease_s,
            }
            return float(db.execute(self._sql["begin"], values).scalar_one()), asked

        try:
            now_s, asked = await self._act(work)
        except asyncio.CancelledError:
            # It may be written: whoever asked left meanwhile, and nobody is to answer it.
            await self.abandon(run, owner)
            raise
        self._reach("begun")
        return Held(run, asked, owner, 1, False, now_s, now_s, reserved=bool(per)) if owner else None

    async def claim(self, owner: str) -> Held | None:
        """The oldest run that nobody holds (never begun, let go, or its holder fell silent), or None."""
        values = {"owner": owner, "lease_s": self.lease_s}
        row = await self._act(lambda db: db.execute(self._sql["claim"], values).one_or_none())
        if row is None:
            return None
        self._reach("claimed")
        ask = _ask_from_json(row.ask)
        times = float(row.created_s), float(row.now_s)
        return Held(row.id, ask, owner, row.fence, bool(row.cancel), *times, attempt=row.attempt)

    async def renew(self, held: Held, step: Step | None = None) -> bool:
        """Hold on, and write `step` in the same transaction. True where somebody cancelled. Raises `LeaseLost`."""

        def work(db: Connection) -> bool:
            row = self._mine(db, "renew", held, lease_s=self.lease_s)
            if step is not None:
                self._insert(db, held, step, float(row.now_s))
            return bool(row.cancel)

        return await self._act(work)

    async def close_step(self, held: Held, step: Step) -> bool:
        """As `renew`, for the answer of a call that was written as begun: it goes into the same row."""

        def work(db: Connection) -> bool:
            row = self._mine(db, "renew", held, lease_s=self.lease_s)
            values = {"run": held.id, "n": step.n, "what": json.dumps(asdict(step))}
            if db.execute(self._sql["close_step"], values).rowcount != 1:
                raise LeaseLost(f"step {step.n} of run {held.id} was answered by another process")
            return bool(row.cancel)

        return await self._act(work)

    async def finish(
        self,
        held: Held,
        state: State,
        *,
        ending: Ending | None = None,
        answer: str = "",
        reason: str | None = None,
        steps: tuple[Step, ...] = (),
        late: bool = False,
        spent: int = 0,
    ) -> None:
        """End the run, with its last `steps` in the same transaction. Raises `LeaseLost` where it is not ours to end.

        `late` says that some of them may stand there already, from a write whose answer never came. `spent` is what it
        came to in millionths, in place of what was reserved.
        """

        def work(db: Connection) -> None:
            row = self._mine(db, "finish", held, state=state, ending=ending, answer=answer, reason=reason)
            if late and steps:
                db.execute(delete(STEPS).where(STEPS.c.run == held.id, STEPS.c.n >= steps[0].n))
            for step in steps:
                self._insert(db, held, step, float(row.now_s))
            if held.reserved:
                db.execute(self._sql["settle"], {"run": held.id, "micro": spent})

        await self._act(work)
        self._reach("ended")

    async def release(self, held: Held) -> None:
        """Give the run back as it stands, for anybody. Where it is not ours any more nothing is to be given back."""
        await self._act(lambda db: db.execute(self._sql["release"], _token(held)).rowcount)

    async def renew_all(self, owner: str, runs: Collection[str]) -> dict[str, tuple[int, bool]]:
        """Hold on to all of `runs`: the fence and the cancel of each that is still `owner`'s."""
        return await self._look("renew_all", owner, runs)

    async def watch(self, owner: str, runs: Collection[str]) -> dict[str, tuple[int, bool]]:
        """The same, without writing."""
        return await self._look("watch", owner, runs, reads=True)

    async def cancel(self, run: str) -> bool:
        """Ask for a cancel. False where there is nothing left to cancel."""

        def work(db: Connection) -> bool:
            state = db.execute(self._sql["cancel"], {"id": run}).scalar_one_or_none()
            if state == "cancelled":
                # Nobody held it, so nobody will settle it.
                steps = db.execute(select(STEPS.c.what).where(STEPS.c.run == run)).scalars()
                spent = sum(_step_from_json(what).spent for what in steps)
                db.execute(self._sql["settle"], {"run": run, "micro": spent})
            return state is not None

        return await self._act(work)

    async def steps(self, run: str) -> tuple[Step, ...]:
        """What happened in a run, in order."""
        query = select(STEPS.c.what).where(STEPS.c.run == run).order_by(STEPS.c.n)
        rows = await self._act(lambda db: db.execute(query).scalars().all(), reads=True)
        return tuple(_step_from_json(what) for what in rows)

    async def record(self, run: str) -> Record | None:
        """The run as it is kept, or None."""
        query = select(*(RUNS.c[name] for name in Record.__slots__)).where(RUNS.c.id == run)
        row = await self._act(lambda db: db.execute(query).one_or_none(), reads=True)
        return Record(*row) if row else None

    async def recent(self, limit: int = 20) -> tuple[Record, ...]:
        """The runs that were begun last, the latest first."""
        columns = [RUNS.c[name] for name in Record.__slots__]
        query = select(*columns).order_by(RUNS.c.created_s.desc(), RUNS.c.id).limit(limit)
        rows = await self._act(lambda db: db.execute(query).all(), reads=True)
        return tuple(Record(*row) for row in rows)

    async def forget(self, older_s: float) -> int:
        """Take away runs that are over and were begun longer ago than that, and spends no window asks for. How many.

        A few hundred at a time: nobody who is answered meanwhile waits for it.
        """
        gone = 0
        while some := await self._act(lambda db: db.execute(self._sql["forget_runs"], {"older_s": older_s}).rowcount):
            gone += some
        await self._act(lambda db: db.execute(self._sql["forget_spend"]).rowcount)
        return gone

    async def spent(self, person: str, bot: str) -> dict[str, int]:
        """What a person has spent and reserved with a bot, in millionths, by window."""
        return await self._act(lambda db: self._spent(db, person, bot, self._alone(db, person, bot)))

    async def abandon(self, run: str, owner: str | None) -> None:
        """End a run that nobody answers, if it is there: whoever began it left, or never heard that it was written."""
        await self.cancel(run)
        if owner:
            held = Held(run, Ask("", "", "", "", ""), owner, 1, True, 0.0, 0.0)
            with suppress(LeaseLost):
                await self.finish(held, "cancelled", ending="cancelled")

    async def close(self) -> None:
        """Close every connection."""
        await self._database.close()

    def _reserve(self, db: Connection, run: str, ask: Ask, per: Per, wanted: int) -> Ask:
        now_s = self._alone(db, ask.subject, ask.bot)
        granted, full = grant(per, self._spent(db, ask.subject, ask.bot, now_s), wanted)
        if full:
            raise OverLimit(ask.bot, full)
        values = {"run": run, "person": ask.subject, "bot": ask.bot, "now_s": now_s, "micro": granted}
        db.execute(self._sql["reserve"], values)
        return replace(ask, ceilings=replace(ask.ceilings, spend=granted)) if wanted else ask

    def _alone(self, db: Connection, person: str, bot: str) -> float:
        """The database's seconds, once nobody else counts what this person spends on this bot."""
        values = {"person": person, "bot": bot} if self._database.dialect == "postgresql" else {}
        return float(db.execute(self._sql["alone"], values).scalar_one())

    def _spent(self, db: Connection, person: str, bot: str, now_s: float) -> dict[str, int]:
        row = db.execute(self._sql["spent"], {"person": person, "bot": bot, "now_s": now_s}).one()
        return {window: int(row._mapping[window]) for window in WINDOWS}

    def _mine(self, db: Connection, statement: str, held: Held, **values: object) -> Row[Any]:
        row = db.execute(self._sql[statement], {**_token(held), **values}).one_or_none()
        if row is None:
            raise LeaseLost(f"run {held.id} is held by another process")
        return row

    def _insert(self, db: Connection, held: Held, step: Step, at_s: float) -> None:
        what = json.dumps(asdict(step))
        db.execute(self._sql["step"], {"run": held.id, "n": step.n, "at_s": at_s, "open": int(step.open), "what": what})

    async def _look(
        self, statement: str, owner: str, runs: Collection[str], *, reads: bool = False
    ) -> dict[str, tuple[int, bool]]:
        values = {"owner": owner, "ids": list(runs), **({} if reads else {"lease_s": self.lease_s})}
        rows = await self._act(lambda db: db.execute(self._sql[statement], values).all(), reads=reads)
        return {row.id: (row.fence, bool(row.cancel)) for row in rows}

    async def _act(self, work: Callable[[Connection], T], *, reads: bool = False) -> T:
        if not self._ready:
            await self.open()
        return await self._database.act(work, reads=reads)


def _token(held: Held) -> dict[str, object]:
    return {"id": held.id, "owner": held.owner, "fence": held.fence}


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
