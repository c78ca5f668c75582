"""A first sound that is kept back where others talk, and work that is due when the sound before it has run out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, TypeVar

import pytest
from test_in_a_room import Says

from asr import Ear, Silero
from firstword.testing.clock import run_virtually
from firstword.testing.device import Device
from firstword.testing.lanes import VirtualLane
from firstword.testing.room import EchoRoom
from firstword.testing.talks import Talk, hears_with
from firstword.testing.voices import ToneEngine
from sound import Pcm
from voice.answer import OUT_HZ
from voice.cushion import Cushions

T = TypeVar("T")

# Two windows of sound take longer than the cushion.
JOB_S = 0.15


def crowd(*lags_s: float) -> Cushions:
    """What as many conversations saw at 0 s, one answer each."""
    shared = Cushions()
    for lag_s in lags_s:
        shared.note(shared.newcomer(), lag_s, 0.0)
    return shared


def test_who_talks_alone_waits_for_nothing() -> None:
    shared = Cushions()
    alone = shared.newcomer()
    for n in range(5):
        shared.note(alone, 0.2, float(n))
    assert shared.wait_s(5.0) == 0.0
    assert Cushions().wait_s(5.0) == 0.0


def test_beside_others_a_first_sound_waits_as_long_as_the_latest_second_one() -> None:
    assert crowd(-0.04, 0.06).wait_s(1.0) == pytest.approx(0.075)
    assert crowd(-0.04, -0.01).wait_s(1.0) == pytest.approx(0.015)
    assert crowd(*[0.1] * 8).wait_s(1.0) == pytest.approx(0.15)
    assert crowd(0.1, 3.0).wait_s(1.0) == 0.25


def test_what_was_late_long_ago_is_forgotten() -> None:
    shared = crowd(0.1, 0.1)
    assert shared.wait_s(19.0) > 0
    assert shared.wait_s(21.0) == 0.0


def test_what_is_noted_is_how_much_later_the_rest_of_the_opening_came_than_it_was_wanted() -> None:
    shared = Cushions()
    shared.note(shared.newcomer(), -0.2, 10.0)
    watch = shared.watch(shared.newcomer())
    watch.made(0.0, 10.0, opening=True)
    watch.made(0.08, 10.17, opening=True)  # 80 ms were heard out 90 ms before
    watch.made(0.36, 10.3, opening=True)
    watch.made(1.2, 13.0, opening=True)  # after a second nothing of it counts
    watch.made(1.4, 19.0, opening=True)
    assert shared.wait_s(14.0) == pytest.approx(0.09 + 0.015)


def test_a_second_piece_may_wait_for_its_text() -> None:
    shared = Cushions()
    shared.note(shared.newcomer(), -0.2, 10.0)
    watch = shared.watch(shared.newcomer())
    watch.made(0.0, 10.0, opening=True)
    watch.made(0.3, 12.0, opening=False)
    assert shared.wait_s(12.0) == pytest.approx(0.015)


class NotedLane(VirtualLane):
    """Keeps for each step of a voice: when it was asked for, when it was due, and how long what it gave sounds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(job_s=JOB_S)
        self._clock = clock
        self.steps: list[tuple[float, float, float]] = []

    async def run(self, work: Callable[[], T], *, deadline_s: float | None = None) -> T:
        asked = self._clock()
        done = await super().run(work, deadline_s=deadline_s)
        if isinstance(done, Pcm) and deadline_s is not None:
            self.steps.append((asked, deadline_s, done.duration_s))
        return done


class Windowed(ToneEngine):
    """A tone that is made 300 ms at a time."""

    def speak(self, piece: str, **how: Any) -> Iterator[Pcm]:
        whole = Pcm.join(list(super().speak(piece)))
        step = round(0.3 * whole.rate_hz)
        for at in range(0, len(whole), step):
            yield whole.part(at, at + step)


def talked(cushions: Cushions) -> tuple[Talk, NotedLane]:
    async def main() -> tuple[Talk, NotedLane]:
        loop = asyncio.get_running_loop()
        lane = NotedLane(loop.time)
        ear = Ear(Says(""), VirtualLane(), silero=Silero(), clock=loop.time)
        talk = Talk(
            Device(EchoRoom(gain=0.0, delay_s=0.0, rate_hz=OUT_HZ, reverberation_s=0.0, noise=0.0)),
            answers=["It closes at five in the afternoon. " * 12],
            engine=Windowed(seconds_per_char=0.06),
            listener=hears_with(ear),
            lane=lane,
            cushions=cushions,
        )
        try:
            talk.ask("When?")
            await talk.until_quiet()
        finally:
            await talk.close()
        return talk, lane

    return run_virtually(main())


@pytest.mark.parametrize(("lags_s", "kept_back_ms"), [((0.1,), 0.0), ((0.1, 0.1), 115.0)])
def test_the_first_sound_leaves_when_its_cushion_is_over(lags_s: tuple[float, ...], kept_back_ms: float) -> None:
    talk, lane = talked(crowd(*lags_s))
    (trace,) = talk.of("firstword.trace")
    assert trace["cushion_ms"] == kept_back_ms
    (begun_at,) = talk.begun_at.values()
    made_at = lane.steps[0][0] + JOB_S
    # The beat is 20 ms.
    assert kept_back_ms / 1000 <= begun_at - made_at + 1e-6 <= kept_back_ms / 1000 + 0.021
    assert trace["underruns"] == 0


def test_a_step_is_due_when_the_sound_before_it_has_run_out() -> None:
    _, lane = talked(Cushions())
    slacks_s = [due - asked for asked, due, _ in lane.steps]
    # The rest of a long answer is not wanted soon, and whoever else is about to run dry goes first.
    assert 2.0 < max(slacks_s) < 6.0
    began_at = lane.steps[0][0] + JOB_S
    heard_out_s = 0.0
    for (_, _, sounds_s), (asked, due, _) in pairwise(lane.steps[:6]):
        heard_out_s += sounds_s
        assert due == pytest.approx(began_at + heard_out_s, abs=0.1)
        assert asked < due
