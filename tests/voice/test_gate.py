"""The gate between the microphone and the listener, in a room that echoes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

import numpy as np
import pytest

from echo import level_of
from firstword.testing.clock import run_virtually
from firstword.testing.lanes import VirtualLane
from firstword.testing.room import EchoRoom
from models import Lane, Lanes
from sound import Pcm, resample
from voice.gate import DELAY_S, WAIT_S, Gate

T = TypeVar("T")

RATE_HZ = 16_000
FRAME = 320


def speech(seconds: float, level: float, seed: int = 1) -> np.ndarray:
    """A buzz with syllables: a pitch, and a swing four times a second."""
    at = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    pitch = 130 + 20 * np.sin(2 * np.pi * 0.7 * at + seed)
    phase = np.cumsum(2 * np.pi * pitch / RATE_HZ)
    wave = sum(np.sin(n * phase) / n for n in range(1, 8)) * (0.35 + 0.65 * np.abs(np.sin(2 * np.pi * 2 * at)))
    return (wave / np.abs(wave).max() * level).astype(np.float32)


def run(gate: Gate, room: EchoRoom, played: np.ndarray | None, near: np.ndarray) -> tuple[list[int], np.ndarray]:
    """Frames at which a candidate stood, and what the listener got."""
    candidates, out = [], []
    for n, start in enumerate(range(0, len(near) - FRAME + 1, FRAME)):
        sent = np.zeros(FRAME, dtype=np.float32) if played is None else played[start : start + FRAME]
        passed = gate.push(
            Pcm(room.hear(sent, near[start : start + FRAME]), RATE_HZ),
            played=None if played is None else level_of(sent),
        )
        out += [frame.samples for frame in passed.frames]
        if passed.candidate:
            candidates.append(n)
            gate.nobody()
    return candidates, np.concatenate(out) if out else np.zeros(0, dtype=np.float32)


@pytest.mark.parametrize("delay_s", [0.0, 0.3, 1.4])
@pytest.mark.parametrize("gain", [0.0, 0.1, 0.3, 0.6, 0.9])
def test_nobody_there_costs_a_hold_or_two_until_the_leak_is_known_and_none_after(gain: float, delay_s: float) -> None:
    gate, room = Gate(), EchoRoom(gain=gain, delay_s=delay_s, reverberation_s=0.2, noise=0.001, seed=4)
    played = speech(20, 0.7)
    candidates, _ = run(gate, room, played, np.zeros_like(played))
    assert len([n for n in candidates if n * 0.02 > delay_s + 2.0]) == 0
    assert len(candidates) <= 3


@pytest.mark.parametrize(("gain", "level"), [(0.0, 0.05), (0.3, 0.6)], ids=["headphones", "loudspeakers"])
def test_v1_v3_a_person_gets_through_with_the_onset_of_their_words(gain: float, level: float) -> None:
    gate, room = Gate(), EchoRoom(gain=gain, delay_s=0.3, noise=0.001)
    played = speech(6, 0.7)
    run(gate, room, played[: 4 * RATE_HZ], np.zeros(4 * RATE_HZ, dtype=np.float32))
    near = np.concatenate([np.zeros(RATE_HZ, dtype=np.float32), speech(1, level)])
    quiet_onset = near.copy()
    found = False
    got: list[np.ndarray] = []
    for start in range(0, len(near), FRAME):
        sent = played[4 * RATE_HZ + start : 4 * RATE_HZ + start + FRAME]
        heard = room.hear(sent, quiet_onset[start : start + FRAME])
        passed = gate.push(Pcm(heard, RATE_HZ), played=level_of(sent))
        got += [frame.samples for frame in passed.frames]
        if passed.candidate:
            found = True
            assert start >= RATE_HZ
            assert sum(len(frame) for frame in passed.frames) >= (DELAY_S - 0.021) * RATE_HZ
    assert found
    # From the hold on, what the listener gets is what the microphone read.
    assert level_of(np.concatenate(got)[-RATE_HZ // 2 :]) >= level * 0.9


def test_every_frame_goes_on_once_and_in_order() -> None:
    gate, room = Gate(), EchoRoom(gain=0.4, delay_s=0.1)
    played = speech(2, 0.7)
    _, first = run(gate, room, played, np.zeros_like(played))
    near = speech(1, 0.4)
    _, second = run(gate, EchoRoom(gain=0.0, delay_s=0.0), None, near)
    assert len(first) + len(second) == len(played) + len(near)
    assert np.allclose(second[-RATE_HZ // 2 :], near[-RATE_HZ // 2 :], atol=1e-6)


def test_with_nothing_playing_the_gate_holds_nothing_back() -> None:
    near = speech(1, 0.01)
    _, got = run(Gate(), EchoRoom(gain=0.0, delay_s=0.0), None, near)
    assert np.allclose(got, near, atol=1e-6)


@pytest.mark.parametrize("rate_hz", [RATE_HZ, 24_000])
def test_what_a_person_says_over_the_assistant_goes_on_without_the_assistant(rate_hz: int) -> None:
    """At 24 kHz the two lie sample beside sample, at 16 kHz what sounds is resampled first."""
    played = speech(6, 0.7) + np.random.default_rng(9).normal(0, 0.02, 6 * RATE_HZ).astype(np.float32)
    near = np.zeros_like(played)
    near[-RATE_HZ:] = speech(1, 0.6, seed=5)
    sent, person = (resample(Pcm(one, RATE_HZ), 24_000).samples for one in (played, near))
    at_mic = resample(Pcm(person, 24_000), rate_hz).samples
    echo = resample(
        Pcm(EchoRoom(gain=0.5, delay_s=0.25, rate_hz=24_000, reverberation_s=0.2, noise=0.0005).hear(sent), 24_000),
        rate_hz,
    ).samples
    gate, got, leaks, frame = Gate(), [], [], rate_hz // 50
    for n in range(len(echo) // frame):
        out = Pcm(sent[n * 480 : (n + 1) * 480], 24_000)
        mic = echo[n * frame : (n + 1) * frame] + at_mic[n * frame : (n + 1) * frame]
        passed = gate.push(Pcm(mic.astype(np.float32), rate_hz), played=level_of(out.samples), sounding=out)
        got += [one.samples for one in passed.frames]
        if passed.candidate:
            leaks.append((n * 0.02, gate.may_leak))
        elif leaks and leaks[-1][0] < 4.9:
            gate.nobody(own=True)
    assert leaks[-1] == (pytest.approx(5.05, abs=0.15), False)
    heard = np.concatenate(got)
    clean = at_mic[: len(heard)] - heard
    last = slice(round(-0.6 * rate_hz), None)
    # What is left beside the person's words is a quarter (12 dB) of the assistant at most.
    assert np.std(clean[last]) < 0.25 * np.std(echo[: len(heard)][last])


class Counted(VirtualLane):
    """A lane that counts its jobs."""

    jobs = 0

    async def run(self, work: Callable[[], T], *, deadline_s: float | None = None) -> T:
        self.jobs += 1
        return await super().run(work, deadline_s=deadline_s)


def overheard() -> tuple[np.ndarray, np.ndarray]:
    """What is played, and what the microphone reads of it and of a person in the last second."""
    played = speech(5, 0.7) + np.random.default_rng(9).normal(0, 0.02, 5 * RATE_HZ).astype(np.float32)
    near = np.zeros_like(played)
    near[-RATE_HZ:] = speech(1, 0.6, seed=5)
    return played, EchoRoom(gain=0.5, delay_s=0.25, reverberation_s=0.2, noise=0.0005).hear(played, near)


async def a_frame() -> None:
    await asyncio.sleep(0.02)


async def over(
    gate: Gate, *, nobody_after: int = 10, always: bool = False, pause: Callable[[], Awaitable[None]] = a_frame
) -> tuple[np.ndarray, list[tuple[int, int]], list[bool]]:
    """A frame each 20 ms through `gate`: what went on, (candidate, frames that went on) and whether it may leak.

    What stood before the person came was ourselves, as is known `nobody_after` frames later; `always`: all that stands.
    """
    played, heard = overheard()
    got, counts, leaks, stood = [], [], [], -1
    for n, at in enumerate(range(0, len(played), FRAME)):
        out = played[at : at + FRAME]
        passed = gate.push(Pcm(heard[at : at + FRAME], RATE_HZ), played=level_of(out), sounding=Pcm(out, RATE_HZ))
        got += [frame.samples for frame in passed.frames]
        counts.append((n if passed.candidate else -1, len(passed.frames)))
        leaks.append(gate.may_leak)
        stood = n if passed.candidate else stood
        if stood >= 0 and n == stood + nobody_after and (always or at < 4 * RATE_HZ):
            gate.nobody(own=True)
        await pause()
    await gate.close()
    return np.concatenate(got), counts, leaks


def test_what_is_worked_out_on_a_lane_comes_to_the_same_as_at_once() -> None:
    lane = Counted(job_s=0.045)
    at_once, counts, leaks = run_virtually(over(Gate()))
    later, counts_later, leaks_later = run_virtually(over(Gate(lane=lane)))
    candidates = [n for n, _ in counts if n >= 0]
    # The hold is not a frame later, and everything that went on is the same to the sample.
    assert candidates == [n for n, _ in counts_later if n >= 0]
    assert candidates[-1] >= 200
    assert lane.jobs == len(candidates)
    assert np.array_equal(at_once, later)
    # It waits 45 ms, which is two frames and a bit, and then knows that our own voice is out of it.
    stood = candidates[-1]
    assert leaks[stood] is False
    assert leaks_later[stood : stood + 4] == [True, True, True, False]
    assert [count for _, count in counts_later[stood : stood + 3]] == [0, 0, 0]


class Beside:
    """A real lane, and where its work was done."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self.threads: set[str] = set()
        self.busy = 0

    async def run(self, work: Callable[[], T], *, deadline_s: float | None = None) -> T:
        def noted() -> T:
            self.threads.add(threading.current_thread().name)
            return work()

        self.busy += 1
        try:
            return await self._lane.run(noted, deadline_s=deadline_s)
        finally:
            self.busy -= 1

    async def idle(self) -> None:
        """Returns once nothing is worked out, however long that takes."""
        await asyncio.sleep(0)
        while self.busy:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0)


