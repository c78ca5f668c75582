"""The gate between the microphone and the listener, in a room that echoes."""

from __future__ import annotations

import numpy as np
import pytest

from echo import level_of
from firstword.testing.room import EchoRoom
from sound import Pcm, resample
from voice.gate import DELAY_S, Gate

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
