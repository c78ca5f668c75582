"""A room in which the loudspeaker leaks into the microphone.

Gain, delay, reverberation (a generated impulse response) and noise, on whole signals or a frame at a time. It is not a
model of any one real room. The one rule: the same seed gives the same room, however the signal is cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sound import Samples, keep_in_range

# Near a loudspeaker the direct sound carries four times the energy of what the walls give back (6 dB).
_TAIL_ENERGY = 0.25
# The first reflection arrives this much later than the direct sound: a detour of 1.7 m.
_FIRST_REFLECTION_S = 0.005


class EchoRoom:
    """What the microphone reads of what is played: `gain` 0 to 1, `delay_s` 0 to 2, `reverberation_s` to -60 dB.

    `gain` is the level that comes back over the level that is played; `noise` is the RMS of the room's own noise.
    """

    def __init__(
        self,
        *,
        gain: float,
        delay_s: float,
        rate_hz: int = 16_000,
        reverberation_s: float = 0.0,
        noise: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._random = np.random.default_rng(seed)
        self._gain = gain
        self._noise = noise
        self._impulse = impulse_response(reverberation_s, rate_hz, self._random)
        self._ahead = np.zeros(round(delay_s * rate_hz), dtype=np.float32)
        self._waiting: list[Samples] = []
        self._before = np.zeros(len(self._impulse) - 1, dtype=np.float32)
        self._spectra: dict[int, NDArray[np.complexfloating[Any, Any]]] = {}

    def hear(self, played: Samples, near: Samples | None = None) -> Samples:
        """The microphone while `played` leaves the loudspeaker and `near` is said beside it; same lengths."""
        # A loudspeaker that does not leak has no room around it.
        heard: Samples = self._gain * self._back(played) if self._gain else np.zeros(len(played), dtype=np.float32)
        if self._noise:
            heard += self._noise * self._random.standard_normal(len(played), dtype=np.float32)
        if near is not None:
            heard += near
        return keep_in_range(heard)

    def _back(self, played: Samples) -> Samples:
        """What comes back now. Sound is late, so that the room's answer can be made of many frames at a time."""
        self._waiting.append(played)
        count = len(played)
        if len(self._ahead) < count:
            self._ahead = np.concatenate([self._ahead, self._ring(np.concatenate(self._waiting))])
            self._waiting.clear()
        back, self._ahead = self._ahead[:count], self._ahead[count:]
        return back

    def _ring(self, dry: Samples) -> Samples:
        """`dry` with the room's answer to it: a convolution that remembers what came before."""
        if len(self._impulse) == 1:
            return dry
        joined = np.concatenate([self._before, dry])
        self._before = joined[len(dry) :]
        if not joined.any():
            return dry
        size = _fast(len(joined))
        if size not in self._spectra:
            self._spectra[size] = np.fft.rfft(self._impulse, size)
        wet = np.fft.irfft(np.fft.rfft(joined, size) * self._spectra[size], size)
        part: Samples = wet[len(self._impulse) - 1 : len(joined)].astype(np.float32)
        return part


def impulse_response(reverberation_s: float, rate_hz: int, random: np.random.Generator) -> Samples:
    """Direct sound, then noise that decays by 60 dB in `reverberation_s`; its energy is 1."""
    length = round(reverberation_s * rate_hz)
    first = round(_FIRST_REFLECTION_S * rate_hz)
    impulse = np.zeros(max(1, length), dtype=np.float32)
    impulse[0] = 1.0
    if length > first:
        tail = random.standard_normal(length - first) * 10 ** (-3 * np.arange(length - first) / length)
        impulse[first:] = tail * np.sqrt(_TAIL_ENERGY / np.square(tail).sum())
    ringing: Samples = (impulse / np.sqrt(np.square(impulse).sum())).astype(np.float32)
    return ringing


def _fast(size: int) -> int:
    """The next length for which a Fourier transform is quick: a power of two, or three quarters of one."""
    power = 1 << (size - 1).bit_length()
    return power * 3 // 4 if power * 3 // 4 >= size else power
