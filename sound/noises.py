"""Sounds that are not words: coughs, clicks, typing, doors, laughter, made from noise and pulses.

They have the shape of the real thing (a burst, a glottal phase, a decay), not its detail, and they swing to about 1 so
that a caller sets the level. The one rule: the same generator in the same state gives the same sound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Wave = NDArray[np.floating[Any]]
Make = Callable[[np.random.Generator, int], Wave]


def cough(random: np.random.Generator, rate_hz: int) -> Wave:
    """One to three coughs: an explosion of air, then a rough voiced phase, then what is left of the breath."""
    parts: list[Wave] = []
    for _ in range(random.integers(1, 4)):
        burst = _decay(_band(random, 0.06, rate_hz, 400, 5_000), 0.05, rate_hz)
        length_s = random.uniform(0.12, 0.25)
        pitch = random.uniform(140, 320) * (1 - 0.4 * np.linspace(0, 1, round(length_s * rate_hz)))
        rough = 0.35 * _voice(pitch, rate_hz, random, jitter=0.12) + 0.65 * _band(random, length_s, rate_hz, 300, 4_000)
        parts += [burst, 0.7 * _decay(rough, length_s, rate_hz), _still(random.uniform(0.08, 0.3), rate_hz)]
    return _swing(parts)


def throat(random: np.random.Generator, rate_hz: int) -> Wave:
    """Clearing one's throat: a low, rattling growl."""
    length_s = random.uniform(0.3, 0.6)
    pitch = np.full(round(length_s * rate_hz), random.uniform(55, 95))
    growl = _voice(pitch, rate_hz, random, jitter=0.3) + 0.8 * _band(random, length_s, rate_hz, 150, 2_500)
    return _swing([_decay(growl, length_s, rate_hz)])


def sneeze(random: np.random.Generator, rate_hz: int) -> Wave:
    """A breath drawn in, and a long hiss thrown out."""
    drawn = 0.15 * _band(random, 0.3, rate_hz, 300, 3_000) * np.linspace(0, 1, round(0.3 * rate_hz))
    thrown = _decay(_band(random, 0.35, rate_hz, 800, 7_000), 0.25, rate_hz)
    return _swing([drawn, thrown])


def laugh(random: np.random.Generator, rate_hz: int) -> Wave:
    """Three to six short voiced bursts, falling in pitch and loudness."""
    parts: list[Wave] = []
    pitch_hz = random.uniform(180, 320)
    for n in range(random.integers(3, 7)):
        pitch = np.full(round(0.09 * rate_hz), pitch_hz * 0.95**n)
        burst = _voice(pitch, rate_hz, random, jitter=0.04) + 0.4 * _band(random, 0.09, rate_hz, 500, 4_000)
        parts += [0.9**n * burst * np.hanning(len(burst)), _still(random.uniform(0.07, 0.13), rate_hz)]
    return _swing(parts)


def breath(random: np.random.Generator, rate_hz: int) -> Wave:
    """A sigh into the microphone."""
    length_s = random.uniform(0.4, 0.9)
    air = _band(random, length_s, rate_hz, 100, 2_000)
    return _swing([air * np.hanning(len(air))])


def click(random: np.random.Generator, rate_hz: int) -> Wave:
    """A mouse button, pressed and released."""
    return _swing(
        [_key(random, rate_hz), _still(random.uniform(0.06, 0.12), rate_hz), 0.6 * _key(random, rate_hz)],
    )


def typing(random: np.random.Generator, rate_hz: int) -> Wave:
    """One to two seconds on a keyboard."""
    parts: list[Wave] = []
    for _ in range(random.integers(6, 16)):
        parts += [random.uniform(0.4, 1.0) * _key(random, rate_hz), _still(random.uniform(0.05, 0.16), rate_hz)]
    return _swing(parts)


def knock(random: np.random.Generator, rate_hz: int) -> Wave:
    """A cup put down, or two or three knocks on wood: a thump that rings."""
    parts: list[Wave] = []
    for _ in range(random.integers(1, 4)):
        at = np.arange(round(0.12 * rate_hz)) / rate_hz
        ring = np.sin(2 * np.pi * random.uniform(90, 260) * at) + 0.5 * np.sin(
            2 * np.pi * random.uniform(500, 900) * at
        )
        thump = ring * np.exp(-at / 0.025) + 0.5 * _decay(_band(random, 0.12, rate_hz, 200, 6_000), 0.01, rate_hz)
        parts += [thump, _still(random.uniform(0.1, 0.2), rate_hz)]
    return _swing(parts)


