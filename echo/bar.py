"""The bar: what a person must be louder than while the assistant is audible, and when sound over it is a candidate.

It decides about levels and pitch, not about words: a candidate is a reason to hold playback and listen, not an
interruption. The one rule: a frame is judged before it is added, and while a candidate stands the leak learns nothing.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from echo.leak import Leak, level_of
from echo.voicing import pitch_hz

# A leak of 0.35 settles the bar at 0.48 and one of 0.55 at 0.76, so the ratio lies between 1.373 and 1.385.
RATIO = 1.38
# Below this the swing of a microphone is breath and room: a quiet word at a headset reads 0.03 and more.
FLOOR = 0.02
# In a noisy room the floor is twice the noise, or the noise would be somebody.
NOISE_RATIO = 2.0
# Before the leak is known it is taken to be this much of what is being played; louder leaks cost one hold.
PRIOR_GAIN = 0.6
# The leak counts as known after this much playback: the longest lag between loudspeaker and microphone is 1.4 s.
KNOWN_AFTER_S = 1.5
# The window stays open this long after the last sample was played: rooms ring, and devices buffer.
TAIL_S = 0.3
# Clicks and one-frame spikes are nobody.
ADJACENT = 2
# A quarter of the candidate's frames must have a pitch: typing and coughs have it in fewer.
VOICED_SHARE = 0.25
# Only the last frames of a run count, so that a long hiss before a word does not hide the word.
_RUN = 10
# What a candidate read is kept for `nobody`, up to the longest hold.
_CANDIDATE_FRAMES = 150


@dataclass(frozen=True, slots=True)
class Judged:
    """One frame's judgement: its level, the bar it met, whether it was over it, and whether it makes a candidate."""

    level: float
    bar: float
    over: bool
    candidate: bool


class Bar:
    """Judges the microphone, a frame at a time (20 ms suits). `floor` is the lowest bar."""

    def __init__(self, *, floor: float = FLOOR, leak: Leak | None = None) -> None:
        self._floor = floor
        self._leak = leak or Leak()
        self._run: deque[bool] = deque(maxlen=_RUN)
        self._previous: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self._audible_s = 0.0
        self._since_played_s = float("inf")
        self._played: deque[tuple[float, float]] = deque()
        self._standing = False
        self._unjudged: list[tuple[float, float]] = []

    @property
    def open(self) -> bool:
        """The assistant is audible, or was within the last 300 ms."""
        return self._since_played_s <= TAIL_S

    @property
    def height(self) -> float:
        """The bar now."""
        leak = self._leak.envelope
        if self._audible_s < KNOWN_AFTER_S:
            leak = max(leak, PRIOR_GAIN * max((level for _, level in self._played), default=0.0))
        return max(self._floor, NOISE_RATIO * self._leak.noise, RATIO * leak)

    @property
    def on_loudspeakers(self) -> bool:
        """The leak lifts the bar over its floor."""
        return self.height > max(self._floor, NOISE_RATIO * self._leak.noise)

    def judge(self, samples: NDArray[np.float32], rate_hz: int, *, played: float | None) -> Judged:
        """Judge one mono frame.

        `played` is the level of what the assistant plays at this moment, or None where it plays nothing. Outside the
        window no frame is a candidate: there everything is a person's.
        """
        duration_s = len(samples) / rate_hz
        self._keep_time(duration_s, played)
        level, bar = level_of(samples), self.height
        over = level > bar
        if not self.open:
            self._run.clear()
            self._previous = samples
            self._leak.learn_noise(level, duration_s)
            return Judged(level, bar, over, candidate=False)
        voiced = over and pitch_hz(np.concatenate([self._previous, samples]), rate_hz) is not None
        self._previous = samples
        if over:
            self._run.append(voiced)
        elif not self._standing:
            self._run.clear()
        candidate = len(self._run) >= ADJACENT and sum(self._run) >= max(1.0, VOICED_SHARE * len(self._run))
        self._standing = self._standing or candidate
        if self._standing:
            if len(self._unjudged) < _CANDIDATE_FRAMES:
                self._unjudged.append((level, duration_s))
        elif not over:
            self._leak.learn(level, duration_s)
        return Judged(level, bar, over, candidate)

    def person(self) -> None:
        """The candidate was a person: nothing it said is learned."""
        self._settle()

    def nobody(self) -> None:
        """The candidate was nobody: what it read was the leak after all, and is learned."""
        for level, duration_s in self._unjudged:
            self._leak.learn(level, duration_s)
        self._settle()

    def _settle(self) -> None:
        self._standing = False
        self._unjudged.clear()
        self._run.clear()

    def _keep_time(self, duration_s: float, played: float | None) -> None:
        if played is None:
            self._since_played_s += duration_s
        else:
            self._since_played_s = 0.0
            self._audible_s += duration_s
        self._played = deque((age + duration_s, was) for age, was in self._played if age < KNOWN_AFTER_S)
        if played:
            self._played.append((0.0, played))
