"""Sound as a compressed stream: MP3 and Opus as they are made, FLAC once it is whole.

A thin skin over libsndfile, which writes to files; here what it writes goes out at once. The one rule: nothing that was
sent is ever changed, so what a format would write back at its beginning is left out.
"""

from __future__ import annotations

import io
from typing import Any

from sound import Pcm

# The container and the coding that libsndfile knows them by.
FORMATS = {"mp3": ("MP3", "MPEG_LAYER_III"), "flac": ("FLAC", "PCM_16"), "opus": ("OGG", "OPUS")}
# FLAC's header says how long it is, and readers (libsndfile itself) refuse one that says nothing.
_WHOLE = frozenset({"flac"})
# libsndfile begins an MP3 with an empty frame, for the counts of the others that it would write there in the end.
_MP3_HEADER_BYTES = 4
# libsndfile's 0 (largest) to 1: 64 kbit/s at 24 kHz, at which nobody tells speech from its source.
MP3_LEVEL = 0.6
_KBITS_MPEG1 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_KBITS_MPEG2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_RATES_HZ = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}


class Encoder:
    """Mono sound at `rate_hz` in `form` (mp3, flac, opus): `push` and `flush` give the bytes that are certain."""

    def __init__(self, form: str, rate_hz: int) -> None:
        import soundfile

        container, coding = FORMATS[form]
        self._out = _Outlet()
        self._whole = form in _WHOLE
        self._held = b""
        self._begun = form != "mp3"
        how: dict[str, Any] = {"samplerate": rate_hz, "channels": 1, "format": container, "subtype": coding}
        if form == "mp3":
            # At one bit rate a reader can tell from its size how long an MP3 is, without the counts.
            how |= {"bitrate_mode": "CONSTANT", "compression_level": MP3_LEVEL}
        target: Any = self._out
        self._file: Any = soundfile.SoundFile(target, "w", **how)

    def push(self, pcm: Pcm) -> bytes:
        """What `pcm` makes certain; may be empty."""
        self._file.write(pcm.samples.clip(-1.0, 32767 / 32768))
        return b"" if self._whole else self._certain()

    def flush(self) -> bytes:
        """The end."""
        self._file.close()
        if self._whole:
            return self._out.whole()
        data = self._certain()
        rest, self._held = self._held, b""
        return data + rest

    def _certain(self) -> bytes:
        self._held += self._out.take()
        if not self._begun:
            length = _mp3_frame_bytes(self._held)
            if length is None or len(self._held) < length:
                return b""
            if not any(self._held[_MP3_HEADER_BYTES:length]):
                self._held = self._held[length:]
            self._begun = True
        data, self._held = self._held, b""
        return data


class _Outlet(io.RawIOBase):
    """A file that can be written and sought in; `take` gives what was appended since, once."""

    def __init__(self) -> None:
        super().__init__()
        self._bytes = io.BytesIO()
        self._taken = 0

    def write(self, data: Any) -> int:
        return self._bytes.write(bytes(data))

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._bytes.seek(offset, whence)

    def tell(self) -> int:
        return self._bytes.tell()

    def take(self) -> bytes:
        with self._bytes.getbuffer() as held:
            data = bytes(held[self._taken :])
        self._taken += len(data)
        return data

    def whole(self) -> bytes:
        return self._bytes.getvalue()


def _mp3_frame_bytes(data: bytes) -> int | None:
    """The length of the MPEG layer III frame that `data` begins with; None where too little of it is there."""
    if len(data) < _MP3_HEADER_BYTES:
        return None
    version, kbits, rate, padding = (data[1] >> 3) & 3, data[2] >> 4, (data[2] >> 2) & 3, (data[2] >> 1) & 1
    if data[0] != 0xFF or version not in _RATES_HZ or rate > 2 or not 0 < kbits < 15:
        return 0
    table, samples = (_KBITS_MPEG1, 1152) if version == 3 else (_KBITS_MPEG2, 576)
    return samples // 8 * table[kbits] * 1000 // _RATES_HZ[version][rate] + padding
