"""Cleaning: a candidate's sound without the assistant's own voice, and how much of a voice is in it.

It lays what sounds beside what the microphone reads, sample by sample, and cleans from the moment a candidate stands.
The fit takes 20 to 45 ms of a core, which is longer than a frame of everybody's: where there is a lane it is done
there. The one rule: where the canceller does not answer for what it leaves, nothing is cleaned and the bar alone
decides.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from echo import Bar, Canceller, level_of, pitch_hz
from echo.bar import FAINT
from echo.cancel import Fitted
from sound import Pcm, Resampler, Samples
from voice.parts import LanePort

_log = logging.getLogger("firstword.voice")

# Just before a candidate stands its first, quiet sounds came: they are no echo to be fitted.
_SPARE_S = 0.2
# At higher rates twice the work would hear nothing more of a voice.
_HIGHEST_HZ = 24_000
# So much more power (3 dB) in what is left than in what was heard: where our own voice is beside somebody's, the two
# would have to be each other's mirror image for it.
_MIRRORED = 2.0


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A frame without our own voice; `ours`: what is left may be ours all the same; `voiced`: somebody's pitch."""

    frame: Pcm
    ours: bool
    voiced: bool


class Cleaning:
    """One session's, whose fits are done on `lane`, or at once where there is none.

    `fitting` says that one is under way, `ready` that the sound of the candidate that stands is cleaned.
    """

    def __init__(self, bar: Bar, lane: LanePort | None = None) -> None:
        self._bar = bar
        self._lane = lane
        self._fit: asyncio.Task[None] | None = None
        self._canceller: Canceller | None = None
        self._sounding: Resampler | None = None
        self._waiting: Samples = np.zeros(0, dtype=np.float32)
        self._previous: Samples = np.zeros(0, dtype=np.float32)
        self.ready = False

    @property
    def fitting(self) -> bool:
        """Whether it is still to be told how the candidate's sound is cleaned."""
        return self._fit is not None and not self._fit.done()

    async def close(self) -> None:
        """Give up on what is under way, and see it gone."""
        fit = self._fit
        self.end()
        if fit is not None:
            await asyncio.gather(fit, return_exceptions=True)

    def sounds(self, pcm: Pcm | None, beside: Pcm) -> None:
        """What sounds while the microphone reads `beside`, as long; None for nothing."""
        if self._canceller is None or self._canceller.rate_hz != beside.rate_hz:
            self._canceller = Canceller(beside.rate_hz) if beside.rate_hz <= _HIGHEST_HZ else None
            self._sounding = Resampler(beside.rate_hz)
            self._waiting = np.zeros(0, dtype=np.float32)
            self.end()
        if self._canceller is not None and self._sounding is not None:
            came = self._sounding.push(pcm or Pcm.silence(beside.duration_s, beside.rate_hz)).samples
            self._waiting = np.concatenate([self._waiting, came]) if len(self._waiting) else came

    def take(self, frame: Pcm) -> None:
        """The next frame of microphone, before it is judged."""
        if self._canceller is None:
            return
        # A resampler gives its first samples late, and then as many as it gets: once late is always as late.
        count, played = len(frame), self._waiting
        if len(played) < count:
            played = np.concatenate([np.zeros(count - len(played), dtype=np.float32), played])
        self._waiting = played[count:]
        self._canceller.push(frame.samples, played[:count])

    def begin(self) -> None:
        """A candidate stands."""
        self.end()
        self._previous = np.zeros(0, dtype=np.float32)
        canceller = self._canceller
        if canceller is None:
            return
        look = canceller.look(round(_SPARE_S * canceller.rate_hz))
        if self._lane is None:
            self.ready = canceller.use(look())
        else:
            self._fit = asyncio.create_task(self._fit_on(self._lane, canceller, look))

    def end(self) -> None:
        """None stands any more; a fit that was for it is for nobody."""
        self.ready = False
        if self._fit is not None:
            self._fit.cancel()
            self._fit = None

    def clean(self, frames: list[Pcm], *, newer: int = 0) -> list[Cleaned]:
        """Frames that were taken, cleaned, in their order; since then `newer` others of their length were."""
        if self._canceller is None or not frames:
            return []
        count = sum(len(frame) for frame in frames)
        rest, own = self._canceller.clean(count + newer * len(frames[-1]), count)
        made, at = [], 0
        for frame in frames:
            stop = at + len(frame)
            left, ours = _taken(frame.samples, rest[at:stop], own[at:stop])
            made.append(self._judged(left, ours, frame.rate_hz))
            at = stop
        return made

    async def _fit_on(self, lane: LanePort, canceller: Canceller, look: Callable[[], Fitted]) -> None:
        try:
            fitted = await lane.run(look)
        except Exception:
            # The bar alone decides then, as where there is nothing to fit to.
            _log.warning("the assistant's own voice could not be taken out of the microphone", exc_info=True)
            return
        if self._fit is asyncio.current_task():
            self.ready = canceller.use(fitted)

    def _judged(self, rest: Samples, own: Samples, rate_hz: int) -> Cleaned:
        left = self._canceller.left if self._canceller else 1.0
        bar = self._bar.above(left * level_of(own))
        near = level_of(rest) > bar
        voiced = near and pitch_hz(np.concatenate([self._previous, rest]), rate_hz) is not None
        self._previous = rest
        return Cleaned(Pcm(rest, rate_hz), not near and bar > max(self._bar.lowest, FAINT), voiced)


def _taken(heard: Samples, rest: Samples, own: Samples) -> tuple[Samples, Samples]:
    """What is left of a frame, and what of our own voice was in it.

    Taking a voice out of a sound that it is in leaves less. A device that is told to hold drops what it was about to
    play (0.1 s and more), and taking that out as well would put it in: a syllable of ours, upside down, in which the
    recogniser reads words ("What?"). A frame that would be far louder without our voice does not have it.
    """
    if float(np.dot(rest, rest)) > _MIRRORED * float(np.dot(heard, heard)):
        return heard, np.zeros_like(own)
    return rest, own
