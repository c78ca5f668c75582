"""WebRTC's own echo canceller, before anything is judged: an option, where the extra `livekit` is installed.

It adapts to what it hears all the time, where ours is fitted once somebody may be there; the bar, the hold and our own
canceller come after it and stay as they are. It decides nothing. The one rule: a sample that goes in comes out, in
order, and what cannot be processed comes out as it is.
"""

from __future__ import annotations

import numpy as np
from livekit import rtc

from sound import Pcm, Samples
from voice.answer import OUT_HZ

# The module takes stretches of exactly 10 ms.
_IN_A_SECOND = 100
_FAR = OUT_HZ // _IN_A_SECOND


class WebrtcCanceller:
    """One session's. A stretch that is no whole number of 10 ms leaves its rest for the next call."""

    def __init__(self) -> None:
        self._module = rtc.AudioProcessingModule(echo_cancellation=True)
        self._far: Samples = np.zeros(0, dtype=np.float32)
        self._near: Samples = np.zeros(0, dtype=np.float32)
        self._rate_hz = 0

    def clean(self, heard: Pcm, sounding: Pcm | None) -> Pcm:
        """The next stretch of microphone, mono, without what sounds meanwhile at 24 kHz (None for nothing)."""
        if heard.rate_hz % _IN_A_SECOND:
            return heard
        if heard.rate_hz != self._rate_hz:
            self._rate_hz, self._near, self._far = heard.rate_hz, self._near[:0], self._far[:0]
        far = sounding or Pcm.silence(heard.duration_s, OUT_HZ)
        self._far = np.concatenate([self._far, far.samples])
        near = np.concatenate([self._near, heard.samples])
        size = heard.rate_hz // _IN_A_SECOND
        whole = len(near) - len(near) % size
        self._near = near[whole:]
        cleaned = [self._step(near[at : at + size]) for at in range(0, whole, size)]
        return Pcm.join(cleaned) if cleaned else Pcm.silence(0, heard.rate_hz)

    def _step(self, near: Samples) -> Pcm:
        """10 ms: first what sounds, then what is heard meanwhile."""
        sounds = np.zeros(_FAR, dtype=np.float32)
        came = self._far[:_FAR]
        sounds[: len(came)] = came
        self._far = self._far[_FAR:]
        self._module.process_reverse_stream(_frame(sounds, OUT_HZ))
        frame = _frame(near, self._rate_hz)
        self._module.process_stream(frame)
        return Pcm.from_s16le(frame.data.tobytes(), self._rate_hz)


def _frame(samples: Samples, rate_hz: int) -> rtc.AudioFrame:
    return rtc.AudioFrame(bytearray(Pcm(samples, rate_hz).to_s16le()), rate_hz, 1, len(samples))
