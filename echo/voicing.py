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
    # One lag more at the short end, to see where the first one comes from.
    before = max(1, shortest - 1)
    scores = _alike(thin, before, longest)
    best = int(scores[shortest - before :].argmax()) + shortest - before
    # A slow rumble is alike at every short lag: the first lag is then a slope and no period.
    falling = best == shortest - before and best > 0 and scores[best - 1] > scores[best]
    return None if scores[best] < PERIODIC or falling else float(rate / (before + best))


def _alike(wave: NDArray[np.float64], shortest: int, longest: int) -> NDArray[np.float64]:
    """How alike the wave is to itself `shortest` to `longest` samples later, -1 to 1 each."""
    count = len(wave)
    lags = np.arange(shortest, longest + 1)
    later = np.concatenate([wave[shortest:], np.zeros(longest - shortest)])
    along = np.correlate(later, wave[: count - shortest], "valid")
    squares = np.square(wave)
    # Each sum from its own end: a difference of sums would leave nothing of a quiet one.
    early = np.cumsum(squares)[count - 1 - lags]
    late = np.cumsum(squares[::-1])[count - 1 - lags]
    power = np.sqrt(early * late)
    scores: NDArray[np.float64] = np.divide(along, power, out=np.zeros(len(lags)), where=power > 0)
    return scores
