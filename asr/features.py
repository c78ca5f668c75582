"""Log-mel features as Whisper was trained on them: 80 bands, 25 ms windows every 10 ms, at 16 kHz.

The recogniser and the smart-turn witness both read them. It loads no model. The one rule: the caller pads the sound
first, because the models were trained on padded sound and not on padded features.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from sound import Samples

RATE_HZ = 16_000
BANDS = 80
HOP = 160
_FFT = 400
# Whisper's dynamic range: 8 powers of ten under the loudest point.
_RANGE = 8.0
_FLOOR = 1e-10
# Slaney's mel scale: linear (200/3 Hz a mel) up to 1 kHz, then logarithmic with 27 steps to 6.4 kHz.
_LINEAR_HZ = 200.0 / 3
_KNEE_HZ = 1_000.0
_STEP = np.log(6.4) / 27.0


def log_mel(samples: Samples) -> Samples:
    """Features of shape (80, len(samples) // 160), float32. `samples` is mono at 16 kHz and at least 200 long."""
    padded = np.pad(samples, _FFT // 2, mode="reflect")
    frames = sliding_window_view(padded, _FFT)[::HOP][: len(samples) // HOP]
    spectrum = np.fft.rfft(frames * _window(), axis=1)
    power = np.square(spectrum.real) + np.square(spectrum.imag)
    mel = _bank() @ power.T
    log = np.log10(np.maximum(mel, _FLOOR))
    log = np.maximum(log, log.max() - _RANGE)
    return np.ascontiguousarray((log + 4.0) / 4.0, dtype=np.float32)


@lru_cache(maxsize=1)
def _window() -> Samples:
    """A periodic Hann window."""
    window: Samples = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_FFT) / _FFT)).astype(np.float32)
    return window


@lru_cache(maxsize=1)
def _bank() -> Samples:
    """Triangles of equal area, (80, 201)."""
    bins_hz = np.linspace(0, RATE_HZ / 2, _FFT // 2 + 1)
    edges_hz = _mel_to_hz(np.linspace(0.0, _hz_to_mel(RATE_HZ / 2), BANDS + 2))
    low, centre, high = edges_hz[:-2, None], edges_hz[1:-1, None], edges_hz[2:, None]
    rising = (bins_hz - low) / (centre - low)
    falling = (high - bins_hz) / (high - centre)
    triangles = np.clip(np.minimum(rising, falling), 0.0, None) * (2.0 / (high - low))
    bank: Samples = triangles.astype(np.float32)
    return bank


def _hz_to_mel(hz: float) -> float:
    return float(_KNEE_HZ / _LINEAR_HZ + np.log(hz / _KNEE_HZ) / _STEP)


def _mel_to_hz(mel: np.ndarray) -> np.ndarray:
    knee = _KNEE_HZ / _LINEAR_HZ
    return np.where(mel < knee, mel * _LINEAR_HZ, _KNEE_HZ * np.exp(_STEP * (mel - knee)))
