"""The bar a person must be over while the assistant is audible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from echo import Bar, Leak, level_of

RATE_HZ = 16_000
FRAME = 320


def voice(level: float, frames: int = 1, pitch_hz: float = 140.0, start: int = 0) -> list[np.ndarray]:
    """A buzz with harmonics at a person's pitch, its swing `level`."""
    at = (np.arange(frames * FRAME) + start) / RATE_HZ
    wave = sum(np.sin(2 * np.pi * pitch_hz * n * at) / n for n in range(1, 6))
    wave = (wave / np.abs(wave).max() * level).astype(np.float32)
    return list(wave.reshape(frames, FRAME))


def hears(bar: Bar, frames: list[np.ndarray], played: float | None) -> list[bool]:
    return [bar.judge(frame, RATE_HZ, played=played).candidate for frame in frames]


def flat(level: float, frames: int) -> list[np.ndarray]:
    """Frames whose swing is exactly `level`."""
    frame = np.tile(np.array([level, -level], dtype=np.float32), FRAME // 2)
    return [frame] * frames


@pytest.mark.parametrize(
    ("leak", "settles"), [(0.35, 0.48), (0.55, 0.76), (0.0, 0.02)], ids=["0.35", "0.55", "headphones"]
)
def test_a_steady_leak_settles_the_bar(leak: float, settles: float) -> None:
    bar = Bar()
    hears(bar, flat(leak, 100), played=0.95)
    hears(bar, flat(leak, 100), played=0.3)
    assert round(bar.height, 2) == settles


@pytest.mark.parametrize("lag_frames", [0, 20, 70], ids=["at-once", "0.4s", "1.4s"])
def test_e1_a_loud_leak_is_nobody_and_a_louder_voice_is_somebody(lag_frames: int) -> None:
    bar = Bar()
    hears(bar, flat(0.0, lag_frames), played=0.95)
    assert not any(hears(bar, voice(0.55, 100), played=0.95))
    assert any(hears(bar, voice(0.80, 4), played=0.95))


def test_a_quiet_word_interrupts_on_headphones() -> None:
    bar = Bar()
    hears(bar, flat(0.001, 100), played=0.7)
    assert any(hears(bar, voice(0.05, 4), played=0.7))


def test_e5_the_window_stays_open_after_the_last_sample() -> None:
    bar = Bar()
    hears(bar, voice(0.5, 100), played=0.9)
    assert not any(hears(bar, voice(0.5, 10), played=None))
    assert bar.open
    # How late this voice comes back is not known from one steady tone, so the window waits for the longest lag as well.
    hears(bar, flat(0.0, 85), played=None)
    assert not bar.open


@pytest.mark.parametrize(("tx", "found"), [(0.4, False), (0.0, True)], ids=["E8-sending", "E8-quiet"])
def test_e8_before_the_leak_is_known_what_is_played_raises_the_bar(tx: float, found: bool) -> None:
    assert any(hears(Bar(), voice(0.2, 10), played=tx)) is found


def test_talking_over_the_top_does_not_teach_the_bar() -> None:
    bar = Bar()
    hears(bar, flat(0.35, 200), played=0.9)
    before = bar.height
    hears(bar, voice(0.9, 100), played=0.9)
    bar.person()
    assert bar.height == before


def test_a_candidate_that_was_nobody_is_learned_as_leak() -> None:
    bar = Bar()
    hears(bar, flat(0.0, 100), played=0.9)
    assert any(hears(bar, voice(0.4, 10), played=0.9))
    bar.nobody()
    assert not any(hears(bar, voice(0.4, 50), played=0.9))


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_clicks_and_spikes_are_nobody(frames: int) -> None:
    bar = Bar()
    hears(bar, flat(0.1, 100), played=0.9)
    click = np.zeros(FRAME, dtype=np.float32)
    click[100:104] = (0.9, -0.9, 0.5, -0.3)
    assert not any(hears(bar, [click] * frames, played=0.9))
    assert not any(hears(bar, flat(0.0, 5) + voice(0.9, 1) + flat(0.0, 5) + voice(0.9, 1), played=0.9))


def test_a_hiss_is_nobody() -> None:
    bar = Bar()
    hears(bar, flat(0.1, 100), played=0.9)
    hiss = np.random.default_rng(3).uniform(-0.8, 0.8, (50, FRAME)).astype(np.float32)
    assert not any(hears(bar, list(hiss), played=0.9))


def test_noise_is_the_quietest_moment_of_blocks_and_no_mean() -> None:
    leak = Leak()
    for level in [0.03] * 24 + [0.9] * 26 + [0.05] * 25:
        leak.learn_noise(level, 0.02)
    assert leak.noise == 0.03


def test_the_level_is_the_swing_from_the_centre() -> None:
    assert level_of(np.array([0.9, 0.5, 0.7], dtype=np.float32)) == pytest.approx(0.2)
    assert level_of(np.zeros(0, dtype=np.float32)) == 0.0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.0, 1.0, width=32), min_size=1, max_size=80), st.floats(0.01, 1.0))
def test_the_bar_is_never_under_its_floor_nor_over_the_loudest_leak(levels: list[float], played: float) -> None:
    bar = Bar()
    for level in levels:
        height = bar.height
        judged = bar.judge(flat(level, 1)[0], RATE_HZ, played=played)
        assert judged.bar >= 0.02
        assert judged.over == (judged.level > judged.bar)
        assert bar.height <= max(height, 1.39 * max(0.02, played, *levels))
