"""Real processes on one database, for this room's tests: forked from one that has imported everything already."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
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
