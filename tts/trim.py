"""Near-silence at the edges of a piece goes: it is time that somebody waits.

Pure, on blocks of samples as they are made. The one rule: nothing between the first and the last audible sample
changes.
"""

from __future__ import annotations

import numpy as np

from sound import AUDIBLE, Samples

# Kept before the first audible sample, so that a soft onset is not chopped; faded in over the first part of it. Whoever
# waits hears it as waiting.
LEAD_S = 0.015
FADE_S = 0.005
# Kept after the last: endings are softer than beginnings.
TAIL_S = 0.045
TAIL_AUDIBLE = 0.003


class EdgeTrim:
    """One piece's trim: `push` blocks, `flush` the end; each gives the samples that are certain to stay."""

    def __init__(self, rate_hz: int, *, tail: bool = True) -> None:
        self._lead = round(LEAD_S * rate_hz)
        self._fade = round(FADE_S * rate_hz)
        self._keep = round(TAIL_S * rate_hz)
        self._tail = tail
        self._held: Samples = np.zeros(0, dtype=np.float32)
        self._owed = 0
        self._begun = False

    def push(self, block: Samples) -> Samples:
        """What `block` makes certain; quiet samples wait for the sound that follows them."""
        held = np.concatenate([self._held, block])
        if not self._begun:
            heard = np.flatnonzero(np.abs(held) > AUDIBLE)
            if not len(heard):
                self._held = held[-self._lead :] if self._lead else held[:0]
                return held[:0]
            start = max(0, int(heard[0]) - self._lead)
            held = held[start:]
            if start:
                held[: self._fade] *= np.linspace(0, 1, min(self._fade, len(held)), dtype=np.float32)
            self._begun = True
        last = np.flatnonzero(np.abs(held) > TAIL_AUDIBLE) if self._tail else [len(held) - 1]
        # Sound that ends near the end of a block has part of its ending in the next one.
        kept = int(last[-1]) + 1 + self._keep if len(last) else self._owed
        stop = min(len(held), kept)
        self._owed = kept - stop
        self._held = held[stop:]
        return held[:stop]

    def flush(self) -> Samples:
        """The end: what waits is silence, and goes."""
        self._held = self._held[:0]
        return self._held
