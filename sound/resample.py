"""Resampling: one stateful stream from any rate to one rate, mono.

It is a thin skin over libsoxr. The one rule: a stream has one `Resampler` for its whole life; resampling chunk by
chunk puts a click at every seam.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sound.errors import SoundError
from sound.pcm import Pcm


class Resampler:
    """Mono at `rate_hz`, whatever comes in. A change of the incoming rate empties the filter and starts another.

    The filter needs a few milliseconds of sound before it gives some back; `flush` returns the rest.
    """

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self._from_hz = rate_hz
        self._stream: _Stream | None = None

    def push(self, pcm: Pcm) -> Pcm:
        """The next stretch, as far as the filter can give it; may be empty."""
        mono = pcm.mono()
        if mono.rate_hz != self._from_hz:
            rest = self.flush()
            self._from_hz = mono.rate_hz
            return Pcm.join([rest, self.push(mono)])
        if mono.rate_hz == self.rate_hz:
            return mono
        if self._stream is None:
            self._stream = _Stream(mono.rate_hz, self.rate_hz)
        return Pcm(self._stream.chunk(mono.samples, last=False), self.rate_hz)

    def flush(self) -> Pcm:
        """What the filter still holds; afterwards the stream may begin anew."""
        if self._stream is None:
            return Pcm.silence(0, self.rate_hz)
        rest = self._stream.chunk(np.zeros(0, dtype=np.float32), last=True)
        self._stream = None
        return Pcm(rest, self.rate_hz)


def resample(pcm: Pcm, rate_hz: int) -> Pcm:
    """A whole recording as mono at `rate_hz`. For streams use `Resampler`."""
    stream = Resampler(rate_hz)
    return Pcm.join([stream.push(pcm), stream.flush()])


class _Stream:
    """One soxr stream."""

    def __init__(self, from_hz: int, to_hz: int) -> None:
        self._inner = _soxr().ResampleStream(from_hz, to_hz, 1, dtype="float32", quality="HQ")

    def chunk(self, samples: np.ndarray, *, last: bool) -> np.ndarray:
        out: np.ndarray = self._inner.resample_chunk(samples, last=last)
        return out


@lru_cache(maxsize=1)
def _soxr():  # type: ignore[no-untyped-def]
    try:
        import soxr
    except ImportError as missing:  # a broken wheel, not an option: soxr is in the base install
        raise SoundError(f"soxr cannot be loaded ({missing}); run ./start --setup again") from missing
    return soxr
