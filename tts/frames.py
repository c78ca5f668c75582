"""What speaking gives: pieces of text, and frames of sound that know which piece they are.

Values only. The one rule: pieces' `source` joined gives the text back exactly, so that what was heard can be told from
what was played.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sound import Pcm
from tts.reading import spoken


@dataclass(frozen=True)
class Piece:
    """What the engine speaks in one go.

    `n` counts from 0 within an answer; `source` is the text it stands for, spaces and marks included, in `language`.
    `opening` marks the first.
    """

    n: int
    source: str
    language: str = "en"
    opening: bool = False

    @cached_property
    def spoken(self) -> str:
        """What the engine is given. Numbers are read where this is first asked for, which is the lane: a piece full of
        them takes 0.3 ms, and the loop on which text arrives has none to spare."""
        return spoken(self.source, self.language)


@dataclass(frozen=True, slots=True)
class Frame:
    """A stretch of sound of one piece. `last` marks the end of the piece (its length is then known)."""

    pcm: Pcm
    turn: int
    generation: int
    piece: Piece
    last: bool = False
