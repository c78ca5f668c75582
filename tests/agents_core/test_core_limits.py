"""What one person may spend on one bot: windows that roll, and what is reserved before an answer begins."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from core_house import ask
from core_processes import process
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert, text

from agents_core.errors import OverLimit
from agents_core.limits import WINDOWS, grant
from agents_core.loop import Step
from agents_core.rows import SPEND, statements
from agents_core.store import Store

NOW_S = 1_000_000_000.0
MONEY = st.integers(0, 10**9)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    opened = Store(database_url)
    await opened.open()
    yield opened
    await opened.close()


CASES = {
    "nothing-spent": ({"day": 10}, {"day": 0}, 4, (4, None)),
    "rl3-more-than-the-whole-limit": ({"day": 5}, {"day": 0}, 6, (5, None)),
    "rl7-a-limit-of-one-allows-one": ({"minute": 1}, {"minute": 0}, 1, (1, None)),
    "spent-to-the-millionth": ({"day": 10}, {"day": 10}, 1, (0, "day")),
    "one-millionth-left": ({"day": 10}, {"day": 9}, 4, (1, None)),
    "overspent": ({"day": 10}, {"day": 12}, 1, (0, "day")),
    "every-window-must-hold": ({"minute": 100, "month": 10}, {"minute": 0, "month": 10}, 1, (0, "month")),
    "the-smallest-room-holds": ({"minute": 7, "month": 10}, {"minute": 2, "month": 7}, 9, (3, None)),
    "costs-nothing": ({"day": 10}, {"day": 9}, 0, (0, None)),
    "costs-nothing-but-the-window-is-full": ({"day": 10}, {"day": 10}, 0, (0, "day")),
    "no-limit": ({}, {"day": 10**12}, 4, (4, None)),
}


@pytest.mark.parametrize(
    ("per", "spent", "wanted", "granted"), [pytest.param(*c, id=name) for name, c in CASES.items()]
)
def test_what_is_granted(
    per: dict[str, int], spent: dict[str, int], wanted: int, granted: tuple[int, str | None]
) -> None:
    assert grant(per, spent, wanted) == granted


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(list(WINDOWS)), MONEY),
    st.dictionaries(st.sampled_from(list(WINDOWS)), MONEY),
    MONEY,
)
def test_no_grant_passes_a_ceiling(per: dict[str, int], spent: dict[str, int], wanted: int) -> None:
    granted, full = grant(per, spent, wanted)
    assert 0 <= granted <= wanted
    for window, ceiling in per.items():
        assert granted == 0 or spent.get(window, 0) + granted <= ceiling
    assert (full is not None) == any(spent.get(window, 0) >= ceiling for window, ceiling in per.items())


async def summed(store: Store, spends: list[tuple[float, int]], now_s: float = NOW_S) -> dict[str, int]:
    """What the database makes of spends at these seconds."""

    def work(db):
        db.execute(text("DELETE FROM spend"))
        for n, (at_s, micro) in enumerate(spends):
            values = {"run": f"s{n}", "person": "ann", "bot": "guide", "at_s": at_s, "micro": micro, "settled": 1}
            db.execute(insert(SPEND).values(values))
        values = {"person": "ann", "bot": "guide", "now_s": now_s}
        return dict(db.execute(text(statements(store._database.dialect)["spent"]), values).one()._mapping)

    return {window: int(micro) for window, micro in (await store._database.act(work)).items()}


async def test_k12_exactly_as_old_as_the_window_is_out_of_it(store: Store) -> None:
    for window, seconds in WINDOWS.items():
        assert (await summed(store, [(NOW_S - seconds, 5)]))[window] == 0
        assert (await summed(store, [(NOW_S - seconds + 0.001, 5)]))[window] == 5
    assert (await summed(store, [(NOW_S + 1, 5)]))["minute"] == 5  # the clock went back a second


async def test_k12_the_database_sums_as_anybody_would(store: Store) -> None:
    spends = [(NOW_S - 1.37**n, n * n + 1) for n in range(50)]
    naive = {
        window: sum(micro for at_s, micro in spends if at_s > NOW_S - seconds) for window, seconds in WINDOWS.items()
    }
    assert await summed(store, spends) == naive


async def test_rl5_what_was_reserved_is_settled_by_what_it_cost_window_after_window(store: Store) -> None:
    for n in range(3):
        held = await store.begin(f"run-{n}", ask(), "w1", per={"day": 100}, wanted=100)
        assert held.ask.ceilings.spend == 100 - n * 20
        assert (await store.spent("ann", "guide"))["day"] == 100
        with pytest.raises(OverLimit, match="in a day"):
            await store.begin("refused", ask(), "w1", per={"day": 100}, wanted=100)
        await store.finish(held, "done", spent=20)
        assert (await store.spent("ann", "guide"))["month"] == 20 * (n + 1)
    assert await store.record("refused") is None


async def test_rl9_ten_times_a_tenth_is_one(store: Store) -> None:
    for n in range(10):
        held = await store.begin(f"run-{n}", ask(), "w1", per={"day": 1_000_000}, wanted=100_000)
        await store.finish(held, "done", spent=100_000)
    with pytest.raises(OverLimit):
        await store.begin("one more", ask(), "w1", per={"day": 1_000_000}, wanted=1)


async def test_a_handed_in_run_that_is_cancelled_before_anybody_took_it_costs_what_it_used(store: Store) -> None:
    held = await store.begin("run-1", ask(), "w1", per={"day": 100}, wanted=60)
    await store.renew(held, Step(0, "model", spent=7))
    await store.release(held)
    await store.cancel("run-1")
    assert (await store.spent("ann", "guide"))["day"] == 7


async def test_people_and_bots_are_counted_apart(store: Store) -> None:
    await store.begin("run-1", ask(), "w1", per={"day": 10}, wanted=10)
    await store.begin("run-2", ask(bot="other"), "w1", per={"day": 10}, wanted=10)
    assert (await store.spent("ben", "guide"))["day"] == 0


def fifty_ask(url: str, who: str, pipe) -> None:
    """In a process of its own: fifty at once, each of which may cost five hundredths."""

    async def all_at_once() -> int:
        store = Store(url)
        await store.open()
        pipe.send("ready")
        pipe.recv()
        begun = (store.begin(f"{who}-{n}", ask(), who, per={"day": 10_000_000}, wanted=50_000) for n in range(50))
        outcomes = await asyncio.gather(*begun, return_exceptions=True)
        await store.close()
        assert all(isinstance(each, OverLimit) for each in outcomes if isinstance(each, BaseException)), outcomes
        return sum(not isinstance(each, BaseException) for each in outcomes)

    pipe.send(asyncio.run(all_at_once()))


async def test_k11_of_fifty_at_once_in_two_processes_the_one_for_whom_there_is_room_is_admitted(
    store: Store, database_url: str
) -> None:
    earlier = await store.begin("earlier", ask(), "w1", per={"day": 10_000_000}, wanted=9_990_000)
    await store.finish(earlier, "done", spent=9_990_000)
    pipes, others = zip(*(multiprocessing.Pipe() for _ in range(2)), strict=True)
    processes = [process(fifty_ask, database_url, f"p{n}", other) for n, other in enumerate(others)]
    with ThreadPoolExecutor() as pool:
        await asyncio.gather(*(asyncio.get_running_loop().run_in_executor(pool, pipe.recv) for pipe in pipes))
        for pipe in pipes:
            pipe.send("go")
        admitted = [await asyncio.get_running_loop().run_in_executor(pool, pipe.recv) for pipe in pipes]
    for each in processes:
        each.join(10)
    assert sum(admitted) == 1
    assert (await store.spent("ann", "guide"))["day"] == 10_000_000
    assert len(await store.recent(100)) == 2
