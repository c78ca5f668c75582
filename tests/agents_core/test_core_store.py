"""The rows, on SQLite and on a real PostgreSQL: who may take a run, who may write to it, and how tables come to be."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from core_house import ask
from sqlalchemy import inspect, text
from sqlalchemy.exc import IntegrityError

from agents_core.errors import LeaseLost
from agents_core.events import Line
from agents_core.loop import Call, Step
from agents_core.rows import MIGRATIONS, TABLES
from agents_core.store import Store
from database import Database
from database.migrations import bring_up

Opens = Callable[..., Store]


@pytest.fixture
async def opens(database_url: str) -> AsyncIterator[Opens]:
    stores: list[Store] = []

    def open_(**more: float) -> Store:
        stores.append(Store(database_url, **more))
        return stores[-1]

    yield open_
    for store in stores:
        await store.close()


@pytest.fixture
def store(opens: Opens) -> Store:
    return opens()


async def test_rl1_four_who_race_for_two_hundred_rows_take_each_once(store: Store, opens: Opens) -> None:
    other = opens()
    for n in range(200):
        await store.begin(f"run-{n}", ask())
    taken: Counter[str] = Counter()

    async def take(rows: Store, owner: str) -> None:
        while held := await rows.claim(owner):
            taken[held.id] += 1

    await asyncio.gather(*(take((store, other)[n % 2], f"w{n}") for n in range(4)))
    assert len(taken) == 200
    assert set(taken.values()) == {1}


async def test_a_claim_gives_back_what_was_asked(store: Store) -> None:
    question = ask(history=(Line("user", "Hé\u2028"),), script=("a", "b"))
    await store.begin("run-1", question)
    held = await store.claim("w1")
    assert held is not None
    assert (held.ask, held.owner, held.fence, held.attempt, held.cancelled) == (question, "w1", 1, 1, False)
    assert await store.claim("w2") is None


async def test_the_oldest_is_claimed_first(store: Store, database_url: str) -> None:
    database = Database(database_url)
    for run in ("b", "c", "a"):
        await store.begin(run, ask())
        # SQLite's clock ticks a thousand times a second: what stands is a second older than what comes.
        await database.act(lambda db: db.execute(text("UPDATE runs SET created_s = created_s - 1")).rowcount)
    await database.close()
    assert [(await store.claim("w1")).id for _ in range(3)] == ["b", "c", "a"]


async def test_rl7_a_late_renewal_does_not_steal_a_lease_back(opens: Opens) -> None:
    store = opens(lease_s=-1.0)
    await store.begin("run-1", ask())
    first = await store.claim("w1")
    second = await store.claim("w2")
    assert (first.fence, second.fence) == (1, 2)
    with pytest.raises(LeaseLost):
        await store.renew(first, Step(0, "model", text="late"))
    with pytest.raises(LeaseLost):
        await store.finish(first, "done", answer="late")
    await store.release(first)
    assert await store.renew_all("w1", ["run-1"]) == {}
    await store.renew(second, Step(0, "model", text="in time"))
    await store.finish(second, "done", answer="in time")
    assert [step.text for step in await store.steps("run-1")] == ["in time"]


async def test_the_same_owner_with_an_older_fence_is_refused_too(opens: Opens) -> None:
    store = opens(lease_s=-1.0)
    await store.begin("run-1", ask())
    first, again = await store.claim("w1"), await store.claim("w1")
    with pytest.raises(LeaseLost):
        await store.renew(first)
    assert not await store.renew(again)
    assert await store.watch("w1", ["run-1", "nobodys"]) == {"run-1": (2, False)}


async def test_a_step_is_written_once_and_its_transaction_is_whole(store: Store) -> None:
    held = await store.begin("run-1", ask(), "w1")
    await store.renew(held, Step(0, "model", text="first"))
    with pytest.raises(IntegrityError):
        await store.renew(held, Step(0, "model", text="twice"))
    with pytest.raises(IntegrityError):
        await store.finish(held, "done", steps=(Step(0, "model", text="twice"),))
    assert [step.text for step in await store.steps("run-1")] == ["first"]
    assert (await store.record("run-1")).state == "doing"


async def test_a_begun_call_is_answered_in_its_own_row_and_only_once(store: Store) -> None:
    held = await store.begin("run-1", ask(), "w1")
    asked = Step(0, "model", calls=(Call("c1", "stamp", "{}"),))
    begun, answer = Step(1, "tool", call_id="c1", open=True), Step(1, "tool", text="stamped", call_id="c1")
    await store.renew(held, asked)
    await store.renew(held, begun)
    assert await store.steps("run-1") == (asked, begun)
    await store.close_step(held, answer)
    assert await store.steps("run-1") == (asked, answer)
    with pytest.raises(LeaseLost):
        await store.close_step(held, answer)


async def test_a_run_given_back_is_anybodys_at_once(store: Store) -> None:
    held = await store.begin("run-1", ask(), "w1")
    await store.release(held)
    taken = await store.claim("w2")
    assert (taken.id, taken.fence, taken.attempt) == ("run-1", 2, 2)


async def test_a_cancel_is_seen_by_the_holder_and_ends_what_nobody_holds(store: Store) -> None:
    held = await store.begin("held", ask(), "w1")
    await store.begin("free", ask())
    assert await store.cancel("held")
    assert await store.cancel("free")
    assert await store.renew(held)
    assert await store.watch("w1", ["held"]) == {"held": (1, True)}
    assert (await store.record("free")).state == "cancelled"
    assert await store.claim("w2") is None
    assert not await store.cancel("nobody")


async def test_whoever_leaves_while_a_run_is_written_leaves_no_run_to_be_answered(store: Store) -> None:
    await store.open()
    asking = asyncio.create_task(store.begin("run-1", ask(), "w1"))
    handing = asyncio.create_task(store.begin("run-2", ask()))
    await asyncio.sleep(0)
    asking.cancel()
    handing.cancel()
    await asyncio.wait({asking, handing})
    assert asking.cancelled()
    assert {run: (await store.record(run)).state for run in ("run-1", "run-2")} == dict.fromkeys(
        ("run-1", "run-2"), "cancelled"
    )


async def test_old_runs_go_with_their_steps_and_recent_spends_stay(store: Store) -> None:
    held = await store.begin("over", ask(), "w1", per={"month": 9}, wanted=9)
    await store.finish(held, "done", steps=(Step(0, "model", text="Hi."),), spent=4)
    await store.begin("open", ask())
    assert (await store.forget(3600), await store.forget(-1)) == (0, 1)
    assert (await store.record("over"), await store.steps("over")) == (None, ())
    assert (await store.record("open")).state == "todo"
    assert (await store.spent("ann", "guide"))["month"] == 4


async def test_a_database_in_memory_is_one_database() -> None:
    store = Store("sqlite+aiosqlite:///:memory:")
    await asyncio.gather(*(store.begin(f"run-{n}", ask()) for n in range(5)))
    assert await store.record("run-4") is not None
    await store.close()


async def test_the_tables_that_are_migrated_to_are_the_tables_that_are_used(database_url: str) -> None:
    there = Database(database_url)
    await there.bring_up(MIGRATIONS)

    def columns(db: object) -> dict[str, list[tuple[str, bool]]]:
        found = inspect(db)
        return {
            name: sorted((column["name"], column["nullable"]) for column in found.get_columns(name))
            for name in TABLES.tables
        }

    wanted = {
        name: sorted((column.name, bool(column.nullable)) for column in table.columns)
        for name, table in TABLES.tables.items()
    }
    assert await there.act(columns) == wanted
    await there.close()


# A run as the program wrote it before tables had versions: without a version table, with an index on the state.
OLDER = (
    "CREATE TABLE runs (id VARCHAR(40) PRIMARY KEY, schema_version INTEGER NOT NULL, bot VARCHAR(80) NOT NULL, "
    "room VARCHAR(200) NOT NULL, asker VARCHAR(200) NOT NULL, subject VARCHAR(200) NOT NULL, ask TEXT NOT NULL, "
    "state VARCHAR(12) NOT NULL, ending VARCHAR(20), answer TEXT, reason TEXT, owner VARCHAR(40), "
    "fence INTEGER NOT NULL, attempt INTEGER NOT NULL, lease_until_s FLOAT NOT NULL, cancel INTEGER NOT NULL, "
    "created_s FLOAT NOT NULL)",
    "CREATE INDEX ix_runs_state ON runs (state)",
    "CREATE TABLE steps (run VARCHAR(40) NOT NULL REFERENCES runs (id) ON DELETE CASCADE, n INTEGER NOT NULL, "
    "at_s FLOAT NOT NULL, what TEXT NOT NULL, PRIMARY KEY (run, n))",
    "INSERT INTO runs VALUES ('old', 1, 'guide', 'r1', 'ann', 'ann', "
    """'{"bot": "guide", "text": "Hello?", "asker": "ann", "subject": "ann", "room": "r1", "history": [], """
    """"surface": "voice", "language": "en", "ceilings": {"steps": 12, "spend": 500000, "minutes": 10.0}, """
    """"script": []}', 'doing', NULL, NULL, NULL, 'dead', 1, 1, 0, 0, 0)""",
    """INSERT INTO steps VALUES ('old', 0, 0, '{"n": 0, "kind": "model", "text": "", "calls": """
    """[{"id": "c1", "name": "look", "arguments": "{}"}], "call_id": "", "provider": "p", "model": "m", """
    """"spent": 3, "prompt_tokens": 1, "completion_tokens": 1, "estimated": false, "skipped": []}')""",
)


