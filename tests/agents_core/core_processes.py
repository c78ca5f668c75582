"""Real processes on one database, for this room's tests: forked from one that has imported everything already."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from agents_core import Ask
from benchmarks.core_worker import BOT, Job


def job_in(folder: Path, url: str, *, lease_s: float = 0.3, step_s: float = 0.0) -> Job:
    """What a worker process is started with."""
    (folder / "bots").mkdir(parents=True, exist_ok=True)
    (folder / "bots" / "worker.md").write_text(BOT, encoding="utf-8")
    stamps = folder / "stamps"
    stamps.touch()
    return Job(url, folder, stamps, lease_s, step_s)


def work_ask() -> Ask:
    """A question to the bot that works."""
    return Ask("worker", "Work.", "ann", "ann", "r1", surface="support")


def process(target: Callable[..., None], *args: object) -> ForkServerProcess:
    """A process that has begun."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.core_worker", "alembic.command", "asyncpg"])
    started = context.Process(target=target, args=args)
    started.start()
    return started


async def joined(worker: ForkServerProcess) -> int | None:
    """How the process ended."""
    await asyncio.to_thread(worker.join, 30)
    return worker.exitcode


async def freeze(worker: ForkServerProcess, url: str) -> None:
    """Stop the process where it is, but not inside a transaction: whoever holds the database's lock stops everybody."""
    assert worker.pid is not None
    while True:
        os.kill(worker.pid, signal.SIGSTOP)
        if await _free(url):
            return
        os.kill(worker.pid, signal.SIGCONT)
        await asyncio.sleep(0.03)


async def _free(url: str) -> bool:
    scheme, _, rest = url.partition("://")
    if scheme.startswith("sqlite"):
        with closing(sqlite3.connect(rest.removeprefix("/"), timeout=0.2, isolation_level=None)) as database:
            try:
                database.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return False
            return True
    import asyncpg  # type: ignore[import-untyped]

    database = await asyncpg.connect(f"postgresql://{rest}")
    try:
        # What is at work in the server ends without the one who asked; what waits for more of a transaction does not.
        return not await database.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in tr%'"
        )
    finally:
        await database.close()
