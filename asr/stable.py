"""The part of a guess that will stand: words that two guesses in a row agree on. Pure.

A guess at growing sound changes mostly at its end. The one rule: a word that was confirmed twice is given as the later
guess spells it, and the last word of a guess, which may be half a word, never counts.
"""

from __future__ import annotations

_MARKS = ".,!?;:…-–—\"'()。，！？、"


class StablePrefix:
    """One utterance's guesses, in their order."""

    def __init__(self) -> None:
        self._last: list[str] = []

    def push(self, text: str) -> str:
        """The stable part of `text`, given the guess before it; "" where the two begin differently."""
        words = text.split()
        count = 0
        for now, before in zip(words[:-1], self._last[:-1], strict=False):
            if _bare(now) != _bare(before):
                break
            count += 1
        self._last = words
        return " ".join(words[:count]).rstrip(_MARKS)

    def clear(self) -> None:
        """Another utterance begins."""
        self._last = []


def _bare(word: str) -> str:
    return word.casefold().strip(_MARKS)
