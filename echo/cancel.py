"""The canceller: takes the assistant's own voice out of what the microphone read, once a candidate stands.

Nobody hears the cleaned sound but the recogniser, and only while playback is held, so nothing is adapted frame by
frame: when a candidate stands, one filter is fitted by least squares to the seconds before it, in which nobody spoke,
and tried on seconds it was not fitted to. The one rule: it says how much it leaves, and where that is not known to be
little it is not used.

The fit is preconditioned conjugate gradients on the normal equations of a finite impulse response (Hestenes and
Stiefel 1952, Chan 1988), all products by Fourier transforms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]
Spectrum = NDArray[np.complexfloating[Any, Any]]

# The longest way from a sample that was sent to its echo: 1.4 s (design/turn.md), and what the clocks are unsure of.
_LONGEST_S = 1.55
# A fifth of a second of a room: what rings on after it is 40 dB down in a living room (RT60 0.3 s).
_TAPS_S = 0.2
# What is fitted: more holds more sounds of a language, and takes longer; with this all transforms are of quick lengths.
_WINDOW_S = 2.3
# What may lie between the newest sample and the first that is cleaned: the gate's delay line, and what came meanwhile.
_BACK_S = 1.0
# Less of our own voice than this fits anything. A fifth of what there is tries the fit.
_LEAST_S = 0.6
_TRIED = 0.2
# The filter begins a little before the loudest path: a resampler's ringing, and a lag between two samples.
_LEAD_S = 0.003
# Early taps are likelier to matter: a prior that falls by 30 dB over the filter keeps a short fit from a hall.
_FALL = 0.75
# Eight steps come within 1 dB of the best that any number gives; noise is fitted from some twenty on.
_STEPS = 8
# The diagonal that keeps bands in which a voice has nothing from being divided by it.
_LOAD = 1e-5
# Left of our own voice: where more than 0.7 (3 dB) is, cleaning is not worth what it adds, unless that is so little
# that nobody would take it for speech (what a microphone makes of a quiet word is 0.03 and more). The trial is stern: a
# fit to one second leaves 0.3 to 0.6 of the sounds it was not fitted to, and 0.1 to 0.3 of what comes next.
_WORTH = 0.7
_NOTHING = 0.015
# The direct path stands out of the correlation by this much over its median: at a gain of 0.05 in the loudest room by
# 20, by more than 80 else; where nothing leaks the highest of chance is 6.
_STANDS_OUT = 10.0
# The frames in which levels are taken.
_FRAME_S = 0.02
# What comes is put away so much at a time: a frame at a time costs eight times as much, in every room.
_AT_ONCE_S = 0.2
# A window in which nothing was played.
_SILENT = 1e-3


@dataclass(frozen=True, slots=True)
class _Path:
    """Samples from the loudspeaker to the filter's first tap, and the filter."""

    delay: int
    taps: Samples


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a look found: the path, if there is one; what is left of our own voice; whether to clean with it."""

    path: _Path | None
    left: float
    worth: bool


class Canceller:
    """Keeps what was played and heard at `rate_hz`, sample beside sample; the two may be any constant lag apart."""

    def __init__(self, rate_hz: int) -> None:
        self.rate_hz = rate_hz
        self._window, self._longest = round(_WINDOW_S * rate_hz), round(_LONGEST_S * rate_hz)
        self._taps, self._lead = round(_TAPS_S * rate_hz), round(_LEAD_S * rate_hz)
        self._frame = round(_FRAME_S * rate_hz)
        back = round(_BACK_S * rate_hz)
        self._heard = _Ring(self._window + back)
        self._played = _Ring(self._window + back + self._longest + self._taps)
        self._fresh: list[tuple[Samples, Samples]] = []
        self._fresh_count, self._at_once = 0, round(_AT_ONCE_S * rate_hz)
        self._path: _Path | None = None
        self._spectra: dict[int, Spectrum] = {}
        self.left = 1.0

    def push(self, heard: Samples, played: Samples) -> None:
        """The next stretch of microphone, and what was played meanwhile, as long."""
        self._fresh.append((heard, played))
        self._fresh_count += len(heard)
        if self._fresh_count >= self._at_once:
            self._put_away()

    def _put_away(self) -> None:
        """What came since the last time, into the rings: before they are read, or when it is enough."""
        if self._fresh:
            self._heard.push(np.concatenate([heard for heard, _ in self._fresh]))
            self._played.push(np.concatenate([played for _, played in self._fresh]))
            self._fresh.clear()
            self._fresh_count = 0

    def fit(self, spare: int) -> bool:
        """Look and use at once: whether `clean` is worth using."""
        return self.use(self.look(spare)())

    def look(self, spare: int) -> Callable[[], Fitted]:
        """The work of fitting the filter to what came before the last `spare` samples: 20 to 45 ms of a core.

        What it needs is copied now, so that it can be done on any thread while more is pushed.
        """
        self._put_away()
        window, reach = self._window, self._longest + self._taps
        heard = self._heard.last(window + spare)[:window]
        played = self._played.last(window + spare + reach)[: window + reach]
        known = self._path
        return lambda: self._fitted(heard, played, known)

    def use(self, fitted: Fitted) -> bool:
        """Clean with what a look found from now on; whether that is worth it.

        `left` is then the level that remains of our own voice over the level there was, on sound that was not fitted.
        """
        self._path, self.left = fitted.path, fitted.left
        self._spectra.clear()
        return fitted.worth

    def _fitted(self, heard: Samples, played: Samples, known: _Path | None) -> Fitted:
        window, taps = self._window, self._taps
        lag = _lag(heard, played, self._longest)
        if lag is None:
            # All that was played so long ago has come back by now, if it comes back at all: was anything heard?
            quiet = self._swing(heard) < _NOTHING
            return Fitted(None, 0.0, quiet and window + taps - _begun(played) >= _LEAST_S * self.rate_hz)
        delay = max(0, lag - self._lead)
        begun = _begun(played[self._longest + taps - delay :])
        if window - begun < _LEAST_S * self.rate_hz:
            return Fitted(None, 1.0, worth=False)
        heard, played = heard[begun:], played[self._longest + 1 - delay + begun : self._longest + taps - delay + window]
        tried = round(_TRIED * len(heard))
        # What an earlier fit found may still hold where this one has little to go on.
        filters = [_solve(heard[tried:], played[tried:], taps)] + ([known.taps] if known else [])
        leaves = [self._leaves(heard[:tried], played[: tried + taps - 1], one) for one in filters]
        level, left, best = min((*one, n) for n, one in enumerate(leaves))
        return Fitted(_Path(delay, filters[best]), left, left < _WORTH or (left < 1.0 and level < _NOTHING))

    def clean(self, back: int, count: int) -> tuple[Samples, Samples]:
        """`count` samples, the first of them `back` before the end, without our own voice; and that voice."""
        self._put_away()
        heard, path = self._heard.last(back)[:count], self._path
        if path is not None:
            played = self._played.last(back + path.delay + self._taps - 1)[: count + self._taps - 1]
            if np.abs(played).max() >= _SILENT:
                size = _fast(len(played))
                if size not in self._spectra:
                    self._spectra[size] = np.fft.rfft(path.taps, size)
                own = _filtered(played, self._spectra[size], size, self._taps)
                return np.asarray(heard - own, dtype=np.float32), own
        return heard, np.zeros(count, dtype=np.float32)

    def _leaves(self, heard: Samples, played: Samples, taps: Samples) -> tuple[float, float]:
        """The level that remains, and that over the level of our own voice."""
        size = _fast(len(played))
        own = _filtered(played, np.fft.rfft(taps, size), size, self._taps)
        rest, was = self._swing(heard - own), self._swing(own)
        return rest, rest / was if was > 0 else float("inf")

    def _swing(self, samples: Samples) -> float:
        """The level that 95 in 100 frames stay under."""
        frames = samples[: len(samples) // self._frame * self._frame].reshape(-1, self._frame)
        return float(np.percentile(frames.max(axis=1) - frames.min(axis=1), 95.0)) / 2


class _Ring:
    """The newest samples, as 16-bit numbers: two hundred sessions keep theirs."""

    def __init__(self, size: int) -> None:
        self._held = np.zeros(size, dtype=np.int16)
        self._at = 0

    def push(self, samples: Samples) -> None:
        whole = np.clip(samples, -1.0, 1.0) * np.float32(32_767)
        first = min(len(whole), len(self._held) - self._at)
        self._held[self._at : self._at + first] = whole[:first]
        self._held[: len(whole) - first] = whole[first:]
        self._at = (self._at + len(whole)) % len(self._held)

    def last(self, count: int) -> Samples:
        start = self._at - count
        part = (
            self._held[start : self._at] if start >= 0 else np.concatenate([self._held[start:], self._held[: self._at]])
        )
        return part.astype(np.float32) / np.float32(32_767)


def _lag(heard: Samples, played: Samples, longest: int) -> int | None:
    """Samples from what was played to the loudest way it came back; None where none stands out.

    The spectrum of what was heard over that of what was played: the room's answer, as far as one look tells it.
    """
    size = _fast(len(played))
    sent = np.fft.rfft(played, size)
    power = np.square(np.abs(sent))
    if power.mean() < _SILENT:
        return None
    answer = np.abs(np.fft.irfft(np.fft.rfft(heard, size) * np.conj(sent) / (power + 1e-3 * power.mean()), size))
    # `played` begins so much earlier: what came back without a lag lies there, from the end of the circle.
    none = size - (len(played) - len(heard))
    lags = answer[none : none + longest]
    best = int(lags.argmax())
    return best if lags[best] > _STANDS_OUT * np.median(lags) else None


def _begun(played: Samples) -> int:
    """Where sound begins in it."""
    loud = np.flatnonzero(np.abs(played) > _SILENT)
    return int(loud[0]) if loud.size else len(played)


def _solve(heard: Samples, played: Samples, count: int) -> Samples:
    """The filter of `count` taps that makes `heard` out of `played`, which is `count` - 1 longer; least squares."""
    size = _fast(len(played))
    sent = np.fft.rfft(played, size)

    def against(rest: Samples) -> Samples:
        at = np.zeros(size, dtype=np.float32)
        at[count - 1 : count - 1 + len(rest)] = rest
        return np.fft.irfft(np.fft.rfft(at) * np.conj(sent), size)[:count].astype(np.float32)

    def through(taps: Samples) -> Samples:
        return against(_filtered(played, np.fft.rfft(taps, size), size, count, spectrum=sent))

    # Toeplitz by a circle twice as long; the taper keeps its spectrum above zero.
    alike = np.fft.irfft(np.square(np.abs(sent)), size)[:count] * (1 - np.arange(count) / count)
    load = np.float32(_LOAD * alike[0])
    circle = np.fft.rfft(np.concatenate([alike, [0.0], alike[:0:-1]])).real
    inverse = (1 / (np.maximum(circle, 0.0) + load)).astype(np.float32)
    likely = (10 ** (-_FALL * np.arange(count) / count)).astype(np.float32)

    def towards(rest: Samples) -> Samples:
        spread = np.fft.irfft(np.fft.rfft(likely * rest, 2 * count) * inverse, 2 * count)
        return np.asarray(likely * spread[:count], dtype=np.float32)

    taps = np.zeros(count, dtype=np.float32)
    rest = against(heard)
    step = towards(rest)
    gain = float(rest @ step)
    for _ in range(_STEPS):
        if gain <= 0:
            break
        change = through(step) + load * step
        length = np.float32(gain / float(step @ change))
        taps = np.asarray(taps + length * step, dtype=np.float32)
        rest = np.asarray(rest - length * change, dtype=np.float32)
        along = towards(rest)
        before, gain = gain, float(rest @ along)
        step = np.asarray(along + np.float32(gain / before) * step, dtype=np.float32)
    return taps


def _filtered(played: Samples, taps: Spectrum, size: int, count: int, *, spectrum: Spectrum | None = None) -> Samples:
    """`played` through a filter of `count` taps, given as its spectrum over `size`; only where all taps reach."""
    sent = np.fft.rfft(played, size) if spectrum is None else spectrum
    return np.fft.irfft(sent * taps, size)[count - 1 : len(played)].astype(np.float32)


def _fast(size: int) -> int:
    """The next length for which a Fourier transform is quick: a power of two, or five or six eighths of one."""
    power = 1 << (size - 1).bit_length()
    return next(length for length in (power * 5 // 8, power * 3 // 4, power) if length >= size)