async def test_an_older_databases_runs_are_claimed_with_their_steps(database_url: str, store: Store) -> None:
    there = Database(database_url)
    async with there.write() as connection:
        for statement in OLDER:
            await connection.exec_driver_sql(statement)
    held = await store.claim("w1")
    assert (held.id, held.fence, held.ask.text) == ("old", 2, "Hello?")
    (step,) = await store.steps("old")
    assert (step.calls, step.spent, step.open, step.cut) == ((Call("c1", "look", "{}"),), 3, False, False)
    await there.close()


async def test_a_first_version_database_is_brought_up_too(database_url: str, store: Store) -> None:
    there = Database(database_url)
    async with there.write() as connection:
        await connection.run_sync(bring_up, MIGRATIONS, "0001")
    await store.begin("run-1", ask(), "w1", per={"day": 10}, wanted=4)
    async with there.read() as connection:
        assert (await connection.execute(text("SELECT micro FROM spend"))).scalars().all() == [4]
    await there.close()


def test_each_migration_says_what_it_is_for() -> None:
    files = sorted(Path(MIGRATIONS.folder).glob("0*.py"))
    assert [file.name[:4] for file in files] == [f"{n:04}" for n in range(1, len(files) + 1)]
    assert all(file.read_text(encoding="utf-8").startswith('"""') for file in files)
