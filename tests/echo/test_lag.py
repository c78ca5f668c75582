"""How late and how loud our own voice comes back, told from levels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from echo.lag import Lag

FRAME_S = 0.02


def syllables(seconds: float, seed: int = 1) -> np.ndarray:
    """Levels that rise and fall as speech does, with pauses between phrases."""
    random = np.random.default_rng(seed)
    levels: list[float] = []
    while len(levels) < seconds / FRAME_S:
        top, length = random.uniform(0.1, 0.5), int(random.integers(6, 14))
        levels += list(top * np.hanning(length))
        if random.random() < 0.2:
            levels += [0.0] * int(random.integers(5, 20))
    return np.array(levels[: round(seconds / FRAME_S)], dtype=np.float32)


def followed(played: np.ndarray, heard: np.ndarray) -> Lag:
    lag = Lag()
    for one, other in zip(played.tolist(), heard.tolist(), strict=True):
        lag.push(one, other, learn=True)
    return lag


def late(levels: np.ndarray, seconds: float) -> np.ndarray:
    frames = round(seconds / FRAME_S)
    return np.concatenate([np.zeros(frames, dtype=np.float32), levels])[: len(levels)]


@pytest.mark.parametrize("delay_s", [0.0, 0.1, 0.3, 1.0, 1.4])
@pytest.mark.parametrize("gain", [0.1, 0.5, 0.9])
def test_it_finds_the_delay_and_the_gain(delay_s: float, gain: float) -> None:
    played = syllables(8)
    lag = followed(played, gain * late(played, delay_s) + 0.002)
    assert lag.seconds == pytest.approx(delay_s, abs=0.021)
    assert lag.gain == pytest.approx(gain, rel=0.1)


@pytest.mark.parametrize("heard", ["silence", "hum", "somebody-else"])
def test_where_nothing_comes_back_it_says_nothing(heard: str) -> None:
    played = syllables(8)
    other = {
        "silence": np.zeros_like(played),
        "hum": np.full_like(played, 0.05),
        "somebody-else": syllables(8, seed=5),
    }[heard]
    assert followed(played, other).seconds is None


def test_a_microphone_that_opens_is_no_syllable() -> None:
    played = syllables(3)
    hiss = (0.01 + 0.002 * np.random.default_rng(2).random(len(played))).astype(np.float32)
    assert followed(played, hiss).seconds is None


def test_a_volume_knob_is_followed_up_at_once_and_down_slowly() -> None:
    played = syllables(30)
    gains = np.concatenate([np.full(500, 0.3), np.full(500, 0.6), np.full(500, 0.3)]).astype(np.float32)
    lag, seen = Lag(), []
    for one, gain in zip(played.tolist(), gains.tolist(), strict=True):
        lag.push(one, one * gain, learn=True)
        seen.append(lag.gain)
    assert seen[499] == pytest.approx(0.3, rel=0.1)
    assert seen[650] == pytest.approx(0.6, rel=0.1)
    assert 0.35 < seen[1250] < 0.6
    assert seen[-1] < seen[1250]


@pytest.mark.parametrize("coughs", [1, 2, 3])
def test_coughs_while_it_speaks_are_not_its_voice_coming_back(coughs: int) -> None:
    """Three coughs in a row a second into an answer were taken for it, and then nobody could stop it for minutes."""
    burst = 0.3 * np.exp(-np.arange(14) / 5).astype(np.float32)
    told = []
    for seed in range(5):
        for at in range(150, 280, 7):
            played = np.concatenate([np.zeros(150, dtype=np.float32), syllables(4, seed=seed)])
            heard = np.full_like(played, 0.0005)
            for n in range(coughs):
                heard[at + 20 * n : at + 20 * n + len(burst)] = burst
            told.append(followed(played, heard).seconds)
    assert told == [None] * len(told)


def test_somebody_who_puts_headphones_on_need_not_shout() -> None:
    played = syllables(20)
    heard = 0.6 * late(played, 0.1)
    heard[400:] = 0.0005
    lag, seen = Lag(), []
    for one, other in zip(played.tolist(), heard.tolist(), strict=True):
        lag.push(one, other, learn=True)
        seen.append(lag.gain)
    assert seen[399] == pytest.approx(0.6, rel=0.1)
    # So much of the loudest that is played is less than the swing of a quiet microphone.
    assert seen[-1] < 0.03


def test_a_tenth_of_a_second_of_somebody_else_does_not_lift_the_gain() -> None:
    played = syllables(12)
    heard = 0.3 * played
    heard[400:405] = 0.9
    assert followed(played, heard).gain == pytest.approx(0.3, rel=0.15)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32), st.booleans()), max_size=400))
def test_any_levels_give_a_lag_in_range_or_none(frames: list[tuple[float, float, bool]]) -> None:
    lag = Lag()
    for played, heard, learn in frames:
        lag.push(played, heard, learn=learn)
    assert lag.seconds is None or 0.0 <= lag.seconds <= 1.5
    assert lag.gain >= 0.0
    assert lag.loudest(0.0, 1.6) <= 1.0