def test_a_real_lane_does_the_work_on_its_own_thread() -> None:
    at_once, _, _ = run_virtually(over(Gate()))
    lanes = Lanes()
    beside = Beside(lanes.lane("echo"))
    try:
        later, counts, leaks = asyncio.run(over(Gate(lane=beside), pause=beside.idle))
    finally:
        lanes.close()
    assert [n for n, _ in counts if n >= 200]
    assert beside.threads == {"lane-0"}
    assert leaks[-1] is False
    assert np.array_equal(at_once, later)


@pytest.mark.parametrize("nobody_after", [1, 2])
def test_every_frame_goes_on_once_although_it_was_nobody_before_the_work_was_done(nobody_after: int) -> None:
    lane = Counted(job_s=0.1)
    _, heard = overheard()
    later, counts, _ = run_virtually(over(Gate(lane=lane), nobody_after=nobody_after, always=True))
    assert any(n >= 0 for n, _ in counts)
    # What is still in the line is 0.4 s at most.
    assert len(heard) - len(later) <= (DELAY_S + 0.021) * RATE_HZ
    for at in range(0, len(later), FRAME):
        frame = later[at : at + FRAME]
        assert not frame.any() or np.array_equal(frame, heard[at : at + FRAME])


def test_a_lane_that_gives_nothing_is_waited_for_0_4_s_and_then_the_bar_alone_decides() -> None:
    later, counts, leaks = run_virtually(over(Gate(lane=VirtualLane(job_s=60.0))))
    stood = [n for n, _ in counts if n >= 0][-1]
    waited = next(n for n in range(stood, len(counts)) if counts[n][1])
    assert (waited - stood) * 0.02 == pytest.approx(WAIT_S)
    assert leaks[waited] is True
    # They are heard all the same, with the assistant in it.
    assert level_of(later[-RATE_HZ // 4 :]) > 0.4


def test_a_lane_that_breaks_leaves_it_to_the_bar() -> None:
    class Broken(VirtualLane):
        async def run(self, work: Callable[[], T], *, deadline_s: float | None = None) -> T:
            raise RuntimeError("the lane is closed")

    later, counts, leaks = run_virtually(over(Gate(lane=Broken())))
    stood = [n for n, _ in counts if n >= 0][-1]
    assert counts[stood + 1][1] > 1
    assert leaks[stood + 1] is True
    assert level_of(later[-RATE_HZ // 4 :]) > 0.4


def test_a_long_stretch_with_a_candidate_in_it_waits_for_the_next_one() -> None:
    """Some clients send half a second at a time."""

    async def stretches(gate: Gate) -> tuple[np.ndarray, list[bool]]:
        played, heard = overheard()
        size = RATE_HZ // 2
        got, leaks = [], []
        for at in range(0, len(played), size):
            out = Pcm(played[at : at + size], RATE_HZ)
            passed = gate.push(Pcm(heard[at : at + size], RATE_HZ), played=level_of(out.samples), sounding=out)
            got += [frame.samples for frame in passed.frames]
            leaks.append(gate.may_leak)
            if passed.candidate and at < 4 * RATE_HZ:
                gate.nobody(own=True)
            await asyncio.sleep(0.5)
        return np.concatenate(got), leaks

    got, leaks = run_virtually(stretches(Gate(lane=VirtualLane(job_s=0.045))))
    assert leaks[-1] is False
    assert len(got) > 4 * RATE_HZ
