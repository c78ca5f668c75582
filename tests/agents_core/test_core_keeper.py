"""Holding on: leases kept by one beat, cancels noticed, and nothing said that may be somebody else's to say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from core_house import Told, ask, content, told
from core_processes import job_in, work_ask

from agents_core import Core, Delta, Failed, Patience, Question, Started, Whole, Words
from agents_core.errors import LeaseLost
from agents_core.keeper import Keeper
from agents_core.store import Store
from agents_core.worker import Worker
from benchmarks.core_worker import open_core


class Seconds:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    opened = Store(database_url)
    await opened.open()
    yield opened
    await opened.close()


async def until(seen: asyncio.Event) -> None:
    async with asyncio.timeout(30):
        await seen.wait()


async def test_a_lease_outlives_itself_many_times_while_it_is_kept(store: Store, database_url: str) -> None:
    # Renewed every 200 ms; a busy machine may be two beats late.
    short, clock = Store(database_url, lease_s=0.6), asyncio.get_running_loop().time
    keeper = Keeper(short, "w1", clock=clock)
    held = await short.begin("run-1", ask(), "w1")
    grip, began_s = keeper.hold(held, lambda: None), clock()
    while clock() - began_s < 3 * short.lease_s:
        assert await store.claim("w2") is None
        await asyncio.sleep(0.04)
    assert grip.is_sure()
    keeper.let_go(grip)
    while (taken := await store.claim("w2")) is None:
        await asyncio.sleep(0.02)
    assert taken.fence == 2
    await keeper.close()
    await short.close()


@pytest.mark.parametrize("what", ["cancelled", "lost"])
async def test_what_others_do_to_a_run_is_noticed_between_two_renewals(store: Store, what: str) -> None:
    told = asyncio.Event()
    keeper = Keeper(store, "w1", clock=asyncio.get_running_loop().time, watch_s=0.01)
    held = await store.begin("run-1", ask(), "w1")
    grip = keeper.hold(held, told.set)
    if what == "cancelled":
        await store.cancel("run-1")
    else:
        await store.release(held)
        await store.claim("w2")
    await until(told)
    assert (grip.cancelled, grip.lost) == (what == "cancelled", what == "lost")
    await keeper.close()


async def test_a_cancel_in_the_same_process_waits_for_no_look(store: Store) -> None:
    told: list[str] = []
    keeper = Keeper(store, "w1", clock=asyncio.get_running_loop().time)
    keeper.hold(await store.begin("run-1", ask(), "w1"), lambda: told.append("told"))
    keeper.cancel("run-1")
    keeper.cancel("run-1")
    keeper.cancel("somebody else's")
    assert told == ["told"]
    await keeper.close()


async def test_a_holder_that_slept_past_its_lease_is_sure_only_after_asking(store: Store) -> None:
    seconds = Seconds()
    keeper = Keeper(store, "w1", clock=seconds)
    held = await store.begin("run-1", ask(), "w1")
    grip = keeper.hold(held, lambda: None)
    assert grip.is_sure()
    seconds.now_s += store.lease_s
    assert not grip.is_sure()
    await grip.make_sure()
    assert grip.is_sure()
    seconds.now_s += store.lease_s
    await store.release(held)
    await store.claim("w2")
    with pytest.raises(LeaseLost):
        await grip.make_sure()
    await keeper.close()


async def test_k2_a_frozen_process_that_wakes_says_nothing_more(database_url: str, tmp_path: Path) -> None:
    seconds = Seconds()
    core = await Core.open(
        content=content(tmp_path / "site"),
        database_url=database_url,
        providers=[Told(["one ", "two ", "three"])],
        worker=False,
        clock=seconds,
    )
    other = Store(database_url, lease_s=-1.0)
    events = []
    async for event in core.run_turn(ask()):
        events.append(event)
        if isinstance(event, Delta):
            # Frozen here for longer than the lease; meanwhile another process took the run.
            seconds.now_s += 1000
            run = events[0].run
            async with other.database.write() as connection:
                await connection.exec_driver_sql("UPDATE runs SET lease_until_s = 0")
            assert (await other.claim("w2")).id == run
    assert [type(event) for event in events] == [Started, Delta, Failed]
    assert "another process" in events[-1].message
    assert await other.steps(run) == ()
    await core.close()
    await other.close()


async def test_what_is_handed_in_is_done_at_once_by_the_worker_of_the_same_process(
    database_url: str, tmp_path: Path
) -> None:
    core = await Core.open(content=content(tmp_path / "site"), database_url=database_url, providers=[Told(["Done."])])
    run = await core.hand_in(ask())
    async with asyncio.timeout(30):
        while (record := await core.record(run)).state != "done":
            await asyncio.sleep(0.01)
    assert (record.answer, record.attempt) == ("Done.", 1)
    await core.close()


async def test_a_model_that_nobody_waits_for_may_take_its_time(database_url: str, tmp_path: Path) -> None:
    slow = Told(["At last."])
    said = slow.ask

    async def later(question: Question) -> AsyncIterator[Words | Whole]:
        await asyncio.sleep(0.2)
        async for chunk in said(question):
            yield chunk

    slow.ask = later
    core = await Core.open(
        content=content(tmp_path / "site"),
        database_url=database_url,
        providers=[slow],
        patience=Patience(first_word_s=0.1),
        worker=False,
    )
    heard = await told(core, ask())
    assert isinstance(heard[-1], Failed)
    run = await core.hand_in(ask())
    assert await core.sweep() == 1
    assert (await core.record(run)).answer == "At last."
    await core.close()


async def test_a_run_that_cannot_be_read_keeps_no_other_from_being_done(database_url: str, tmp_path: Path) -> None:
    core = await Core.open(
        content=content(tmp_path / "site"), database_url=database_url, providers=[Told(["Done."])], worker=False
    )
    broken, whole = await core.hand_in(ask()), await core.hand_in(ask())
    async with core._store.database.write() as connection:
        await connection.exec_driver_sql(f"UPDATE runs SET ask = 'not JSON' WHERE id = '{broken}'")
    worker = Worker(core.claim, idle_s=0.01)
    worker.start()
    async with asyncio.timeout(30):
        while (await core.record(whole)).state != "done":
            await asyncio.sleep(0.01)
    await worker.close()
    assert (await core.record(broken)).state == "doing"
    await core.close()


async def test_rl5_a_core_that_closes_gives_back_what_it_has_not_finished(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No grace: what hangs would hang through it.
    monkeypatch.setattr(Worker.drain, "__defaults__", (0.0,))
    provider = Told(["Well, ", "hang"])
    core = await Core.open(content=content(tmp_path / "site"), database_url=database_url, providers=[provider])
    run = await core.hand_in(ask())
    while not provider.asked:
        await asyncio.sleep(0.01)
    await core.close()
    store = Store(database_url)
    record = await store.record(run)
    assert (record.state, record.attempt, await store.steps(run)) == ("todo", 1, ())
    assert provider.closed == 1
    await store.close()


async def test_a_run_that_outlasts_the_budget_is_given_back_and_goes_on_elsewhere(
    database_url: str, tmp_path: Path
) -> None:
    job = job_in(tmp_path / "site", database_url, step_s=0.05)
    core = await open_core(job)
    await core.hand_in(work_ask())
    async for event in await core.claim(0.01):
        last = event
    assert isinstance(last, Failed)
    (record,) = await core._store.recent()
    assert (record.state, record.fence) == ("todo", 1)
    assert len(await core._store.steps(record.id)) == 1
    assert await core.sweep() == 1
    (record,) = await core._store.recent()
    assert (record.state, record.attempt, record.answer) == ("done", 2, "Looked, and stamped.")
    assert job.stamps.read_text().split() == [record.id]
    await core.close()


async def test_a_run_that_has_ended_twenty_processes_ends_no_more(database_url: str, tmp_path: Path) -> None:
    provider = Told(["never"])
    core = await Core.open(
        content=content(tmp_path / "site"), database_url=database_url, providers=[provider], worker=False
    )
    run = await core.hand_in(ask())
    for _ in range(20):
        await core._store.release(await core._store.claim("dies"))
    assert await core.sweep() == 1
    record = await core.record(run)
    assert record.state == "failed"
    assert "20 processes" in record.reason
    assert provider.asked == []
    await core.close()


async def test_a_run_whose_bot_is_gone_fails_in_words(database_url: str, tmp_path: Path) -> None:
    core = await Core.open(content=content(tmp_path / "site"), database_url=database_url, worker=False)
    await core._store.begin("run-1", ask(bot="gone"))
    assert await core.sweep() == 1
    assert (await core.record("run-1")).reason == "there is no bot 'gone' any more"
    await core.close()
