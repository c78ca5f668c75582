"""The sound that is kept: the last stretch of one stream, addressed by absolute sample.

It is a ring that grows up to its bound while somebody speaks and shrinks when they have finished. It decides nothing.
The one rule: appending costs the same however much is held.
"""

from __future__ import annotations

import numpy as np

from sound import Samples

_SMALLEST = 16_000
# Where a long utterance is cut: the quietest 32 ms.
_CUT = 512


class Ring:
    """The newest samples of a stream, at most `bound` of them."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._held = np.zeros(min(_SMALLEST, bound), dtype=np.float32)
        self._keep_from = 0
        # Nothing older was carried over when the memory was last taken; growing brings nothing back.
        self._oldest = 0
        self.stop = 0

    @property
    def capacity(self) -> int:
        """Samples for which memory is taken."""
        return len(self._held)

    @property
    def start(self) -> int:
        """The oldest sample that can still be read."""
        return max(self._oldest, self.stop - len(self._held))

    def keep_from(self, start: int) -> None:
        """Everything from sample `start` on is wanted, up to the bound; what is older may go."""
        self._keep_from = start
        self._fit(0)

    def append(self, samples: Samples) -> None:
        """Add the newest samples; what no longer fits is dropped from the old end."""
        count = len(samples)
        self._fit(count)
        size = len(self._held)
        if count > size:
            self.stop += count - size
            samples, count = samples[-size:], size
        at = self.stop % size
        first = min(count, size - at)
        self._held[at : at + first] = samples[:first]
        self._held[: count - first] = samples[first:]
        self.stop += count

    def skip(self, count: int) -> None:
        """`count` samples were lost: silence stands in for them."""
        self.append(np.zeros(min(count, self._bound), dtype=np.float32))
        self.stop += max(0, count - self._bound)

    def read(self, start: int, stop: int) -> Samples:
        """A copy of samples `start` to `stop`, as far as they are held."""
        start, stop = max(start, self.start), min(stop, self.stop)
        if stop <= start:
            return np.zeros(0, dtype=np.float32)
        size = len(self._held)
        at, count = start % size, stop - start
        first = min(count, size - at)
        return np.concatenate([self._held[at : at + first], self._held[: count - first]])

    def quietest(self, start: int, stop: int) -> int:
        """The middle of the quietest 32 ms between `start` and `stop`: the place to cut where one must."""
        return max(start, self.start) + quietest(self.read(start, stop))

    def _fit(self, coming: int) -> None:
        wanted = min(self._bound, max(_SMALLEST, self.stop + coming - self._keep_from))
        size = len(self._held)
        if wanted > size:
            size = min(self._bound, max(wanted, 2 * size))
        elif wanted > size // 4:
            return
        else:
            size = max(min(_SMALLEST, self._bound), 2 * wanted)
        if size == len(self._held):
            return
        kept = self.read(self.stop - min(size, self.stop - self.start), self.stop)
        self._oldest = self.stop - len(kept)
        self._held = np.zeros(size, dtype=np.float32)
        if len(kept):
            places = np.arange(self.stop - len(kept), self.stop) % size
            self._held[places] = kept


def quietest(samples: Samples) -> int:
    """The middle of the quietest 32 ms of `samples`, as a position in them."""
    count = len(samples) // _CUT
    if not count:
        return len(samples) // 2
    power = np.square(samples[: count * _CUT].reshape(count, _CUT)).mean(axis=1)
    return int(np.argmin(power)) * _CUT + _CUT // 2
