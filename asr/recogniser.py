"""The recogniser as its callers see it: sound of one utterance in, a transcript out.

It is an interface; engines live beside it, one file each. The one rule: `recognise` is plain blocking work for a lane,
and silence gives an empty text, never an invented one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from asr.events import Word
from sound import Pcm


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said. `words` may be empty where the engine gives no times; `no_speech` is 0 to 1.

    `mean_log_probability` (0 is certain) and `compression` (gzip ratio of the text) tell how unsure the engine was.
    """

    text: str
    language: str
    words: tuple[Word, ...] = ()
    no_speech: float = 0.0
    mean_log_probability: float = 0.0
    compression: float = 1.0


class Recogniser(Protocol):
    """An engine that turns one utterance into text."""

    @property
    def name(self) -> str:
        """The catalog's name of its weights, for the trace."""

    @property
    def languages(self) -> frozenset[str] | None:
        """ISO 639-1 codes it knows, or None for any."""

    def recognise(self, pcm: Pcm, *, language: str, hint: str = "", word_times: bool = False) -> Transcript:
        """The words in `pcm` (mono, 16 kHz). `hint` is text the person is likely to use. Blocking; run it on a lane."""

    def warm(self) -> None:
        """One call that nobody waits for."""
