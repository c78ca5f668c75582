"""The core under SIGKILL: real worker processes on one database, one of them killed every moment.

It measures nothing but whether what is promised holds: every run done, no step twice, none missing, and what must not
happen twice did not. The one rule: it counts in the database and outside of it, and both must agree.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from sqlalchemy import select

from agents_core import Ask
from agents_core.rows import RUNS, STEPS
from agents_core.store import Store
from benchmarks import core_worker
from benchmarks.core_worker import BOT, Job
from database import Database
from firstword.testing.postgres import Postgres, find_postgres

RUNS_ = 300
WORKERS = 4
KILL_EVERY_S = 0.15
LEASE_S = 0.5
STEP_S = 0.04
LIMIT_S = 120.0


def summary(
    runs: Mapping[str, tuple[str, int]], steps: Iterable[tuple[str, int, str]], stamps: Sequence[str], kills: int
) -> dict[str, Any]:
    """What is left when it is over. `runs` is state and attempts by id, `steps` are (run, n, text), `stamps` run ids.

    Pure. `missing` counts the steps that runs lack of their four; `duplicates` those written twice; `unknown` the calls
    that nobody knows the outcome of, each of which a killed process had begun.
    """
    rows = list(steps)
    written = Counter((run, n) for run, n, _ in rows)
    wanted = {(run, n) for run in runs for n in range(core_worker.STEPS)}
    stamped = Counter(stamps)
    return {
        "runs": len(runs),
        "done": sum(state == "done" for state, _ in runs.values()),
        "steps": sum(written.values()),
        "duplicates": sum(count - 1 for count in written.values()),
        "missing": len(wanted - written.keys()),
        "beyond": len(written.keys() - wanted),
        "kills": kills,
        "attempts": sum(attempt for _, attempt in runs.values()),
        "called_twice": sum(count > 1 for count in stamped.values()),
        "unknown": sum("unknown whether it happened" in text for _, _, text in rows),
    }


def kill(*, runs: int = RUNS_, postgres: bool = True) -> dict[str, Any]:
    """Both databases, one after the other; the sums over them under the same names."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="fw-kill-") as folder:
        found["sqlite"] = _one(Path(folder), f"sqlite+aiosqlite:///{folder}/core.db", runs)
    programs = find_postgres()
    if postgres and programs is not None:
        server = Postgres(programs)
        try:
            server.start()
            with tempfile.TemporaryDirectory(prefix="fw-kill-") as folder:
                found["postgresql"] = _one(Path(folder), server.fresh(), runs)
        finally:
            server.remove()
    names = [name for name in found["sqlite"] if name != "seconds"]
    return {**{name: sum(of[name] for of in found.values()) for name in names}, "databases": found}


def _one(folder: Path, url: str, runs: int) -> dict[str, Any]:
    (folder / "bots").mkdir()
    (folder / "bots" / "worker.md").write_text(BOT, encoding="utf-8")
    job = Job(url, folder, folder / "stamps", LEASE_S, STEP_S)
    job.stamps.touch()
    asyncio.run(_hand_in(url, runs))
    began_s = time.monotonic()
    kills = asyncio.run(_chaos(job))
    seconds = time.monotonic() - began_s
    states, steps = asyncio.run(_rows(url))
    stamps = job.stamps.read_text(encoding="utf-8").split()
    return {**summary(states, steps, stamps, kills), "seconds": round(seconds, 1)}


async def _hand_in(url: str, runs: int) -> None:
    store = Store(url)
    for n in range(runs):
        await store.begin(f"run-{n:04}", Ask("worker", "Work.", "ann", "ann", f"r{n}", surface="support"))
    await store.close()


async def _chaos(job: Job) -> int:
    """Four at work until every run is over; the oldest is killed every moment and another takes its place."""
    context = multiprocessing.get_context("forkserver")
    # A worker that had to be imported first would be dead before it began.
    context.set_forkserver_preload(["benchmarks.core_worker", "alembic.command", "asyncpg"])
    database = Database(job.database_url)
    left = select(RUNS.c.id).where(RUNS.c.state.in_(("todo", "doing"))).limit(1)
    workers: deque[ForkServerProcess] = deque()
    kills = 0
    deadline = time.monotonic() + LIMIT_S
    try:
        while True:
            while len(workers) < WORKERS:
                worker = context.Process(target=core_worker.work, args=(job,))
                worker.start()
                workers.append(worker)
            await asyncio.sleep(KILL_EVERY_S)
            if not await database.act(lambda db: db.execute(left).all(), reads=True):
                break
            if time.monotonic() > deadline:
                break
            oldest = workers.popleft()
            oldest.kill()
            await asyncio.to_thread(oldest.join)
            kills += 1
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            await asyncio.to_thread(worker.join)
        await database.close()
    return kills


async def _rows(url: str) -> tuple[dict[str, tuple[str, int]], list[tuple[str, int, str]]]:
    database = Database(url)
    runs = await database.act(lambda db: db.execute(select(RUNS.c.id, RUNS.c.state, RUNS.c.attempt)).all())
    steps = await database.act(lambda db: db.execute(select(STEPS.c.run, STEPS.c.n, STEPS.c.what)).all())
    await database.close()
    return {row.id: (row.state, row.attempt) for row in runs}, [(row.run, row.n, row.what) for row in steps]
