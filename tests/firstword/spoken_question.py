"""The question that this room's tests ask aloud, and how much of it was heard wrongly.

It has a name of its own: of several modules named `conftest`, whoever imports one gets the one that was read last.
"""

from __future__ import annotations

from benchmarks import word_errors as counted

QUESTION = "What can you do for me?"


def word_errors(said: str, heard: str) -> float:
    """Word error rate of `heard` against `said`, marks and case aside."""
    wrong, words = counted.word_errors(heard, said)
    return wrong / max(1, words)
