"""What speaking gives: pieces of text, and frames of sound that know which piece they are.

Values only. The one rule: pieces' `source` joined gives the text back exactly, so that what was heard can be told from
what was played.
"""

from __future__ import annotations

from dataclasses import dataclass

from sound import Pcm


@dataclass(frozen=True, slots=True)
class Piece:
    """What the engine speaks in one go.

    `n` counts from 0 within an answer; `source` is the text it stands for, spaces and marks included; `spoken` is what
    the engine is given. `opening` marks the first.
    """

    n: int
    source: str
    spoken: str
    opening: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """A stretch of sound of one piece. `last` marks the end of the piece (its length is then known)."""

    pcm: Pcm
    turn: int
    generation: int
    piece: Piece
    last: bool = False
