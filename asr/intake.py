"""The microphone's sound made fit for every stage: mono, 16 kHz, centred on zero.

Any rate, channels and length go in. It judges nothing. The one rule: no sample is made up or lost; a sample's place at
16 kHz is its place in the stream.
"""

from __future__ import annotations

import numpy as np

from asr.features import RATE_HZ
from sound import Pcm, Resampler, Samples, keep_in_range

# A constant offset is followed over about 2 s of 20 ms frames: slow enough to leave the lowest voice alone.
_FOLLOW_S = 2.0


class Intake:
    """One stream's way in."""

    def __init__(self) -> None:
        self._resampler = Resampler(RATE_HZ)
        self._offset: float | None = None

    def push(self, pcm: Pcm) -> Samples:
        """The next samples at 16 kHz; may be empty while the resampler fills."""
        samples = self._resampler.push(pcm).samples
        if not len(samples):
            return samples
        mean = float(samples.mean())
        if self._offset is None:
            self._offset = mean
        else:
            self._offset += min(1.0, len(samples) / (_FOLLOW_S * RATE_HZ)) * (mean - self._offset)
        centred: Samples = samples - np.float32(self._offset)
        return keep_in_range(centred)
