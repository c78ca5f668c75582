"""The leak: how much of the assistant's own voice the microphone reads.

Two numbers that follow levels: an envelope of what was read, and a gain, read over the loudest that was played within
the longest lag; they stand as long as the lag is not known. No samples are compared. The one rule: it only learns what
its caller has judged to be nobody.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

# Slow enough that a syllable over the top moves it little, quick enough to follow a volume knob (design: 400 ms).
HALF_LIFE_S = 0.4
# A louder frame lifts both numbers a quarter of the way: a person's first frames, still under the bar, must not lift it
# before them.
ATTACK = 0.25
# The gain follows a volume knob turned down in this many seconds of loud playback.
GAIN_HALF_LIFE_S = 6.0
# Quieter playback than this says nothing about the gain: what the microphone reads then is mostly the room.
GAIN_FROM = 0.05
# What a room's noise reaches over the quietest moment of each half second: no more than twice that.
ROOM = 2.0
# Blocks for the room's noise: the quietest moment of each half second, over the last four seconds. A mean would
# take the speech in for noise.
NOISE_BLOCK_S = 0.5
NOISE_BLOCKS = 8


def level_of(samples: NDArray[np.float32]) -> float:
    """How far the waveform swings from its centre, 0 to 1: the envelope of the frame, not a mean over its spectrum."""
    if not samples.size:
        return 0.0
    top, bottom = float(samples.max()), float(samples.min())
    return (top - bottom) / 2.0


class Leak:
    """The envelope of the leak, and the noise of the room.

    A louder frame lifts it within a few and a quieter one pulls it down by half every `half_life_s`: speech swings by
    syllables, and the envelope has to lie on their tops, or each stressed one would look like somebody.
    """

    def __init__(self, *, half_life_s: float = HALF_LIFE_S) -> None:
        self._half_life_s = half_life_s
        self._envelope = 0.0
        self._gain = 0.0
        self._blocks: deque[float] = deque(maxlen=NOISE_BLOCKS)
        self._quietest = float("inf")
        self._block_s = 0.0

    @property
    def envelope(self) -> float:
        """The level that the assistant's own voice reaches in the microphone."""
        return self._envelope

    @property
    def gain(self) -> float:
        """The level that comes back over the level that is played, at its most."""
        return self._gain

    @property
    def noise(self) -> float:
        """The room's noise: the minimum over blocks; 0 before the first block is full."""
        return min(self._blocks, default=0.0)

    def learn(self, level: float, duration_s: float) -> None:
        """A frame heard while the assistant was audible, judged to be nobody."""
        if level >= self._envelope:
            self._envelope += ATTACK * (level - self._envelope)
            return
        kept: float = 0.5 ** (duration_s / self._half_life_s)
        self._envelope = level + (self._envelope - level) * kept

    def learn_gain(self, level: float, played: float, duration_s: float) -> None:
        """The same frame against the loudest that can have made it."""
        if played < GAIN_FROM:
            return
        gain = max(0.0, level - ROOM * self.noise) / played
        if gain >= self._gain:
            self._gain += ATTACK * (gain - self._gain)
            return
        kept: float = 0.5 ** (duration_s / GAIN_HALF_LIFE_S)
        self._gain = gain + (self._gain - gain) * kept

    def learn_noise(self, level: float, duration_s: float) -> None:
        """A frame heard while nobody was audible."""
        self._quietest = min(self._quietest, level)
        self._block_s += duration_s
        if self._block_s >= NOISE_BLOCK_S:
            self._blocks.append(self._quietest)
            self._quietest, self._block_s = float("inf"), 0.0
