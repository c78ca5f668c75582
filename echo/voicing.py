"""Voicing: does a frame have a pitch a person can have?

Normalised autocorrelation, nothing learned. It tells a voice from a click, a key or a hiss; it does not tell voices
from one another, nor from music. The one rule: a frame too short to hold two periods of the lowest pitch has none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# The pitch of speech: a low man's voice to a child's (design/turn.md).
LOWEST_HZ = 70.0
HIGHEST_HZ = 400.0
# Voiced speech repeats itself by more than half from one period to the next; a hiss stays under 0.3.
PERIODIC = 0.55
# Under this swing there is nothing to measure: 16-bit dither and dead microphones.
_SILENT = 1e-4


def pitch_hz(samples: NDArray[np.float32], rate_hz: int) -> float | None:
    """The pitch of mono `samples` in Hz, or None where there is none from 70 to 400 Hz.

    Give 30 to 50 ms; shorter than two periods of 70 Hz (28.6 ms) finds only the higher pitches.
    """
    # Pitch needs no more than 8 kHz; fewer samples make this cheap enough for every frame.
    step = max(1, rate_hz // 8_000)
    thin = samples[: len(samples) // step * step].reshape(-1, step).mean(axis=1, dtype=np.float64)
    rate = rate_hz / step
    thin = thin - thin.mean() if thin.size else thin
    shortest, longest = int(rate / HIGHEST_HZ), int(rate / LOWEST_HZ)
    longest = min(longest, len(thin) // 2)
    if longest <= shortest or np.abs(thin).max() < _SILENT:
        return None
    lags = np.arange(shortest, longest + 1)
    scores = np.array([_alike(thin, int(lag)) for lag in lags])
    best = int(scores.argmax())
    if scores[best] < PERIODIC or (best == 0 and _still_falling(thin, shortest)):
        return None
    return float(rate / lags[best])


def _alike(wave: NDArray[np.float64], lag: int) -> float:
    """How alike the wave is to itself `lag` samples later, -1 to 1."""
    early, late = wave[:-lag], wave[lag:]
    power = np.sqrt((early @ early) * (late @ late))
    return float(early @ late / power) if power > 0 else 0.0


def _still_falling(wave: NDArray[np.float64], lag: int) -> bool:
    """A slow rumble is alike at every short lag: the first lag is then a slope and no period."""
    return lag > 1 and _alike(wave, lag - 1) > _alike(wave, lag)
