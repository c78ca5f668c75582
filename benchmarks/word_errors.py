"""Word errors: how many words of a sentence were heard wrongly. Pure.

Case and punctuation do not count, nor does whether a number is written in digits up to twelve. The one rule: an
inserted word is an error too.
"""

from __future__ import annotations

import re

_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
# Hesitations are no words: recognisers are trained to leave them out.
_FILLERS = {"um", "uh", "er", "hmm", "mm"}


def words_of(text: str) -> list[str]:
    """`text` as comparable words."""
    bare = re.sub(r"[^\w\s']", " ", text.casefold().replace("’", "'"))
    said = [_NUMBERS[int(word)] if word.isdecimal() and int(word) < len(_NUMBERS) else word for word in bare.split()]
    return [word.strip("'") for word in said if word not in _FILLERS]


def word_errors(heard: str, said: str) -> tuple[int, int]:
    """Substitutions, deletions and insertions that turn `said` into `heard`, and how many words were said."""
    a, b = words_of(heard), words_of(said)
    row = list(range(len(b) + 1))
    for i, one in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (one != other))
    return row[-1], len(b)
