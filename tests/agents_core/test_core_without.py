"""Answering without the database: what is asked goes on, and what only a row makes safe is not done."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from core_house import BOT, Told, ask, content, told
from core_processes import job_in, work_ask

from agents_core import Core, Delta, Done, Event, Failed, Started, Trace, Uncounted
from agents_core.errors import LeaseLost
from agents_core.owed import Owed
from agents_core.store import Record
from benchmarks.core_worker import open_core
from firstword.testing.postgres import Postgres

PER = BOT.replace("surfaces: [voice]\n", "surfaces: [voice]\nlimits:\n  per:\n    day: 1\n")
REMEMBERS = BOT.replace("surfaces: [voice]\n", "surfaces: [voice]\nmemory: person\n")


@dataclass
class Away:
    """A database that can be taken away and given back."""

    url: str
    go: Callable[[], object]
    come: Callable[[], object]


@pytest.fixture
def killed(postgres: Postgres) -> Away:
    """A PostgreSQL that can be killed."""
    postgres.start()
    return Away(postgres.fresh(), postgres.kill, postgres.start)


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Away]:
    """An SQLite file that somebody can lock."""
    file = tmp_path / "core.db"
    other = sqlite3.connect(file, isolation_level=None)
    yield Away(f"sqlite:///{file}", lambda: other.execute("BEGIN IMMEDIATE"), lambda: other.execute("ROLLBACK"))
    other.close()


@pytest.fixture(params=["killed", "locked"])
def away(request: pytest.FixtureRequest) -> Away:
    """Each of the two."""
    one: Away = request.getfixturevalue(request.param)
    return one


@asynccontextmanager
async def opened(url: str, folder: Path, *providers: Told, live: bool = False, **bots: str) -> AsyncIterator[Core]:
    core = await Core.open(
        content=content(folder / "site", **bots), database_url=url, providers=providers, live=live, worker=False
    )
    try:
        yield core
    finally:
        await core.close()


def words(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Delta))


def trace(events: list[Event]) -> Trace:
    return next(event for event in events if isinstance(event, Trace))


async def back(core: Core) -> None:
    """Wait until the database was told everything."""
    async with asyncio.timeout(20):
        while core._means.owed.away:
            await asyncio.sleep(0.02)


async def recent(core: Core) -> tuple[Record, ...]:
    return await core._store.recent(50)


async def test_questions_are_answered_while_the_database_is_away_and_are_rows_again_when_it_is_back(
    away: Away, tmp_path: Path
) -> None:
    async with opened(away.url, tmp_path, Told(["Yes."])) as core:
        assert trace(await told(core, ask())).recorded
        away.go()
        for _ in range(3):
            events = await told(core, ask())
            assert [type(event) for event in events] == [Started, Delta, Trace, Done]
            assert (words(events), trace(events).recorded) == ("Yes.", False)
        assert await core.claim(None) is None
        away.come()
        await back(core)
        assert trace(await told(core, ask())).recorded
        answered = [record for record in await recent(core) if record.state == "done"]
        assert len(answered) == 2
        # What was begun and not waited for is nobody's to finish.
        assert await core.sweep() == 0
        assert {record.state for record in await recent(core)} <= {"done", "cancelled"}


async def test_a_file_that_was_removed_is_made_again_and_nobody_notices(tmp_path: Path) -> None:
    folder = tmp_path / "db"
    async with opened(f"sqlite:///{folder / 'core.db'}", tmp_path, Told(["Yes."])) as core:
        await told(core, ask())
        for file in folder.iterdir():
            file.unlink()
        events = await told(core, ask())
        assert (words(events), trace(events).recorded) == ("Yes.", False)
        await back(core)
        assert trace(await told(core, ask())).recorded
        assert [record.state for record in await recent(core)] == ["done"]


async def test_a_disk_that_is_full_stops_nobody(tmp_path: Path) -> None:
    async with opened(f"sqlite:///{tmp_path / 'core.db'}", tmp_path, Told(["Yes."])) as core:
        await told(core, ask())

        async def most_pages(pages: int) -> None:
            await core._store._act(lambda db: db.exec_driver_sql(f"PRAGMA max_page_count={pages}").fetchall())

        await most_pages(1)  # never fewer than there are: from here on the file may not grow
        answers = [await told(core, ask("word " * 2000)) for _ in range(4)]
        assert {words(events) for events in answers} == {"Yes."}
        assert not trace(answers[-1]).recorded
        await most_pages(100_000)
        await back(core)
        assert trace(await told(core, ask())).recorded


async def test_nobody_is_paid_and_what_the_bot_remembers_is_left_out(killed: Away, tmp_path: Path) -> None:
    paid, free = Told(["Paid."], name="paid", costs=True), Told(["Free."], name="free")
    async with opened(killed.url, tmp_path, paid, free, live=True, guide=REMEMBERS) as core:
        assert words(await told(core, ask())) == "Paid."
        killed.go()
        events = await told(core, ask())
        assert words(events) == "Free."
        assert any("cannot be counted" in why for why in trace(events).skipped)
        assert len(paid.asked) == 1
        killed.come()
        await back(core)
        assert words(await told(core, ask())) == "Paid."


async def test_a_bot_with_limits_per_person_refuses_in_words(killed: Away, tmp_path: Path) -> None:
    provider = Told(["Yes."])
    async with opened(killed.url, tmp_path, provider, guide=PER) as core:
        killed.go()
        for _ in range(2):
            with pytest.raises(Uncounted, match="cannot be counted at the moment"):
                await told(core, ask())
        assert provider.asked == []
        killed.come()
        await back(core)
        assert words(await told(core, ask())) == "Yes."


async def test_what_must_not_happen_twice_is_not_offered(killed: Away, tmp_path: Path) -> None:
    job = job_in(tmp_path / "site", killed.url, lease_s=15.0)
    core = await open_core(job)
    killed.go()
    # The model asks for both; the one that is not there is a sentence for it to read.
    events = await told(core, work_ask())
    assert (words(events), trace(events).steps) == ("Looked, and stamped.", 4)
    assert job.stamps.read_text() == ""
    killed.come()
    await core.close()


async def test_the_ceilings_of_one_run_hold(killed: Away, tmp_path: Path) -> None:
    bot = BOT.replace("surfaces: [voice]\n", "surfaces: [support]\nlimits:\n  steps: 2\n")
    job = job_in(tmp_path / "site", killed.url, lease_s=15.0)
    (job.content / "bots" / "worker.md").write_text(bot, encoding="utf-8")
    core = await open_core(job)
    killed.go()
    assert (await told(core, work_ask()))[-1].ending == "out_of_steps"
    killed.come()
    await core.close()


async def test_whoever_leaves_ends_it_and_nobody_else_can(killed: Away, tmp_path: Path) -> None:
    provider = Told(["Well, ", "hang"])
    async with opened(killed.url, tmp_path, provider) as core:
        killed.go()
        async with aclosing(core.run_turn(ask())) as events:
            run = (await anext(events)).run
            await anext(events)
        assert provider.closed == len(provider.asked) == 1
        killed.come()
        await back(core)
        assert await core.record(run) is None
        assert not await core.cancel(run)


async def test_a_process_that_stops_does_not_promise_that_another_goes_on(killed: Away, tmp_path: Path) -> None:
    async with opened(killed.url, tmp_path, Told(["Well, ", "hang"])) as core:
        killed.go()
        events = []
        async for event in core.run_turn(ask()):
            events.append(event)
            if isinstance(event, Delta):
                closing = asyncio.create_task(core.close())
        assert isinstance(events[-1], Failed)
        assert events[-1].message == "the server is stopping; ask again"
        killed.come()
        await closing


async def test_an_answer_under_way_is_said_to_its_end_and_written_when_the_database_is_back(
    killed: Away, tmp_path: Path
) -> None:
    async with opened(killed.url, tmp_path, Told(["One ", "two ", "three."])) as core:
        events = []
        async for event in core.run_turn(ask()):
            events.append(event)
            if isinstance(event, Delta):
                killed.go()
        assert (words(events), trace(events).recorded) == ("One two three.", False)
        assert isinstance(events[-1], Done)
        killed.come()
        await back(core)
        record = await core.record(events[0].run)
        assert (record.state, record.answer, record.attempt) == ("done", "One two three.", 1)
        assert [step.text for step in await core._store.steps(record.id)] == ["One two three."]
        assert await core.sweep() == 0


async def test_words_go_on_past_the_lease_as_long_as_nobody_can_be_asked(killed: Away, tmp_path: Path) -> None:
    core = await Core.open(
        content=content(tmp_path / "site"),
        database_url=killed.url,
        providers=[Told([f"{n} " for n in range(8)])],
        worker=False,
        lease_s=0.1,
    )
    events = []
    async for event in core.run_turn(ask()):
        events.append(event)
        if isinstance(event, Delta):
            killed.go()
            await asyncio.sleep(0.05)
    assert words(events) == "0 1 2 3 4 5 6 7 "
    assert isinstance(events[-1], Done)
    killed.come()
    await back(core)
    assert (await core.record(events[0].run)).state == "done"
    await core.close()


@pytest.mark.parametrize("point", ["begun", "answered", "step_written", "about_to_call", "called"])
async def test_wherever_the_database_goes_away_the_answer_ends_and_nothing_is_done_twice(
    killed: Away, tmp_path: Path, point: str
) -> None:
    job = job_in(tmp_path / "site", killed.url, lease_s=15.0)
    gone = []

    def reach(reached: str) -> None:
        if reached == point and not gone:
            gone.append(point)
            killed.go()

    core = await open_core(job, reach=reach)
    events = await told(core, work_ask())
    assert gone == [point]
    assert words(events) == "Looked, and stamped."
    assert isinstance(events[-1], Done)
    killed.come()
    await back(core)
    run = events[0].run
    assert (await core.record(run)).state == "done"
    steps = await core._store.steps(run)
    assert [(step.n, step.open) for step in steps] == [(n, False) for n in range(4)]
    stamped = Counter(job.stamps.read_text().split())[run]
    # The row says whether it was done, and says it truly.
    assert stamped == ("It is stamped." in steps[2].text)
    assert await core.sweep() == 0
    assert Counter(job.stamps.read_text().split())[run] == stamped
    await core.close()


async def test_a_debt_that_is_another_process_s_to_pay_is_let_go_and_one_that_never_works_blocks_nobody() -> None:
    paid: list[str] = []
    mended: list[str] = []

    async def mend() -> None:
        mended.append("mended")

    def debt(name: str, *faults: Exception) -> Callable[[], object]:
        left = list(faults)

        async def pay() -> None:
            if left:
                raise left.pop(0)
            paid.append(name)

        return pay

    owed = Owed(mend, sleep=lambda _s: asyncio.sleep(0))
    owed.add(debt("late", ConnectionRefusedError(), TimeoutError()))
    owed.add(debt("another's", LeaseLost("taken")))
    owed.add(debt("broken", ValueError("a fault of ours")))
    owed.add(debt("last"))
    assert owed.away
    async with asyncio.timeout(30):
        while owed.away:
            await asyncio.sleep(0)
    assert (paid, mended) == (["late", "last"], [])
    await owed.close()