def door(random: np.random.Generator, rate_hz: int) -> Wave:
    """A door falls shut: a low boom, and the rattle of its handle."""
    at = np.arange(round(0.5 * rate_hz)) / rate_hz
    boom = np.sin(2 * np.pi * random.uniform(45, 90) * at) * np.exp(-at / 0.08)
    rattle = _decay(_band(random, 0.5, rate_hz, 300, 3_000), 0.06, rate_hz)
    return _swing([boom + 0.5 * rattle])


def buzz(random: np.random.Generator, rate_hz: int) -> Wave:
    """A telephone that shakes on a table, twice."""
    at = np.arange(round(0.4 * rate_hz)) / rate_hz
    shake = np.sign(np.sin(2 * np.pi * random.uniform(140, 190) * at)) * 0.5 + 0.2 * _band(
        random, 0.4, rate_hz, 800, 3_000
    )
    return _swing([shake, _still(0.3, rate_hz), shake])


def hum(seconds: float, level: float, rate_hz: int, *, pitch_hz: float = 120.0) -> Wave:
    """Something that Silero and the bar take for a person: a glottal buzz with formants and syllables."""
    at = np.arange(round(seconds * rate_hz)) / rate_hz
    phase = np.cumsum(2 * np.pi * (pitch_hz + 15 * np.sin(2 * np.pi * 3 * at)) / rate_hz)
    wave: Wave = np.sum(
        [np.sin(n * phase) * np.exp(-(((n * pitch_hz - 600) / 500) ** 2)) for n in range(1, 25)], axis=0
    )
    wave = wave * (0.3 + 0.7 * np.abs(np.sin(2 * np.pi * 2 * at)))
    loud: Wave = (wave / np.abs(wave).max() * level).astype(np.float32)
    return loud


# By the name under which a result shows them.
NOISES: dict[str, Make] = {
    "cough": cough,
    "throat": throat,
    "sneeze": sneeze,
    "laugh": laugh,
    "breath": breath,
    "click": click,
    "typing": typing,
    "knock": knock,
    "door": door,
    "buzz": buzz,
}  # fmt: skip


def _key(random: np.random.Generator, rate_hz: int) -> Wave:
    """One key or button: a few milliseconds, bright, with the wood under it."""
    at = np.arange(round(0.03 * rate_hz)) / rate_hz
    ring = np.sin(2 * np.pi * random.uniform(1_800, 4_500) * at) * np.exp(-at / 0.003)
    wood = 0.4 * np.sin(2 * np.pi * random.uniform(150, 350) * at) * np.exp(-at / 0.008)
    return np.asarray(ring + wood + 0.3 * _decay(_band(random, 0.03, rate_hz, 1_000, 7_000), 0.004, rate_hz))


def _voice(pitch_hz: NDArray[np.float64], rate_hz: int, random: np.random.Generator, *, jitter: float) -> Wave:
    """Glottal pulses, a falling spectrum, whose pitch wanders by `jitter` of itself."""
    slow = np.interp(
        np.arange(len(pitch_hz)),
        np.arange(0, len(pitch_hz) + 240, 240),
        random.standard_normal(len(np.arange(0, len(pitch_hz) + 240, 240))),
    )
    phase = np.cumsum(2 * np.pi * pitch_hz * (1 + jitter * slow) / rate_hz)
    wave = sum(np.sin(n * phase) / n for n in range(1, 12))
    return np.asarray(wave / np.abs(wave).max())


def _band(random: np.random.Generator, seconds: float, rate_hz: int, low_hz: float, high_hz: float) -> Wave:
    """Noise between two frequencies, its peak at 1."""
    count = round(seconds * rate_hz)
    spectrum = np.fft.rfft(random.standard_normal(count))
    frequency = np.fft.rfftfreq(count, 1 / rate_hz)
    spectrum[(frequency < low_hz) | (frequency > high_hz)] = 0
    wave = np.fft.irfft(spectrum, count)
    return np.asarray(wave / max(1e-9, np.abs(wave).max()))


def _decay(wave: Wave, seconds: float, rate_hz: int) -> Wave:
    """A sharp attack of 2 ms, then an exponential to a third in `seconds` / 2."""
    at = np.arange(len(wave)) / rate_hz
    return np.asarray(wave * np.minimum(1.0, at / 0.002) * np.exp(-at / (seconds / 2)))


def _still(seconds: float, rate_hz: int) -> Wave:
    return np.zeros(round(seconds * rate_hz), dtype=np.float32)


def _swing(parts: Sequence[Wave]) -> Wave:
    """The parts one after the other, at a peak of 1."""
    wave = np.concatenate(parts)
    swung: Wave = (wave / max(1e-9, float(np.abs(wave).max()))).astype(np.float32)
    return swung
