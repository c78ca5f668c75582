"""Deadlines that are put off again and again: they come once, when nobody did, and nobody else's cancel is theirs."""

from __future__ import annotations

import asyncio
import math
from contextlib import closing

import pytest

from agents_core import Alarm, Deadline
from firstword.testing.clock import run_virtually


def rung(*waits_s: float, unset: bool = False, rest_s: float = 100.0) -> list[float]:
    """When an alarm of ten seconds rings that is set at 0 and after each wait."""
    at_s: list[float] = []

    async def main() -> None:
        now = asyncio.get_running_loop().time
        with closing(Alarm(lambda: at_s.append(round(now(), 3)))) as alarm:
            alarm.set(10.0)
            for wait_s in waits_s:
                await asyncio.sleep(wait_s)
                alarm.set(10.0)
            if unset:
                alarm.unset()
            await asyncio.sleep(rest_s)
        await asyncio.sleep(rest_s)

    run_virtually(main())
    return at_s


def test_an_alarm_rings_once_its_whole_time_after_it_was_put_off_for_the_last_time() -> None:
    assert rung() == [10.0]
    assert rung(*[0.04] * 1000) == [50.0]
    assert rung(9.0, 9.0, 0.1) == [28.1]


def test_an_alarm_rings_again_when_it_is_set_again_and_not_when_it_is_unset_or_closed() -> None:
    assert rung(30.0, 30.0) == [10.0, 40.0, 70.0]
    assert rung(4.0, unset=True) == []
    assert rung(rest_s=9.0) == []


def test_an_alarm_may_be_set_to_come_sooner_or_never() -> None:
    async def main() -> list[float]:
        now, at_s = asyncio.get_running_loop().time, []
        with closing(Alarm(lambda: at_s.append(round(now(), 3)))) as alarm:
            for after_s in (20.0, 5.0, math.inf, 7.0):
                alarm.set(after_s)
            await asyncio.sleep(100.0)
        return at_s

    assert run_virtually(main()) == [7.0]


def test_each_wait_has_its_own_time_and_what_came_in_time_is_given() -> None:
    async def main() -> list[float]:
        loop, took_s = asyncio.get_running_loop(), []
        with closing(Deadline()) as deadline:
            for wait_s, limit_s in ((1.0, 8.0), (7.9, 8.0), (100.0, 8.0), (3.0, math.inf), (100.0, 2.0), (1.0, 0.0)):
                began_s = loop.time()
                if wait_s > limit_s:
                    with pytest.raises(TimeoutError):
                        await deadline.wait(asyncio.sleep(wait_s), limit_s)
                    assert deadline.rang
                else:
                    assert await deadline.wait(asyncio.sleep(wait_s, "came"), limit_s) == "came"
                    assert not deadline.rang
                took_s.append(round(loop.time() - began_s, 3))
            await asyncio.sleep(20.0)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        return took_s

    assert run_virtually(main()) == [1.0, 7.9, 8.0, 3.0, 2.0, 0.0]


def test_a_wait_that_is_hurried_ends_at_once_and_hurrying_nobody_is_nothing() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        with closing(Deadline()) as deadline:
            deadline.hurry()
            loop.call_later(3.0, deadline.hurry)
            with pytest.raises(TimeoutError):
                await deadline.wait(asyncio.sleep(50.0), 30.0)
            return round(loop.time(), 3)

    assert run_virtually(main()) == 3.0


@pytest.mark.parametrize("together", [False, True], ids=["before it rang", "in the same moment"])
def test_somebody_elses_cancel_is_a_cancel(together: bool) -> None:
    async def main() -> None:
        with closing(Deadline()) as deadline:
            waiting = asyncio.create_task(deadline.wait(asyncio.sleep(50.0), 30.0))

            def cancel() -> None:
                if together:
                    deadline._break_off()
                waiting.cancel()

            asyncio.get_running_loop().call_later(1.0, cancel)
            await asyncio.wait({waiting})
            assert waiting.cancelled()

    run_virtually(main())


def test_what_swallows_the_break_leaves_nothing_behind() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(50.0)
        except asyncio.CancelledError:
            return "anyway"
        return "never"

    async def main() -> None:
        task = asyncio.current_task()
        assert task is not None
        with closing(Deadline()) as deadline:
            assert await deadline.wait(stubborn(), 1.0) == "anyway"
            assert task.cancelling() == 0
            async with asyncio.timeout(5.0):
                await asyncio.sleep(1.0)

    run_virtually(main())
