"""The lag: how late, and how loud, the assistant's own voice comes back, told from levels alone.

Loud and quiet stretches of what was played are laid over those of what the microphone read; the shift at which they fit
is the lag. No sample is aligned: a device may be 0.3 to 1.4 s late and drift. The one rule: it says nothing unless the
fit is good, and then keeps what it said until another fit is good.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Levels = NDArray[np.float64]

# The longest way from a sample that was sent to its echo in the microphone: 1.4 s (design/turn.md), and a frame or two.
LONGEST_S = 1.5
# Levels of this many seconds are compared: some fifteen syllables, which fit in one place only.
_OVER_S = 4.0
# The fit is looked for this often; it takes about 30 us.
_EVERY_S = 0.5
# Less speech than this among those levels fits anywhere, and so does a microphone that heard one cough (0.3 to 0.4 s)
# and nothing else: both are one step.
_LEAST_S = 1.0
_HEARD_S = 0.6
# How well levels must follow one another, -1 to 1. Our own voice at a gain of 0.1 and more fits with 0.8 to 0.95 over
# noise of 0.001, with 0.55 at a gain of 0.1 in noise of 0.01; the best shift against somebody else's speech gave 0.32.
_FITS = 0.6
# The silence before an answer fits the silence before a coughing fit over it, and one beginning the other (0.65, 0.71).
# From its beginning on our own voice follows itself with 0.8 to 0.98, and the coughs followed it with 0.42 and 0.59.
_FITS_SPEAKING = 0.7
# What is heard now was played a lag ago, give or take a jittery network, and rings on for a quarter of a second.
JITTER_S = 0.1
RING_S = 0.25
# The gain is read over the loudest that was played about then. In rooms that ring for 0 to 0.5 s two frames in a row
# come to 1.0 to 1.4 times what 95 in 100 stay under; the most of them would be one frame's accident.
_SHARE = 95.0
# Only loud syllables tell the gain; under this the room speaks as well.
_LOUD = 0.05
# A volume knob is followed up at once and down within five seconds, at a fit each half second.
_DOWN = 0.1
# Where loud syllables come back fainter than they did, or not at all (somebody puts headphones on), no fit is needed to
# see it: a quarter of the way each half second, down to nothing within six.
_FAINTER = 0.25
# Two fits in a row must agree by this: a rhythm fits in more than one place, but not in the same one for long.
_AGREE_S = 0.06
# What does not swing by this much is a hum or nothing.
_LOUDER = 3.0
# Levels are compared as logarithms over this, so that one shout does not decide: the swing of a quiet room.
_QUIET = 0.003


class Lag:
    """Follows one stream, a frame of `frame_s` seconds at a time."""

    def __init__(self, *, frame_s: float = 0.02) -> None:
        self._frame_s = frame_s
        self._size = round((_OVER_S + LONGEST_S) / frame_s)
        self._over = round(_OVER_S / frame_s)
        self._every = round(_EVERY_S / frame_s)
        self._least = round(_LEAST_S / frame_s)
        self._least_heard = round(_HEARD_S / frame_s)
        # Rings, each written twice, so that any stretch of them lies in one piece.
        self._played = np.zeros(2 * self._size, dtype=np.float32)
        self._heard = np.zeros(2 * self._size, dtype=np.float32)
        self._counted = np.zeros(2 * self._size, dtype=np.bool_)
        self._at = 0
        self._begun = False
        self._last_fit = -1
        self._due = self._every
        self.seconds: float | None = None
        self.gain = 0.0

    def push(self, played: float, heard: float, *, learn: bool) -> None:
        """The levels of a frame played and of the frame heard at that moment; `learn` is off for a candidate."""
        if not self._begun:
            # Before the first frame the room was as it is: a microphone that opens is no syllable.
            self._heard[:] = heard
            self._begun = True
        at, again = self._at, self._at + self._size
        self._played[at] = self._played[again] = played
        self._heard[at] = self._heard[again] = heard
        self._counted[at] = self._counted[again] = learn
        self._at = (self._at + 1) % self._size
        self._due -= 1
        if self._due <= 0:
            self._due = self._every
            if learn and not self._fit():
                self._fade()

    def loudest(self, from_s: float, to_s: float) -> float:
        """The loudest that was played from `from_s` to `to_s` seconds ago; the frame pushed last is 0 s ago."""
        end = self._at + self._size
        stop = end - max(0, round(from_s / self._frame_s))
        start = max(end - self._size, end - 1 - round(to_s / self._frame_s))
        return float(self._played[start:stop].max()) if start < stop else 0.0

    def _fit(self) -> bool:
        """Look for the lag; False where nothing fits."""
        played, heard, counted = self._recent()
        # A microphone that hears nothing of ours swings by no more than a hum.
        loud = heard > _LOUDER * max(_QUIET, float(heard.min()))
        if np.count_nonzero(played > _QUIET) < self._least or np.count_nonzero(loud & counted) < self._least_heard:
            return False
        fits = follow(_log(played), _log(heard))
        best = int(fits.argmax())
        frames, before = len(fits) - 1 - best, self._last_fit  # the last of `fits` is a lag of nothing
        fitting = fits[best] >= _FITS and _speaking(played, heard, frames)
        self._last_fit = frames if fitting else -1
        if before < 0 or self._last_fit < 0 or abs(frames - before) * self._frame_s > _AGREE_S:
            return False
        gain = self._gain(played, heard, counted, frames)
        if gain is None:
            return False
        self.seconds = frames * self._frame_s
        self.gain += (1.0 if gain > self.gain else _DOWN) * (gain - self.gain)
        return True

    def _fade(self) -> None:
        """Follow a gain that went down so far that nothing fits any more."""
        if self.seconds is None:
            return
        gain = self._gain(*self._recent(), round(self.seconds / self._frame_s))
        if gain is not None and gain < self.gain:
            self.gain += _FAINTER * (gain - self.gain)

    def _recent(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_]]:
        """What was played, and, as long as levels are compared, what was heard and whether it counts."""
        recent = slice(self._at + self._size - self._over, self._at + self._size)
        return self._played[self._at : self._at + self._size], self._heard[recent], self._counted[recent]

    def raise_to(self, gain: float) -> None:
        """The assistant itself was heard this loud."""
        self.gain = max(self.gain, gain)

    def _gain(
        self, played: NDArray[np.float32], heard: NDArray[np.float32], counted: NDArray[np.bool_], lag: int
    ) -> float | None:
        """Heard over the loudest that can have made it."""
        before, after = round(RING_S / self._frame_s), round(JITTER_S / self._frame_s)
        padded = np.concatenate([np.zeros(before, dtype=np.float32), played, np.zeros(after, dtype=np.float32)])
        loudest = np.lib.stride_tricks.sliding_window_view(padded, before + 1 + after).max(axis=1)
        made = loudest[len(loudest) - len(heard) - lag : len(loudest) - lag]
        loud = (made > _LOUD) & counted
        if np.count_nonzero(loud) < self._least:
            return None
        return float(np.percentile(heard[loud] / made[loud], _SHARE))


def follow(played: Levels, heard: Levels) -> Levels:
    """How well `heard` follows each stretch of `played` as long as it, -1 to 1; the last ends where `played` does."""
    count = len(heard)
    centred = heard - heard.mean()
    sums = np.cumsum(np.concatenate([[0.0], played]))
    squares = np.cumsum(np.concatenate([[0.0], np.square(played)]))
    spread = (squares[count:] - squares[:-count]) - np.square(sums[count:] - sums[:-count]) / count
    power = np.sqrt(np.maximum(spread, 0.0) * np.square(centred).sum())
    along = np.correlate(played, centred, "valid")
    fits: Levels = np.divide(along, power, out=np.zeros(len(power)), where=power > 1e-6)
    return fits


def _speaking(played: NDArray[np.float32], heard: NDArray[np.float32], lag: int) -> bool:
    """Whether they fit without what was silent before the first sound of ours."""
    made = played[len(played) - len(heard) - lag : len(played) - lag]
    since = int((made > _QUIET).argmax())
    if not since:
        return True
    return bool(follow(_log(made[since:]), _log(heard[since:]))[0] >= _FITS_SPEAKING)


def _log(levels: NDArray[np.float32]) -> Levels:
    logs: Levels = np.log(np.maximum(levels, _QUIET)).astype(np.float64)
    return logs
