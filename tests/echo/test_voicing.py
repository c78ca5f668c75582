"""Pitch in a person's range."""

from __future__ import annotations

import numpy as np
import pytest

from echo import pitch_hz


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 24_000, 48_000])
@pytest.mark.parametrize("pitch", [80.0, 120.0, 220.0, 380.0])
def test_a_voice_has_its_pitch(pitch: float, rate_hz: int) -> None:
    at = np.arange(int(rate_hz * 0.04)) / rate_hz
    wave = sum(np.sin(2 * np.pi * pitch * n * at) / n for n in range(1, 6)).astype(np.float32)
    found = pitch_hz(wave, rate_hz)
    assert found is not None
    # An octave down repeats as well; what matters is that there is a pitch in range.
    assert min(abs(found - pitch / k) for k in (1, 2, 3, 4)) < 0.08 * pitch


@pytest.mark.parametrize("quiet", [1.0, 1e-3])
def test_a_pitch_is_found_beside_what_is_much_louder_or_softer_than_it(quiet: float) -> None:
    """A word that begins or ends inside the frame: the sums of one end are next to nothing."""
    at = np.arange(640) / 16_000
    wave = sum(np.sin(2 * np.pi * 140 * n * at) / n for n in range(1, 6))
    fading = (wave * np.geomspace(1.0, quiet, len(at))).astype(np.float32)
    found, rising = pitch_hz(fading, 16_000), pitch_hz(fading[::-1].copy(), 16_000)
    assert found is not None
    assert rising is not None
    assert min(abs(found - 140 / k) for k in (1, 2)) < 12


@pytest.mark.parametrize("kind", ["silence", "click", "hiss", "rumble", "nothing"])
def test_other_sounds_have_none(kind: str) -> None:
    at = np.arange(640) / 16_000
    wave = {
        "silence": np.zeros(640),
        "click": np.eye(1, 640, 300)[0],
        "hiss": np.random.default_rng(7).normal(0, 0.2, 640),
        "rumble": np.sin(2 * np.pi * 12 * at),
        "nothing": np.zeros(0),
    }[kind].astype(np.float32)
    assert pitch_hz(wave, 16_000) is None
