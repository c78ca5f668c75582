"""The lag: how late the assistant's own voice comes back, told from levels alone.

Loud and quiet stretches of what was played are laid over those of what the microphone read; the shift at which they fit
is the lag. No sample is aligned: a device may be 0.3 to 1.4 s late and drift. The one rule: it says nothing unless the
fit is good, and then keeps what it said until another fit is good.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Levels = NDArray[np.float64]

# The longest way from a sample that was sent to its echo in the microphone (design/turn.md).
LONGEST_S = 1.4
# Levels of this many seconds are compared: some fifteen syllables, which fit in one place only.
_OVER_S = 4.0
# The fit is looked for this often; it takes about 30 us.
_EVERY_S = 0.5
# Less speech than this among those levels fits anywhere.
_LEAST_S = 1.0
# How well levels must follow one another, -1 to 1. Our own voice at a gain of 0.1 and more fits with 0.8 to 0.95 over
# noise of 0.001, with 0.55 at a gain of 0.1 in noise of 0.01; the best shift against somebody else's speech gave 0.32.
_FITS = 0.6
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
        # Two rings, each written twice, so that any stretch of them lies in one piece.
        self._played = np.zeros(2 * self._size, dtype=np.float32)
        self._heard = np.zeros(2 * self._size, dtype=np.float32)
        self._at = 0
        self._due = self._every
        self.seconds: float | None = None

    def push(self, played: float, heard: float, *, learn: bool) -> None:
        """The levels of a frame played and of the frame heard at that moment; `learn` is off while somebody speaks."""
        for ring, level in ((self._played, played), (self._heard, heard)):
            ring[self._at] = ring[self._at + self._size] = level
        self._at = (self._at + 1) % self._size
        self._due -= 1
        if self._due <= 0:
            self._due = self._every
            if learn:
                self._fit()

    def loudest(self, from_s: float, to_s: float) -> float:
        """The loudest that was played from `from_s` to `to_s` seconds ago; the frame pushed last is 0 s ago."""
        end = self._at + self._size
        stop = end - max(0, round(from_s / self._frame_s))
        start = max(end - self._size, end - 1 - round(to_s / self._frame_s))
        return float(self._played[start:stop].max()) if start < stop else 0.0

    def _fit(self) -> None:
        played = self._played[self._at : self._at + self._size]
        heard = self._heard[self._at + self._size - self._over : self._at + self._size]
        if np.count_nonzero(played > _QUIET) < self._least or heard.max() < _QUIET:
            return
        fits = follow(_log(played), _log(heard))
        best = int(fits.argmax())
        if fits[best] >= _FITS:
            # The last of `fits` is a lag of nothing.
            self.seconds = (len(fits) - 1 - best) * self._frame_s


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


def _log(levels: NDArray[np.float32]) -> Levels:
    logs: Levels = np.log(np.maximum(levels, _QUIET)).astype(np.float64)
    return logs
