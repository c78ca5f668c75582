"""This machine's loudspeaker, for `firstword say --play`: a thin skin over `sounddevice` and PortAudio.

A server never plays; this is for ears beside the machine. The one rule: what is missing is said before anything is
spoken.
"""

from __future__ import annotations

import importlib
from types import TracebackType
from typing import Any

from firstword.errors import CannotStart
from sound import Pcm


class Loudspeaker:
    """A stream to the default output, mono at `rate_hz`; a context that plays out what it was given on leaving.

    Raises `CannotStart` where the extra, PortAudio or an output device is missing.
    """

    def __init__(self, rate_hz: int) -> None:
        try:
            sounddevice: Any = importlib.import_module("sounddevice")
        except ImportError as missing:
            raise CannotStart(
                "--play needs the extra `play`: pip install 'firstword[play]' (or give --out FILE.wav)"
            ) from missing
        except OSError as missing:
            raise CannotStart(f"--play needs the library PortAudio ({missing}); or give --out FILE.wav") from missing
        try:
            self._stream = sounddevice.OutputStream(samplerate=rate_hz, channels=1, dtype="float32")
            self._stream.start()
        except sounddevice.PortAudioError as fault:
            raise CannotStart(f"there is no loudspeaker to play on ({fault}); give --out FILE.wav") from fault

    def play(self, pcm: Pcm) -> None:
        """Queue `pcm`; waits while the device's own buffer is full."""
        self._stream.write(pcm.samples)

    def __enter__(self) -> Loudspeaker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _fault: BaseException | None, _at: TracebackType | None
    ) -> None:
        (self._stream.stop if kind is None else self._stream.abort)()
        self._stream.close()
