"""The pacing of sound."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstword.testing.clock import VirtualClock
from sound import Pcm
from voice.playout import AHEAD_S, Playout

RATE_HZ = 8_000


def ramp(seconds: float, start: int = 0) -> Pcm:
    """Samples that tell their own place."""
    at = np.arange(start, start + round(seconds * RATE_HZ))
    return Pcm((at / 1e6).astype(np.float32), RATE_HZ)


def run(playout: Playout, clock: VirtualClock, seconds: float, beat_s: float = 0.02) -> list[Pcm]:
    out: list[Pcm] = []
    for _ in range(round(seconds / beat_s)):
        out += playout.take(clock())
        clock.forward(beat_s)
    return out


def test_it_is_at_most_320_ms_ahead_of_real_time() -> None:
    clock, playout = VirtualClock(), Playout(RATE_HZ)
    playout.push(ramp(5))
    for _ in range(100):
        playout.take(clock())
        assert playout.sent <= (clock() + AHEAD_S + 0.021) * RATE_HZ
        clock.forward(0.02)
    assert playout.sent >= clock() * RATE_HZ


def test_a8_chunks_follow_one_another_without_a_gap() -> None:
    clock, playout = VirtualClock(), Playout(RATE_HZ)
    for n in range(4):
        playout.push(ramp(0.32, round(n * 0.32 * RATE_HZ)))
    playout.end()
    out = Pcm.join(run(playout, clock, 2.0))
    assert np.array_equal(out.samples, ramp(1.28).samples)
    assert playout.drained(clock())


def test_s1_after_a_stop_nothing_leaves() -> None:
    clock, playout = VirtualClock(), Playout(RATE_HZ)
    playout.push(ramp(3))
    run(playout, clock, 0.5)
    playout.stop()
    playout.push(ramp(1))
    assert run(playout, clock, 1.0) == []


def test_s5_the_clock_goes_on_after_a_dry_spell() -> None:
    clock, playout = VirtualClock(), Playout(RATE_HZ)
    playout.push(ramp(0.1))
    run(playout, clock, 5.0)
    playout.push(ramp(1, 800))
    playout.end()
    out = run(playout, clock, 1.2)
    assert sum(len(chunk) for chunk in out) == RATE_HZ
    assert playout.drained(clock())


@pytest.mark.parametrize("client_holds", [True, False], ids=["page", "plain"])
def test_e3_a_hold_resumes_at_the_same_sample(client_holds: bool) -> None:
    clock, playout = VirtualClock(), Playout(RATE_HZ, client_holds=client_holds)
    playout.push(ramp(2))
    playout.end()
    out = run(playout, clock, 0.5)
    playout.hold(clock())
    assert run(playout, clock, 1.0) == []
    playout.resume(clock())
    out += run(playout, clock, 3.0)
    assert np.array_equal(Pcm.join(out).samples, ramp(2).samples)


def test_a_page_that_holds_has_played_nothing_more_meanwhile() -> None:
    clock, playout = VirtualClock(), Playout(RATE_HZ, client_holds=True)
    playout.push(ramp(2))
    run(playout, clock, 0.5)
    playout.hold(clock())
    before = playout.played(clock())
    clock.forward(10)
    assert playout.played(clock()) == before
    assert playout.level(clock()) is None


async def test_l3_what_waits_is_bounded_by_whoever_waits_for_room() -> None:
    clock, playout = VirtualClock(), Playout(RATE_HZ)
    await playout.room_for(1.0)
    playout.push(ramp(0.5))
    await playout.room_for(1.0)
    playout.push(ramp(1.0))
    playout.take(clock())
    playout.stop()
    await playout.room_for(1.0)
    assert playout.queued_s == 0


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.booleans())
def test_s6_any_order_of_pushes_holds_and_beats_loses_and_repeats_nothing(
    random_: random.Random, client_holds: bool
) -> None:
    clock, playout, pushed, out = VirtualClock(), Playout(RATE_HZ, client_holds=client_holds), 0, []
    for _ in range(60):
        match random_.randrange(5):
            case 0:
                part = ramp(random_.uniform(0, 0.3), pushed)
                playout.push(part)
                pushed += len(part)
            case 1:
                playout.hold(clock())
            case 2:
                playout.resume(clock())
            case _:
                clock.forward(random_.uniform(0, 0.2))
                out += playout.take(clock())
        assert 0 <= playout.played(clock()) <= playout.sent <= pushed
    playout.resume(clock())
    playout.end()
    out += run(playout, clock, 30.0)
    got = Pcm.join([Pcm.silence(0, RATE_HZ), *out])
    assert np.array_equal(got.samples, ramp(pushed / RATE_HZ).samples)


def test_a_client_that_ran_dry_is_counted_once_and_a_hold_is_no_running_dry() -> None:
    playout = Playout(24_000)
    playout.push(Pcm(np.ones(24_000, dtype=np.float32), 24_000))
    at = 0.0
    while playout.queued_s:
        playout.take(at)
        at += 0.02
    assert playout.dry == 0
    playout.push(Pcm(np.ones(2_400, dtype=np.float32), 24_000))
    playout.take(5.0)
    assert playout.dry == 1
    playout.push(Pcm(np.ones(2_400, dtype=np.float32), 24_000))
    playout.hold(5.01)
    playout.resume(9.0)
    playout.take(9.0)
    assert playout.dry == 1


def test_what_sounds_is_told_once_and_in_order_however_the_clock_jitters() -> None:
    playout, now = Playout(RATE_HZ), 0.0
    said = np.arange(1, RATE_HZ + 1, dtype=np.float32) / RATE_HZ
    playout.push(Pcm(said, RATE_HZ))
    playout.end()
    told, random = [], np.random.default_rng(1)
    for n in range(60):
        now = n * 0.02
        playout.take(now)
        told.append(playout.sounding(round(0.02 * RATE_HZ), now + random.uniform(-0.015, 0.03)))
    heard = np.concatenate(told)
    # From its first sample on it is what was pushed, whole; it begins within 0.1 s of the place at which it sounds.
    first = int(np.flatnonzero(heard)[0])
    begun = round(float(heard[first]) * RATE_HZ) - 1
    assert np.array_equal(heard[first : first + RATE_HZ - begun], said[begun:])
    assert not heard[first + RATE_HZ - begun :].any()
    assert abs(first - begun) <= 0.1 * RATE_HZ


def test_a_hold_makes_no_hole_in_what_sounds() -> None:
    playout = Playout(RATE_HZ, client_holds=True)
    said = np.arange(1, RATE_HZ + 1, dtype=np.float32) / RATE_HZ
    playout.push(Pcm(said, RATE_HZ))
    playout.end()
    told = []
    for n in range(100):
        now = n * 0.02
        if n == 20:
            playout.hold(now)
        if n == 45:
            playout.resume(now)
        playout.take(now)
        told.append(playout.sounding(round(0.02 * RATE_HZ), now))
    assert not np.concatenate(told[20:45]).any()
    heard = np.concatenate(told[:20] + told[45:])
    heard = heard[heard > 0]
    assert np.array_equal(heard, said[-len(heard) :])


def test_after_a_second_of_being_wrong_the_place_is_taken_up_again() -> None:
    playout = Playout(RATE_HZ)
    playout.push(Pcm(np.arange(1, 3 * RATE_HZ + 1, dtype=np.float32) / (3 * RATE_HZ), RATE_HZ))
    frame = round(0.02 * RATE_HZ)
    for n in range(10):
        playout.take(n * 0.02)
        playout.sounding(frame, n * 0.02)
    # The microphone was away for half a second, and what sounded meanwhile was never asked for.
    lags = []
    for n in range(10, 70):
        now = n * 0.02 + 0.5
        playout.take(now)
        heard = playout.sounding(frame, now)
        lags.append(playout.played(now) - (float(heard[0]) * 3 * RATE_HZ - 1))
    assert lags[0] > 0.2 * RATE_HZ
    assert abs(lags[-1]) < 0.1 * RATE_HZ
