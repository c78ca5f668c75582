"""The canceller: our own voice taken out of what the microphone read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from echo import Canceller
from firstword.testing.room import EchoRoom

RATE_HZ = 16_000
FRAME = 320
SPARE = round(0.2 * RATE_HZ)


def babble(seconds: float, seed: int) -> np.ndarray:
    """Noise with the slope and the syllables of a voice: every band has something, most of it low."""
    random = np.random.default_rng(seed)
    count = round(seconds * RATE_HZ)
    spectrum = np.fft.rfft(random.standard_normal(count))
    spectrum /= 1 + np.fft.rfftfreq(count, 1 / RATE_HZ) / 400
    wave = np.fft.irfft(spectrum, count) * np.abs(np.sin(2 * np.pi * 2 * np.arange(count) / RATE_HZ))
    return (0.5 * wave / np.abs(wave).max()).astype(np.float32)


def tone(seconds: float, level: float) -> np.ndarray:
    at = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return (level * np.sin(2 * np.pi * 300 * at)).astype(np.float32)


def fed(played: np.ndarray, heard: np.ndarray) -> Canceller:
    canceller = Canceller(RATE_HZ)
    for at in range(0, len(heard), FRAME):
        canceller.push(heard[at : at + FRAME], played[at : at + FRAME])
    return canceller


def level(samples: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))


@pytest.mark.parametrize("reverberation_s", [0.0, 0.3])
@pytest.mark.parametrize("delay_s", [0.0, 0.35, 1.4])
def test_a_person_over_our_own_voice_is_left_and_our_own_voice_is_not(delay_s: float, reverberation_s: float) -> None:
    played = babble(4.4, 1)
    person = np.zeros_like(played)
    person[-SPARE:] = tone(0.2, 0.1)
    room = EchoRoom(gain=0.6, delay_s=delay_s, reverberation_s=reverberation_s, noise=0.0005, seed=2)
    heard = room.hear(played, person)
    canceller = fed(played, heard)
    assert canceller.fit(SPARE)
    assert canceller.left < 0.4
    rest, own = canceller.clean(SPARE, SPARE)
    assert np.allclose(rest + own, heard[-SPARE:], atol=1e-4)
    # 12 dB at least: what the mixture had of us is a quarter of what it was.
    assert level(rest - person[-SPARE:]) < 0.25 * level(heard[-SPARE:] - person[-SPARE:])


def test_what_it_is_fitted_to_goes_on_being_cleaned_after_the_last_sample_was_played() -> None:
    played = np.concatenate([babble(4.0, 3), np.zeros(RATE_HZ, dtype=np.float32)])
    heard = EchoRoom(gain=0.5, delay_s=0.6, noise=0.0005, seed=4).hear(played)
    half = 4 * RATE_HZ
    canceller = fed(played[:half], heard[:half])
    assert canceller.fit(SPARE)
    for at in range(half, half + RATE_HZ // 2, FRAME):
        canceller.push(heard[at : at + FRAME], played[at : at + FRAME])
        rest, _ = canceller.clean(FRAME, FRAME)
        assert level(rest) < 0.3 * level(heard[at : at + FRAME]) + 0.002


def test_a_look_is_of_the_moment_at_which_it_was_asked_for() -> None:
    """Another thread does the work while the microphone goes on."""
    played = babble(4.4, 1)
    heard = EchoRoom(gain=0.6, delay_s=0.35, reverberation_s=0.2, noise=0.0005, seed=2).hear(played)
    at_once, later = fed(played, heard), fed(played, heard)
    assert at_once.fit(SPARE)
    look = later.look(SPARE)
    later.push(np.full(FRAME, 0.9, dtype=np.float32), np.full(FRAME, -0.9, dtype=np.float32))
    with ThreadPoolExecutor(1) as threads:
        assert later.use(threads.submit(look).result())
    assert later.left == at_once.left
    rest, own = at_once.clean(SPARE, SPARE)
    rest_later, own_later = later.clean(SPARE + FRAME, SPARE)
    assert np.array_equal(rest, rest_later)
    assert np.array_equal(own, own_later)


def test_without_an_echo_nothing_is_taken_away() -> None:
    played, person = babble(4.4, 5), np.zeros(round(4.4 * RATE_HZ), dtype=np.float32)
    person[-SPARE:] = tone(0.2, 0.1)
    heard = EchoRoom(gain=0.0, delay_s=0.0, noise=0.0005, seed=6).hear(played, person)
    canceller = fed(played, heard)
    assert canceller.fit(SPARE)  # known to be nothing: all of it would have come back by now
    rest, own = canceller.clean(SPARE, SPARE)
    assert np.allclose(rest, heard[-SPARE:], atol=1e-4)
    assert not own.any()


@pytest.mark.parametrize("seconds", [0.0, 0.5], ids=["nothing played", "too little"])
def test_it_does_not_answer_for_what_it_has_not_heard(seconds: float) -> None:
    played = babble(4.4, 7)
    played[: len(played) - round(seconds * RATE_HZ)] = 0.0
    heard = EchoRoom(gain=0.6, delay_s=0.1, noise=0.0005, seed=8).hear(played)
    assert not fed(played, heard).fit(SPARE)


@pytest.mark.parametrize("kind", ["drift", "another sound"])
def test_where_the_echo_is_not_ours_to_know_it_says_so_or_does_no_harm(kind: str) -> None:
    """A device whose clocks run apart by 3 parts in a thousand; somebody else's loudspeaker."""
    played = babble(4.4, 9)
    if kind == "drift":
        at = np.arange(len(played)) * 1.003
        echo = (0.5 * np.interp(at, np.arange(len(played)), played)).astype(np.float32)
    else:
        echo = 0.5 * babble(4.4, 10)
    canceller = fed(played, echo)
    if canceller.fit(SPARE):
        rest, _ = canceller.clean(SPARE, SPARE)
        assert level(rest) < 1.1 * level(echo[-SPARE:])


def test_what_comes_back_too_late_to_be_told_is_not_taken_for_nothing() -> None:
    """Two seconds were played, of which the first six tenths have come back, loud."""
    played = babble(4.4, 12)
    played[: round(2.2 * RATE_HZ)] = 0.0
    heard = EchoRoom(gain=0.9, delay_s=1.4, noise=0.0005, seed=13).hear(played)
    canceller = fed(played, heard)
    if canceller.fit(SPARE):
        rest, _ = canceller.clean(SPARE, SPARE)
        assert level(rest) < 0.5 * level(heard[-SPARE:])


def test_silence_and_full_scale_are_no_fault() -> None:
    nothing = np.zeros(3 * RATE_HZ, dtype=np.float32)
    assert not fed(nothing, nothing).fit(SPARE)
    loud = np.sign(babble(4.4, 11)).astype(np.float32)
    canceller = fed(loud, loud)
    canceller.fit(SPARE)
    rest, _ = canceller.clean(FRAME, FRAME)
    assert np.isfinite(rest).all()
