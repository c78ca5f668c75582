"""The engine as its callers see it: one piece of speakable text in, PCM as it is made out.

It is an interface; engines live beside it, one file each. The one rule: `speak` gives the first sound as soon as it
exists and is plain blocking work for a lane, a step at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from sound import Pcm
from tts.cut import CAP

# What an engine speaks well in one piece, where it gives sound while it makes it; and where it makes a piece whole: ten
# seconds of sound, which hold up nobody for long, are cut short cheaply, and are made well within the limit of a step.
CAP_STREAMED = CAP
CAP_WHOLE = 150


def paced(speed: float) -> float:
    """`speed` within what voices can be understood at: 0.5 to 2."""
    return min(2.0, max(0.5, speed))


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice that an engine offers: its name, and the ISO 639-1 languages it speaks."""

    name: str
    languages: tuple[str, ...]


class Engine(Protocol):
    """Something that speaks."""

    @property
    def name(self) -> str:
        """For settings and traces: piper, kokoro, supertonic, endpoint."""

    @property
    def sample_rate_hz(self) -> int:
        """The rate of what `speak` gives, from the voice's own configuration."""

    @property
    def cap(self) -> int:
        """Characters that it is given in one piece at most."""

    def voices(self) -> Sequence[Voice]:
        """What it offers; the first is its default."""

    def speak(
        self,
        piece: str,
        *,
        voice: str | None = None,
        language: str = "en",
        speed: float = 1.0,
        steps: int | None = None,
    ) -> Iterator[Pcm]:
        """The sound of `piece`, mono, as it is made. `speed` is 0.5 to 2; `steps` is for engines that solve."""

    def warm(self) -> None:
        """A tiny synthesis, so that the first real one is not the slow one. Best effort."""
