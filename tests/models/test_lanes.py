"""Lanes: the order of jobs, what cancelling does, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import threading
import weakref
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models import Lane, Lanes, LanesClosed


@pytest.fixture
def lanes() -> Iterator[Lanes]:
    made = Lanes()
    yield made
    made.close()


class Plug:
    """Holds the only lane thread until it is let go, so that what is asked meanwhile waits together."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._go = threading.Event()
        self.started = threading.Event()
        self.task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Plug:
        self.task = asyncio.create_task(self._lane.run(self._hold, deadline_s=float("-inf")))
        await until(self.started.is_set)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.go()
        assert self.task is not None
        await asyncio.gather(self.task, return_exceptions=True)

    def go(self) -> None:
        self._go.set()

    def _hold(self) -> None:
        self.started.set()
        assert self._go.wait(30), "the test never let the lane go"


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop turn until `condition` holds; the test's own timeout ends a wait in vain."""
    while not condition():
        await asyncio.sleep(0)


async def asked(lanes: Lanes, count: int) -> None:
    await until(lambda: lanes.waiting == count)


async def test_gives_back_what_the_work_gives_and_never_runs_it_on_the_loop(lanes: Lanes) -> None:
    thread = await lanes.lane("one").run(threading.current_thread)
    assert thread is not threading.current_thread()


async def test_a_fault_in_the_work_reaches_whoever_asked_and_the_lane_lives_on(lanes: Lanes) -> None:
    lane = lanes.lane("one")
    with pytest.raises(ZeroDivisionError):
        await lane.run(lambda: 1 / 0)
    assert await lane.run(lambda: 2) == 2


async def test_work_that_raises_stop_iteration_is_a_fault_and_not_a_wait_for_ever(lanes: Lanes) -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        await asyncio.wait_for(lanes.lane("one").run(lambda: next(iter(()))), 20)


async def test_the_earliest_deadline_goes_first_over_all_lanes(lanes: Lanes) -> None:
    order: list[str] = []
    wanted = [("asr", 5.0), ("tts", 1.0), ("llm", 3.0), ("tts", 2.0), ("asr", 4.0)]
    by_name = {name: lanes.lane(name) for name in ("asr", "tts", "llm")}
    async with Plug(lanes.lane("plug")) as plug:
        jobs = [
            asyncio.ensure_future(by_name[name].run(lambda t=f"{name}{due:.0f}": order.append(t), deadline_s=due))
            for name, due in wanted
        ]
        await asked(lanes, len(wanted))
        plug.go()
        await asyncio.gather(*jobs)
    assert order == ["tts1", "tts2", "llm3", "asr4", "asr5"]


async def test_a_thousand_orders_all_come_out_by_deadline_then_by_asking() -> None:
    dice = random.Random(11)
    lanes = Lanes()
    names = [lanes.lane(str(n)) for n in range(4)]
    order: list[tuple[float, int]] = []
    try:
        async with Plug(lanes.lane("plug")) as plug:
            jobs = []
            for n in range(1000):
                due = float(dice.randrange(100))
                work = lambda key=(due, n): order.append(key)  # noqa: E731
                jobs.append(asyncio.ensure_future(dice.choice(names).run(work, deadline_s=due)))
            await asked(lanes, 1000)
            plug.go()
            await asyncio.gather(*jobs)
    finally:
        lanes.close()
    assert len(order) == 1000
    assert order == sorted(order)


@given(
    dues=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    cancelled=st.sets(st.integers(0, 11)),
    at_once=st.integers(1, 3),
)
@settings(max_examples=40, deadline=None)
def test_what_is_cancelled_never_runs_and_everything_else_runs_once(
    dues: list[int], cancelled: set[int], at_once: int
) -> None:
    ran: list[int] = []

    async def main() -> None:
        lanes = Lanes(at_once=at_once)
        held = [Plug(lanes.lane(f"plug{n}")) for n in range(at_once)]
        places = [lanes.lane("a"), lanes.lane("b")]
        try:
            async with contextlib.AsyncExitStack() as stack:
                for plug in held:
                    await stack.enter_async_context(plug)
                jobs = [
                    asyncio.ensure_future(places[n % 2].run(lambda n=n: ran.append(n), deadline_s=due))
                    for n, due in enumerate(dues)
                ]
                await asked(lanes, len(jobs))
                for n in cancelled & set(range(len(jobs))):
                    jobs[n].cancel()
                await asked(lanes, len(jobs) - len(cancelled & set(range(len(jobs)))))
                for plug in held:
                    plug.go()
                await asyncio.gather(*jobs, return_exceptions=True)
        finally:
            lanes.close()

    asyncio.run(main())
    assert sorted(ran) == [n for n in range(len(dues)) if n not in cancelled]


async def test_a_lane_never_runs_two_of_its_jobs_at_a_time_however_many_threads() -> None:
    lanes = Lanes(at_once=3)
    lane, inside, most, guard = lanes.lane("one"), 0, 0, threading.Lock()

    def work() -> None:
        nonlocal inside, most
        with guard:
            inside += 1
            most = max(most, inside)
        for _ in range(2000):
            pass
        with guard:
            inside -= 1

    try:
        await asyncio.gather(*(lane.run(work) for _ in range(60)))
    finally:
        lanes.close()
    assert most == 1


async def test_two_lanes_run_at_once_where_two_threads_are_asked_for() -> None:
    lanes = Lanes(at_once=2)
    meet = threading.Barrier(2, timeout=30)
    try:
        await asyncio.gather(lanes.lane("a").run(meet.wait), lanes.lane("b").run(meet.wait))
    finally:
        lanes.close()


