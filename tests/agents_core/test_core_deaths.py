"""Processes that die, freeze and stop, as real ones, on both databases: the rows come out as if nothing had."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from core_processes import freeze, job_in, joined, process, work_ask

from agents_core.points import POINTS
from agents_core.store import Store
from benchmarks import core_worker

ANSWER = "Looked, and stamped."


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    opened = Store(database_url)
    await opened.open()
    yield opened
    await opened.close()


async def some(store: Store, run: str, steps: int) -> None:
    """Until that many steps are written."""
    while len(await store.steps(run)) < steps:
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("point", POINTS)
async def test_k4_a_process_that_dies_at_any_point_costs_nothing_but_time(
    store: Store, database_url: str, tmp_path: Path, point: str
) -> None:
    job = job_in(tmp_path / "site", database_url, lease_s=0.05)
    await store.begin("run-1", work_ask())
    died = process(core_worker.work_until_it_dies, job, point, work_ask() if point == "begun" else None)
    assert await joined(died) == -signal.SIGKILL
    core = await core_worker.open_core(job)
    while await core.sweep() == 0 and (await core.record("run-1")).state in ("todo", "doing"):
        await asyncio.sleep(0.01)
    record, steps = await core.record("run-1"), await store.steps("run-1")
    await core.close()
    assert (record.state, record.ending, record.answer) == ("done", "answered", ANSWER)
    assert [(step.n, step.kind, step.open) for step in steps] == [
        (0, "model", False), (1, "tool", False), (2, "tool", False), (3, "model", False),
    ]  # fmt: skip
    unknown = point in ("about_to_call", "called") and "unknown whether it happened" in steps[2].text
    assert unknown or steps[2].text == "It is stamped."
    assert job.stamps.read_text().split().count("run-1") <= 1


async def test_k2_a_frozen_process_that_wakes_writes_nothing(store: Store, database_url: str, tmp_path: Path) -> None:
    await store.begin("run-1", work_ask())
    frozen = process(core_worker.work, job_in(tmp_path / "site", database_url, step_s=1.0))
    await some(store, "run-1", 1)
    await freeze(frozen, database_url)
    core = await core_worker.open_core(job_in(tmp_path / "site", database_url))
    while await core.sweep() == 0:
        await asyncio.sleep(0.05)
    left = await core.record("run-1"), await store.steps("run-1")
    assert (left[0].state, left[0].answer, left[0].attempt) == ("done", ANSWER, 2)
    os.kill(frozen.pid, signal.SIGCONT)
    frozen.terminate()
    assert await joined(frozen) == 0
    assert (await core.record("run-1"), await store.steps("run-1")) == left
    await core.close()


async def test_a_process_that_is_told_to_stop_finishes_what_it_holds_and_claims_nothing_more(
    store: Store, database_url: str, tmp_path: Path
) -> None:
    job = job_in(tmp_path / "site", database_url, step_s=0.5)
    for n in range(12):  # it takes four at once
        await store.begin(f"run-{n}", work_ask())
    worker = process(core_worker.work, job)
    await some(store, "run-3", 1)
    worker.terminate()
    assert await joined(worker) == 0
    states = [(await store.record(f"run-{n}")).state for n in range(12)]
    # Where it was told late, it had taken a few more by then.
    done = states.count("done")
    assert states == ["done"] * done + ["todo"] * (12 - done)
    assert 4 <= done < 12


async def test_a_run_begun_at_the_door_is_finished_by_another_process_when_its_own_dies(
    store: Store, database_url: str, tmp_path: Path
) -> None:
    job = job_in(tmp_path / "site", database_url)
    died = process(core_worker.work_until_it_dies, job, "step_written", work_ask())
    other = process(core_worker.work, job)
    assert await joined(died) == -signal.SIGKILL
    while [record.state for record in await store.recent()] != ["done"]:
        await asyncio.sleep(0.02)
    other.terminate()
    assert await joined(other) == 0
    (record,) = await store.recent()
    assert (record.answer, record.attempt) == (ANSWER, 2)
