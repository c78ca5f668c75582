"""The bar: what a person must be louder than while the assistant is audible, and when sound over it is a candidate.

It decides about levels and pitch, not about words: a candidate is a reason to hold playback and listen, not an
interruption. The one rule: a frame is judged before it is added, and while a candidate stands the leak learns nothing.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from echo.lag import JITTER_S, LONGEST_S, RING_S, Lag
from echo.leak import Leak, level_of
from echo.voicing import pitch_hz

# A leak of 0.35 settles the bar at 0.48 and one of 0.55 at 0.76, so the ratio lies between 1.373 and 1.385.
RATIO = 1.38
# Below this the swing of a microphone is breath and room: a quiet word at a headset reads 0.03 and more.
FLOOR = 0.02
# In a noisy room the floor is twice the noise, or the noise would be somebody.
NOISE_RATIO = 2.0
# Before the leak is known it is taken to be this much of what is being played: the loudest that is promised.
PRIOR_GAIN = 0.9
# It counts as known after this much playback (the longest lag is 1.4 s), or as soon as the lag is.
KNOWN_AFTER_S = 2.0
# The window stays open this long after the last sample was played and has come back: rooms ring, and devices buffer.
TAIL_S = 0.3
# Clicks and one-frame spikes are nobody.
ADJACENT = 2
# A quarter of the candidate's frames must have a pitch: typing and coughs have it in fewer.
VOICED_SHARE = 0.25
# Under a bar this low our own voice is too faint to be taken for somebody's beside theirs, and hushing it would cost
# them their consonants ("Stop." becomes "God.").
FAINT = 0.08
# Only the last frames of a run count, so that a long hiss before a word does not hide the word.
_RUN = 10
# What a candidate read is kept for `nobody`, up to the longest hold.
_CANDIDATE_FRAMES = 150


@dataclass(frozen=True, slots=True)
class Judged:
    """One frame's judgement: its level, the bar it met, whether it was over it, and whether it makes a candidate.

    `own` says that the assistant's own voice may be all there is in it: it is expected now, and the frame is under the
    bar. `voiced_s` is how much of the candidate that stands has had a pitch.
    """

    level: float
    bar: float
    over: bool
    candidate: bool
    own: bool = False
    voiced_s: float = 0.0


class Bar:
    """Judges the microphone, a frame at a time (20 ms suits). `floor` is the lowest bar."""

    def __init__(self, *, floor: float = FLOOR, leak: Leak | None = None) -> None:
        self._floor = floor
        self._leak = leak or Leak()
        self._run: deque[bool] = deque(maxlen=_RUN)
        self._previous: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self._audible_s = 0.0
        self._since_played_s = float("inf")
        self._lag = Lag()
        self._expected = 0.0
        self._loudest = 0.0
        self._standing = False
        self._voiced_s = 0.0
        self._unjudged: list[tuple[float, float, float]] = []

    @property
    def open(self) -> bool:
        """The assistant is audible, or what it said last can still come back."""
        lag = self._lag.seconds if self._lag.seconds is not None else LONGEST_S
        return self._since_played_s <= TAIL_S + (lag if self.on_loudspeakers else 0.0)

    @property
    def height(self) -> float:
        """The bar now."""
        if self._lag.seconds is not None:
            leak = self._lag.gain * self._expected
        elif self._known:
            leak = max(self._leak.envelope, self._leak.gain * self._expected)
        else:
            leak = max(self._leak.envelope, PRIOR_GAIN * self._expected)
        return self.above(leak)

    def above(self, leak: float) -> float:
        """The bar over a leak of this level."""
        return max(self.lowest, RATIO * leak)

    @property
    def on_loudspeakers(self) -> bool:
        """The leak is known, and lifts the bar over its floor."""
        gain = self._leak.gain if self._lag.seconds is None else self._lag.gain
        return self._known and RATIO * gain * self._loudest > self.lowest

    @property
    def may_leak(self) -> bool:
        """Our own voice may be in the microphone: on loudspeakers, and until that is known."""
        return self.on_loudspeakers or not self._known

    @property
    def lowest(self) -> float:
        """The bar where nothing of ours is heard."""
        return max(self._floor, NOISE_RATIO * self._leak.noise)

    @property
    def _known(self) -> bool:
        return self._lag.seconds is not None or self._audible_s >= KNOWN_AFTER_S

    def judge(self, samples: NDArray[np.float32], rate_hz: int, *, played: float | None) -> Judged:
        """Judge one mono frame.

        `played` is the level of what the assistant plays at this moment, or None where it plays nothing. Outside the
        window no frame is a candidate: there everything is a person's.
        """
        duration_s = len(samples) / rate_hz
        level = level_of(samples)
        self._expect(duration_s, played)
        bar = self.height
        over = level > bar
        own = not over and bar > max(self.lowest, FAINT)
        self._lag.push(played or 0.0, level, learn=played is not None and not self._standing)
        if not self.open and not self._standing:
            self._run.clear()
            self._previous = samples
            self._leak.learn_noise(level, duration_s)
            return Judged(level, bar, over, candidate=False, own=own)
        # Once playback is held nothing of ours is expected, and a person need not be loud any more.
        alone = self._standing and bar <= self.lowest
        voiced = (over or alone) and pitch_hz(np.concatenate([self._previous, samples]), rate_hz) is not None
        self._previous = samples
        if over:
            self._run.append(voiced)
        elif not self._standing:
            self._run.clear()
            self._voiced_s = 0.0
        candidate = len(self._run) >= ADJACENT and sum(self._run) >= max(1.0, VOICED_SHARE * len(self._run))
        self._voiced_s += duration_s * voiced
        self._standing = self._standing or candidate
        if self._standing:
            if len(self._unjudged) < _CANDIDATE_FRAMES:
                self._unjudged.append((level, self._expected, duration_s))
        elif not over:
            self._leak.learn(level, duration_s)
            self._leak.learn_gain(level, self._expected, duration_s)
        return Judged(level, bar, over, candidate, own, self._voiced_s if self._standing else 0.0)

    def person(self) -> None:
        """The candidate was a person: nothing it said is learned."""
        self._settle()

    def nobody(self, *, own: bool = False) -> None:
        """The candidate was nobody: its level is learned. `own`: it was the assistant, so the gain is learned too.

        A cough is no leak: it may lift the envelope, which forgets it, but not the gain.
        """
        for level, expected, duration_s in self._unjudged:
            self._leak.learn(level, duration_s)
            if own:
                self._leak.learn_gain(level, expected, duration_s)
        loud = [level / expected for level, expected, _ in self._unjudged if expected > 0]
        if own and loud:
            self._lag.raise_to(float(np.median(loud)))
        self._settle()

    def _settle(self) -> None:
        self._standing = False
        self._voiced_s = 0.0
        self._unjudged.clear()
        self._run.clear()

    def _expect(self, duration_s: float, played: float | None) -> None:
        """What is played is known before it is heard."""
        if played is None:
            self._since_played_s += duration_s
        else:
            self._since_played_s = 0.0
            self._audible_s += duration_s
            self._loudest = max(played, self._loudest)
        lag = self._lag.seconds
        if lag is None:
            self._expected = max(played or 0.0, self._lag.loudest(0.0, LONGEST_S + RING_S))
        else:
            now = played if played is not None and lag <= JITTER_S else 0.0
            self._expected = max(now, self._lag.loudest(lag - JITTER_S, lag + RING_S))
