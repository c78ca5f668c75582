"""Voices that make a tone, in place of a synthesiser.

They have the shape of `tts.Engine`. The one rule: a piece's length follows its text, so that a test can tell from the
sound how much of the text was heard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sound import Pcm
from tts.engine import CAP_STREAMED, Voice

_STEP_S = 0.1


class ToneEngine:
    """`seconds_per_char` of a 220 Hz tone at `level`; a piece that holds `breaks_on` raises instead."""

    def __init__(
        self, *, sample_rate_hz: int = 24_000, seconds_per_char: float = 0.05, level: float = 0.3, breaks_on: str = ""
    ) -> None:
        self.name = "tone"
        self.sample_rate_hz = sample_rate_hz
        self.cap = CAP_STREAMED
        self.spoken: list[str] = []
        self._seconds_per_char = seconds_per_char
        self._level = level
        self._breaks_on = breaks_on

    def voices(self) -> Sequence[Voice]:
        """One voice, for every language a test may use."""
        return (Voice("tone", ("en", "de", "fr")),)

    def speak(
        self,
        piece: str,
        *,
        voice: str | None = None,
        language: str = "en",
        speed: float = 1.0,
        steps: int | None = None,
    ) -> Iterator[Pcm]:
        """The tone, a tenth of a second at a time."""
        if self._breaks_on and self._breaks_on in piece:
            raise RuntimeError("the tone engine was told to break on this piece")
        self.spoken.append(piece)
        length = round(len(piece) * self._seconds_per_char / speed * self.sample_rate_hz)
        step = round(_STEP_S * self.sample_rate_hz)
        wave = self._level * np.sin(2 * np.pi * 220 * np.arange(length) / self.sample_rate_hz)
        for start in range(0, length, step):
            yield Pcm(wave[start : start + step].astype(np.float32), self.sample_rate_hz)

    def warm(self) -> None:
        """Nothing to warm."""


class SolvingTone(ToneEngine):
    """In place of an engine that solves in steps: `solved` keeps how many each piece was given."""

    def __init__(self) -> None:
        super().__init__(seconds_per_char=0.01)
        self.name = "supertonic"
        self.solved: list[int | None] = []

    def speak(
        self,
        piece: str,
        *,
        voice: str | None = None,
        language: str = "en",
        speed: float = 1.0,
        steps: int | None = None,
    ) -> Iterator[Pcm]:
        """The tone, whatever its steps."""
        self.solved.append(steps)
        yield from super().speak(piece, voice=voice, language=language, speed=speed, steps=steps)
