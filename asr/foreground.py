"""The person at the microphone, or people behind them? Levels and voice probabilities in, a yes or no out.

A voice detector calls a roomful of talkers speech, so that a turn in a café would never end. It is pure numbers and
knows nothing of words. The one rule: beside silence and steady noise the detector's word stands, as soon as there is a
little more than they are.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from sound import Samples

# The background is what was heard in the last 3 s in which nobody was in front of it.
_MEMORY = 94
# Until this many windows (0.2 s) of it have been heard nobody is in front of it; the pre-roll keeps what they said.
_LEAST = 6
# It is voices where the detector says so of a quarter of it: of silence and of steady noise it says so of nothing.
_VOICES = 0.25
# Louder than this it is no background: the microphone was opened in the middle of a word.
_LOUDEST_DB = -30.0
VOICE_LIKE = 0.1
# In front is who is this much over the middle of the background.
OVER_DB = 10.0
_OVER_NOISE_DB = 3.0
# A person in front stays there for 250 ms, through soft syllables.
HOLD = 8
# Nobody speaks for 10 s without a gap: then the background itself has become louder.
_LONGEST = 312
# Digital silence is a microphone that was muted, or what stands in for our own voice: one window in four of it counts,
# so that who is behind is remembered through an answer.
_DEAD_COUNTS = 4
_SILENT_POWER = 1e-10


class Foreground:
    """One stream's background."""

    def __init__(self, *, likely: float) -> None:
        self._likely = likely
        self._last_power = 0.0
        self._behind: deque[tuple[float, bool]] = deque(maxlen=_MEMORY)
        self._held = 0
        self._run = 0
        self._dead = 0
        self._since = HOLD

    @property
    def crowded(self) -> bool:
        """Whether what is behind is voices."""
        voices = [voice for _, voice in self._behind]
        return len(voices) >= _LEAST and sum(voices) > _VOICES * len(voices)

    def hears(self, window: Samples, probability: float) -> bool:
        """Whether what speaks in `window` (32 ms) is in front of what is behind; `probability` is the detector's."""
        power = float(np.dot(window, window)) / len(window)
        # Two windows together, so that the closure of a plosive is not taken for the background.
        level_db = 10 * float(np.log10(max(_SILENT_POWER, (power + self._last_power) / 2)))
        self._last_power = power
        voice = probability >= self._likely
        front = voice and self._in_front(level_db)
        self._run = self._run + 1 if front else 0
        self._since = 0 if front else self._since + 1
        if self._run > _LONGEST:
            self._behind.clear()
            self._run = 0
        self._dead = self._dead + 1 if not power else 0
        # What follows a person at once is the end of their word, not what is behind them.
        settled = self._since > HOLD and (level_db <= _LOUDEST_DB or not voice)
        if settled and (self._dead % _DEAD_COUNTS == 0 or len(self._behind) < _LEAST):
            self._behind.append((level_db, probability >= VOICE_LIKE))
        return front

    def _in_front(self, level_db: float) -> bool:
        if len(self._behind) < _LEAST:
            return level_db > _LOUDEST_DB
        over_db = OVER_DB if self.crowded else _OVER_NOISE_DB
        if level_db > float(np.median([level for level, _ in self._behind])) + over_db:
            self._held = HOLD
            return True
        self._held -= 1
        return self._held > 0
