"""A database that goes away in the middle and comes back: every run ends, nothing is said or done twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from core_processes import job_in, work_ask

from agents_core.store import Record
from agents_core.worker import Worker
from benchmarks.core_worker import open_core
from firstword.testing.postgres import Postgres


async def test_k5_a_postgres_that_is_killed_again_and_again_loses_no_run(postgres: Postgres, tmp_path: Path) -> None:
    postgres.start()
    job = job_in(tmp_path / "site", postgres.fresh(), lease_s=0.5, step_s=0.02)
    core = await open_core(job)
    for _ in range(24):
        await core.hand_in(work_ask())
    worker = Worker(core.claim, idle_s=0.05)
    worker.start()

    async def done() -> list[Record]:
        return [record for record in await core._store.recent(100) if record.state == "done"]

    for at_least in (4, 10, 16):
        while len(await done()) < at_least:
            await asyncio.sleep(0.02)
        postgres.kill()
        await asyncio.sleep(0.1)
        postgres.start()
    while len(await done()) < 24:
        await asyncio.sleep(0.05)
    for record in await done():
        assert record.answer == "Looked, and stamped."
        assert [(step.n, step.open) for step in await core._store.steps(record.id)] == [(n, False) for n in range(4)]
    assert max(Counter(job.stamps.read_text().split()).values()) == 1
    await worker.close()
    await core.close()
