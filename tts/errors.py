"""What can be wrong with speaking.

TtsError
├── NoVoice         the engine cannot be had: an extra or its weights are missing
├── UnknownVoice    the engine has no voice of that name (the nearest ones are named)
├── SplitFailed     a voice's graph cannot be cut in two; the whole graph still speaks
└── SpeechFault     one piece was not spoken: the engine failed, or took too long
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class TtsError(RuntimeError):
    """Something that cannot be spoken; the message says what, where, and what to do."""


class NoVoice(TtsError):
    """An engine whose extra or weights are missing."""


class UnknownVoice(TtsError):
    """A voice that the engine does not have."""

    def __init__(self, asked: str, offered: Iterable[str]) -> None:
        names = list(offered)
        near = difflib.get_close_matches(asked, names, n=3, cutoff=0.3) or names[:3]
        super().__init__(f"there is no voice {asked!r}; the nearest: {', '.join(near) or 'none'}")


class SplitFailed(TtsError):
    """The graph of a voice was not split."""


class SpeechFault(TtsError):
    """A piece that was not spoken to its end, for `reason`. `piece` counts from 0."""

    def __init__(self, piece: int, reason: str) -> None:
        super().__init__(f"piece {piece} was not spoken: {reason}")
        self.piece = piece
        self.reason = reason