async def test_a_job_that_has_started_runs_to_its_end_though_its_task_is_cancelled(lanes: Lanes) -> None:
    ended = threading.Event()
    async with Plug(lanes.lane("one")) as plug:
        assert plug.task is not None
        plug.task.cancel()
        after = asyncio.ensure_future(lanes.lane("two").run(ended.set))
        await asked(lanes, 1)
        assert not ended.is_set()
        plug.go()
        await after
    assert ended.is_set()


async def test_closing_refuses_what_waits_without_cancelling_the_task_and_finishes_what_runs() -> None:
    lanes = Lanes()
    async with Plug(lanes.lane("one")) as plug:
        waits = asyncio.ensure_future(lanes.lane("two").run(lambda: pytest.fail("ran after closing")))
        await asked(lanes, 1)
        closing = asyncio.create_task(asyncio.to_thread(lanes.close))
        with pytest.raises(LanesClosed, match="two is closed"):
            await waits
        plug.go()
        await closing
        assert plug.task is not None
        assert await plug.task is None
    with pytest.raises(LanesClosed):
        await lanes.lane("one").run(lambda: 1)


def test_closing_ends_the_threads_and_may_be_said_twice() -> None:
    before = set(threading.enumerate())
    lanes = Lanes(at_once=3)
    assert len(set(threading.enumerate()) - before) == 3
    lanes.close()
    lanes.close()
    assert not set(threading.enumerate()) - before


def test_lanes_without_a_thread_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Lanes(at_once=0)


@pytest.mark.timeout(20)
async def test_an_idle_thread_keeps_hold_of_nothing_that_a_job_gave(lanes: Lanes) -> None:
    class Big:
        pass

    kept = weakref.ref(await lanes.lane("one").run(Big))

    def gone() -> bool:
        gc.collect()
        return kept() is None

    await until(gone)


async def test_a_stuck_job_can_be_disowned_and_the_lane_goes_on(lanes: Lanes) -> None:
    lane = lanes.lane("one")
    assert not lane.disown()
    async with Plug(lane):
        assert lane.disown()
        assert await lane.run(lambda: 3) == 3


async def test_a_stream_gives_every_step_in_order_and_makes_its_iterator_on_the_lane(lanes: Lanes) -> None:
    made_on: list[threading.Thread] = []

    def make() -> Iterator[int]:
        made_on.append(threading.current_thread())
        yield from range(5)

    assert [item async for item in lanes.lane("one").stream(make)] == [0, 1, 2, 3, 4]
    assert made_on != [threading.current_thread()]


async def test_an_earlier_deadline_goes_between_two_steps_of_a_stream(lanes: Lanes) -> None:
    order: list[str] = []

    def make() -> Iterator[None]:
        for n in range(2):
            order.append(f"step{n}")
            yield

    stream = lanes.lane("slow").stream(make, deadline_s=10.0)
    await anext(stream)
    async with Plug(lanes.lane("plug")) as plug:
        second = asyncio.ensure_future(anext(stream))
        await asked(lanes, 1)
        urgent = asyncio.ensure_future(lanes.lane("fast").run(lambda: order.append("urgent"), deadline_s=1.0))
        await asked(lanes, 2)
        plug.go()
        await asyncio.gather(second, urgent)
    await stream.aclose()
    assert order == ["step0", "urgent", "step1"]


async def test_a_fault_in_a_step_ends_the_stream_with_that_fault(lanes: Lanes) -> None:
    def make() -> Iterator[int]:
        yield 1
        raise KeyError("broken")

    stream = lanes.lane("one").stream(make)
    assert await anext(stream) == 1
    with pytest.raises(KeyError, match="broken"):
        await anext(stream)


class Closing:
    """An iterator that says on which thread it was closed, and can be held inside a step."""

    def __init__(self) -> None:
        self.inside, self.go, self.closed = threading.Event(), threading.Event(), threading.Event()
        self.closed_on: threading.Thread | None = None

    def steps(self) -> Iterator[int]:
        try:
            yield 0
            self.inside.set()
            assert self.go.wait(30)
            yield 1
        finally:
            self.closed_on = threading.current_thread()
            self.closed.set()


async def test_leaving_a_stream_closes_its_iterator_on_the_lane(lanes: Lanes) -> None:
    held = Closing()
    async with contextlib.aclosing(lanes.lane("one").stream(held.steps)) as stream:
        async for _ in stream:
            break
    await until(held.closed.is_set)
    assert held.closed_on not in (None, threading.current_thread())


async def test_a_consumer_that_leaves_in_the_middle_of_a_step_closes_the_iterator_after_it(lanes: Lanes) -> None:
    held = Closing()
    got: list[int] = []

    async def consume() -> None:
        async with contextlib.aclosing(lanes.lane("one").stream(held.steps)) as stream:
            async for item in stream:
                got.append(item)  # noqa: PERF401 - it is cancelled half-way

    task = asyncio.create_task(consume())
    await until(held.inside.is_set)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not held.closed.is_set()
    held.go.set()
    await until(held.closed.is_set)
    assert got == [0]
    assert await lanes.lane("one").run(lambda: "alive") == "alive"


async def test_a_stream_that_is_cancelled_before_its_first_step_makes_no_iterator(lanes: Lanes) -> None:
    async with Plug(lanes.lane("plug")):
        task = asyncio.ensure_future(anext(lanes.lane("one").stream(lambda: pytest.fail("made"))))
        await asked(lanes, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
