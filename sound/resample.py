"""Resampling: one stateful stream from any rate to one rate, mono.

It is a thin skin over libsoxr. The one rule: a stream has one `Resampler` for its whole life; resampling chunk by
chunk puts a click at every seam.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sound.errors import SoundError
from sound.pcm import Pcm

# Wideband sound.
_WIDE_HZ = 16_000
# After so much digital silence a live filter holds nothing else (it reaches back 15 ms at most).
_EMPTY_S = 0.1


class Resampler:
    """Mono at `rate_hz`, whatever comes in. A change of the incoming rate empties the filter and starts another.

    The filter holds 5 to 15 ms of sound back, always the same; `flush` returns the rest. libsoxr's own choice of filter
    for two fixed rates works in blocks and holds up to 42 ms (21 on average from 24 to 16 kHz, where this one holds
    10), and whoever waits for the end of somebody's speech waits through it too. The filter for rates that may vary
    does not: it is as flat up to 0.9 of the lower band, its aliases are as far down (110 dB), it takes 0.8 ms of a core
    more a second of sound (3 from 48 kHz), and it is 0.25 ms early or late at most. Below 16 kHz the other one stays:
    it is flat up to 0.93, and a telephone has no band to spare.
    """

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self._from_hz = rate_hz
        self._stream: _Stream | None = None
        self._live = False
        self._silent = 0

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
            self._live = min(mono.rate_hz, self.rate_hz) >= _WIDE_HZ
            self._stream = _Stream(mono.rate_hz, self.rate_hz, live=self._live)
            self._silent = 0
        if self._live and not mono.samples.any():
            # What stands in for our own voice is silence, as long as it speaks: it comes out as silence, and the filter
            # is where it was.
            count, part = divmod(len(mono) * self.rate_hz, self._from_hz)
            if not part and self._silent >= _EMPTY_S * self._from_hz:
                return Pcm.known(np.zeros(count, dtype=np.float32), self.rate_hz)
            self._silent += len(mono)
        else:
            self._silent = 0
        return Pcm(self._stream.chunk(mono.samples, last=False), self.rate_hz)

    def flush(self) -> Pcm:
        """What the filter still holds; afterwards the stream may begin anew."""
        if self._stream is None:
            return Pcm.silence(0, self.rate_hz)
        rest = self._stream.chunk(np.zeros(0, dtype=np.float32), last=True)
        self._stream = None
        return Pcm(rest, self.rate_hz)


def resample(pcm: Pcm, rate_hz: int) -> Pcm:
    """A whole recording as mono at `rate_hz`, each sample in its place. For streams use `Resampler`."""
    mono = pcm.mono()
    if mono.rate_hz == rate_hz:
        return mono
    return Pcm(_Stream(mono.rate_hz, rate_hz, live=False).chunk(mono.samples, last=True), rate_hz)


class _Stream:
    """One soxr stream; a `live` one holds little back."""

    def __init__(self, from_hz: int, to_hz: int, *, live: bool) -> None:
        self._inner = _soxr().ResampleStream(from_hz, to_hz, 1, dtype="float32", quality="HQ", vr=live)

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
