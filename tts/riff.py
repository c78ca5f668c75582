"""WAV headers: read from a stream cut anywhere, and written for a stream whose length nobody knows yet.

It handles 16-bit PCM, which is what speech is sent as. The one rule: a header is looked for once, at the very start;
later bytes that look like one are sound.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tts.errors import TtsError

# A header with more than this before its data is no header that we know.
LONGEST_BYTES = 8_192
UNKNOWN = 0xFFFFFFFF
_PCM, _EXTENSIBLE = 1, 0xFFFE


@dataclass(frozen=True, slots=True)
class Begun:
    """Where sound begins: the bytes after the header; `rate_hz` is 0 where there was no header."""

    rest: bytes
    rate_hz: int = 0
    channels: int = 1


class Header:
    """The start of a body. `push` gives None until it is clear where sound begins. Raises `TtsError`."""

    def __init__(self) -> None:
        self._held = b""

    @property
    def held(self) -> int:
        """Bytes that look like the start of a header and are not complete."""
        return len(self._held) if self._held[:4] == b"RIFF"[: len(self._held)] else 0

    def push(self, data: bytes) -> Begun | None:
        """The next bytes of the body."""
        self._held += data
        held = self._held
        if held[:4] != b"RIFF"[: len(held)]:
            return Begun(held)
        if len(held) < 12:
            return None
        if held[8:12] != b"WAVE":
            return Begun(held)
        at, rate_hz, channels = 12, 0, 1
        while at + 8 <= len(held):
            name, size = held[at : at + 4], struct.unpack("<I", held[at + 4 : at + 8])[0]
            if name == b"data":
                if not rate_hz:
                    raise TtsError("a WAV header without its format came from the speech endpoint")
                return Begun(held[at + 8 :], rate_hz, channels)
            if name == b"fmt ":
                if at + 24 > len(held):
                    break
                kind, channels, rate_hz = struct.unpack("<HHI", held[at + 8 : at + 16])
                bits = struct.unpack("<H", held[at + 22 : at + 24])[0]
                if kind not in (_PCM, _EXTENSIBLE) or bits != 16 or not 1 <= channels <= 8:
                    raise TtsError(f"WAV of kind {kind} with {bits} bits came; the endpoint must send 16-bit PCM")
            at += 8 + size + size % 2
        if len(held) > LONGEST_BYTES:
            raise TtsError("a WAV header without an end came from the speech endpoint")
        return None


def endless_header(rate_hz: int) -> bytes:
    """A header for mono 16-bit PCM of unknown length, as players of streams take it."""
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, _PCM, 1, rate_hz, rate_hz * 2, 2, 16)
    return struct.pack("<4sI4s", b"RIFF", UNKNOWN, b"WAVE") + fmt + struct.pack("<4sI", b"data", UNKNOWN)
