"""The rows: who may take a run, and who may write to it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from core_house import ask
from sqlalchemy.exc import IntegrityError

from agents_core.errors import LeaseLost
from agents_core.events import Line
from agents_core.loop import Step
from agents_core.store import Store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = Store(f"sqlite+aiosqlite:///{tmp_path / 'a' / 'core.db'}")
    yield opened
    await opened.close()


async def test_rl1_four_who_race_for_two_hundred_rows_take_each_once(store: Store, tmp_path: Path) -> None:
    other = Store(f"sqlite+aiosqlite:///{tmp_path / 'a' / 'core.db'}")
    for n in range(200):
        await store.begin(f"run-{n}", ask())
    taken: Counter[str] = Counter()

    async def take(rows: Store, owner: str) -> None:
        while held := await rows.claim(owner):
            taken[held.id] += 1

    await asyncio.gather(*(take((store, other)[n % 2], f"w{n}") for n in range(4)))
    assert len(taken) == 200
    assert set(taken.values()) == {1}
    await other.close()


async def test_a_claim_gives_back_what_was_asked(store: Store) -> None:
    question = ask(history=(Line("user", "Hé\u2028"),), script=("a", "b"))
    await store.begin("run-1", question)
    held = await store.claim("w1")
    assert held is not None
    assert (held.ask, held.owner, held.fence, held.cancelled) == (question, "w1", 1, False)
    assert await store.claim("w2") is None


async def test_rl7_a_late_renewal_does_not_steal_a_lease_back(tmp_path: Path) -> None:
    store = Store(f"sqlite+aiosqlite:///{tmp_path / 'core.db'}", lease_s=-1.0)
    await store.begin("run-1", ask())
    first = await store.claim("w1")
    second = await store.claim("w2")
    assert first is not None
    assert second is not None
    assert (first.fence, second.fence) == (1, 2)
    with pytest.raises(LeaseLost):
        await store.renew(first, Step(0, "model", text="late"))
    with pytest.raises(LeaseLost):
        await store.finish(first, "done", answer="late")
    await store.renew(second, Step(0, "model", text="in time"))
    await store.finish(second, "done", answer="in time")
    assert [step.text for step in await store.steps("run-1")] == ["in time"]
    await store.close()


async def test_the_same_owner_with_an_older_fence_is_refused_too(tmp_path: Path) -> None:
    store = Store(f"sqlite+aiosqlite:///{tmp_path / 'core.db'}", lease_s=-1.0)
    await store.begin("run-1", ask())
    first, again = await store.claim("w1"), await store.claim("w1")
    assert first is not None
    assert again is not None
    with pytest.raises(LeaseLost):
        await store.renew(first)
    assert not await store.renew(again)
    await store.close()


async def test_a_step_is_written_once_and_its_transaction_is_whole(store: Store) -> None:
    held = await store.begin("run-1", ask(), "w1")
    assert held is not None
    await store.renew(held, Step(0, "model", text="first"))
    with pytest.raises(IntegrityError):
        await store.renew(held, Step(0, "model", text="twice"))
    assert [step.text for step in await store.steps("run-1")] == ["first"]


async def test_a_cancel_is_seen_by_the_holder_and_ends_what_nobody_holds(store: Store) -> None:
    held = await store.begin("held", ask(), "w1")
    await store.begin("free", ask())
    assert held is not None
    assert await store.cancel("held")
    assert await store.cancel("free")
    assert await store.renew(held)
    free = await store.record("free")
    assert free is not None
    assert free.state == "cancelled"
    assert await store.claim("w2") is None
    assert not await store.cancel("nobody")


async def test_a_database_in_memory_is_one_database() -> None:
    store = Store("sqlite+aiosqlite:///:memory:")
    await asyncio.gather(*(store.begin(f"run-{n}", ask()) for n in range(5)))
    assert await store.record("run-4") is not None
    await store.close()
