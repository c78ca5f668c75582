"""A room in which the loudspeaker leaks into the microphone.

Gain, delay, reverberation and noise, on whole signals or a frame at a time. It is not a model of any real
room. The one rule: the same seed gives the same room.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]


class EchoRoom:
    """What the microphone reads of what is played: `gain` 0 to 1, `delay_s` 0 to 2, `reverberation_s` to -60 dB."""

    def __init__(
        self,
        *,
        gain: float,
        delay_s: float,
        rate_hz: int = 16_000,
        reverberation_s: float = 0.0,
        noise: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._random = np.random.default_rng(seed)
        self._gain = gain
        self._noise = noise
        self._impulse = self._ring(reverberation_s, rate_hz)
        self._line = np.zeros(round(delay_s * rate_hz), dtype=np.float32)
        self._tail = np.zeros(len(self._impulse) - 1, dtype=np.float64)

    def hear(self, played: Samples, near: Samples | None = None) -> Samples:
        """The microphone while `played` leaves the loudspeaker and `near` is said beside it; same lengths."""
        line = np.concatenate([self._line, played])
        late, self._line = line[: len(played)], line[len(played) :]
        wet = np.convolve(late, self._impulse)
        wet[: len(self._tail)] += self._tail
        self._tail = wet[len(played) :]
        heard = self._gain * wet[: len(played)] + self._noise * self._random.standard_normal(len(played))
        if near is not None:
            heard = heard + near
        return np.clip(heard, -1.0, 1.0).astype(np.float32)

    def _ring(self, reverberation_s: float, rate_hz: int) -> NDArray[np.float64]:
        length = max(1, round(reverberation_s * rate_hz))
        impulse = self._random.standard_normal(length) * 10 ** (-3 * np.arange(length) / length)
        impulse[0] = 1.0
        if length > 1:
            impulse[1:] *= 0.5 / np.abs(impulse[1:]).sum()
        return impulse
