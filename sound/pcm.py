"""PCM, the one value in which sound crosses a room's border.

It is samples with their rate and their channels; it is not a bare `bytes`, whose rate somebody would have to remember.
The one rule: samples are float32, nominally in [-1, 1], and never change once made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sound.errors import SoundError

Samples = NDArray[np.float32]

_INT16_SCALE = 32768.0
# A sample above this is heard: the bound by which the first word is measured and silence is trimmed.
AUDIBLE = 0.005


@dataclass(frozen=True, slots=True, eq=False)
class Pcm:
    """A stretch of sound.

    `samples` is float32 of shape `(frames,)` for mono or `(frames, channels)`; values are nominally in [-1, 1] and
    anything that is not a finite number counts as silence. `rate_hz` is 1 000 to 192 000. Raises `SoundError` for a
    shape, a rate or a channel count that is no sound.
    """

    samples: Samples
    rate_hz: int
    channels: int = 1

    def __post_init__(self) -> None:
        if not 1_000 <= self.rate_hz <= 192_000:
            raise SoundError(f"a rate of {self.rate_hz} Hz is no rate for speech; give one from 1000 to 192000")
        if self.channels < 1:
            raise SoundError(f"{self.channels} channels is no sound; give 1 or more")
        shape = np.shape(self.samples)
        wanted = 1 if self.channels == 1 else 2
        if len(shape) != wanted or (wanted == 2 and shape[1] != self.channels):
            raise SoundError(f"samples of shape {shape} do not make {self.channels} channel(s)")
        samples = np.ascontiguousarray(self.samples, dtype=np.float32)
        if not np.isfinite(samples).all():
            samples = np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0)
        elif samples is self.samples:
            samples = samples.view()
        samples.flags.writeable = False
        object.__setattr__(self, "samples", samples)

    @classmethod
    def silence(cls, duration_s: float, rate_hz: int) -> Pcm:
        """Mono silence of the whole number of samples nearest to `duration_s` seconds."""
        return cls(np.zeros(max(0, round(duration_s * rate_hz)), dtype=np.float32), rate_hz)

    @classmethod
    def from_s16le(cls, data: bytes | bytearray | memoryview, rate_hz: int, channels: int = 1) -> Pcm:
        """Read signed 16-bit little-endian PCM; `data` must hold whole frames (see `FrameReader` for streams)."""
        width = 2 * channels
        if len(data) % width:
            raise SoundError(f"{len(data)} bytes are not whole frames of {width} bytes")
        flat = np.frombuffer(data, dtype="<i2").astype(np.float32) / np.float32(_INT16_SCALE)
        return cls(flat if channels == 1 else flat.reshape(-1, channels), rate_hz, channels)

    @classmethod
    def join(cls, parts: Iterable[Pcm]) -> Pcm:
        """All `parts` one after the other; they must agree in rate and channels, and there must be at least one."""
        held = list(parts)
        if not held:
            raise SoundError("nothing to join: give at least one stretch of sound")
        kinds = {(part.rate_hz, part.channels) for part in held}
        if len(kinds) > 1:
            raise SoundError(f"stretches of different kinds cannot be joined: {sorted(kinds)}; resample first")
        return _made(_shut(np.concatenate([part.samples for part in held])), held[0].rate_hz, held[0].channels)

    @classmethod
    def known(cls, samples: Samples, rate_hz: int) -> Pcm:
        """Mono sound made of sound by whoever calls: float32, finite and nobody else's. It is not looked at again."""
        return _made(_shut(samples), rate_hz, 1)

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def duration_s(self) -> float:
        """Seconds of sound."""
        return len(self.samples) / self.rate_hz

    @property
    def peak(self) -> float:
        """The largest |sample|, 0.0 where there is none."""
        return float(np.abs(self.samples).max()) if self.samples.size else 0.0

    @property
    def rms(self) -> float:
        """Root mean square over all samples, 0.0 where there is none."""
        return float(np.sqrt(np.mean(np.square(self.samples, dtype=np.float64)))) if self.samples.size else 0.0

    @property
    def first_audible(self) -> int | None:
        """The first frame in which a sample is over `AUDIBLE`; None where there is none."""
        loud = np.abs(self.samples) > AUDIBLE
        found = np.flatnonzero(loud if self.channels == 1 else loud.any(axis=1))
        return int(found[0]) if found.size else None

    @property
    def loud(self) -> tuple[int, int] | None:
        """The first frame of the first 10 ms over -30 dB of the loudest 100 ms, and the one after the last such 10 ms.

        Where speech begins and ends in a recording, whatever silence stands around it. Mono; None for silence.
        """
        step = self.rate_hz // 100
        power = np.square(self.samples[: len(self) // step * step].reshape(-1, step), dtype=np.float64).mean(axis=1)
        if not power.size:
            return None
        loudest = np.convolve(power, np.ones(10) / 10, mode="same").max()
        found = np.flatnonzero(power > max(loudest * 1e-3, 1e-9))
        return (int(found[0]) * step, (int(found[-1]) + 1) * step) if found.size else None

    def mono(self) -> Pcm:
        """The mean of the channels."""
        if self.channels == 1:
            return self
        return Pcm(self.samples.mean(axis=1, dtype=np.float32), self.rate_hz)

    def part(self, start: int, stop: int | None = None) -> Pcm:
        """Frames `start` to `stop` (as a slice), sharing memory."""
        return _made(self.samples[start:stop], self.rate_hz, self.channels)

    def to_s16le(self) -> bytes:
        """Signed 16-bit little-endian bytes; what is out of range is clipped."""
        scaled = keep_in_range(np.rint(self.samples * _INT16_SCALE), -32768, 32767)
        data: bytes = scaled.astype("<i2").tobytes()
        return data


def _made(samples: Samples, rate_hz: int, channels: int) -> Pcm:
    """What was looked at when it came is not looked at again: ten thousand rooms make fifty of these a second each."""
    made = object.__new__(Pcm)
    object.__setattr__(made, "samples", samples)
    object.__setattr__(made, "rate_hz", rate_hz)
    object.__setattr__(made, "channels", channels)
    return made


def _shut(samples: Samples) -> Samples:
    samples.flags.writeable = False
    return samples


def keep_in_range(samples: Samples, low: float = -1.0, high: float = 1.0) -> Samples:
    """`samples` themselves, changed where they are out of range: for whoever made them and has given them to nobody."""
    # Half of what `np.clip` takes for the same numbers, fifty times a second in every room.
    np.minimum(samples, high, out=samples)
    np.maximum(samples, low, out=samples)
    return samples


class FrameReader:
    """Turns a stream of s16le bytes cut anywhere into `Pcm`: an odd byte is carried to the next call, never dropped."""

    def __init__(self, rate_hz: int, channels: int = 1) -> None:
        self._rate_hz = rate_hz
        self._channels = channels
        self._rest = b""

    def push(self, data: bytes) -> Pcm:
        """The whole frames that are now complete; may be empty."""
        held = self._rest + data
        whole = len(held) - len(held) % (2 * self._channels)
        self._rest = held[whole:]
        return Pcm.from_s16le(held[:whole], self._rate_hz, self._channels)
