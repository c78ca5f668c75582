"""Likeness: a sentence that matches what the assistant just said is the assistant, whatever any level claims.

Text against text. It is not a test of meaning: somebody may answer in the assistant's own words, so a few words in
common prove nothing. The one rule: words are compared as they sound written down, without case, marks and the way in
which numbers are spelled.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

# Two words in common do not make it; from four on a stretch of what was said is nobody's chance.
_FEWEST_IN_A_ROW = 4
# Three words count where they are most of one sentence: "the blue one" answers a question that ends so.
_MOST_OF_A_SENTENCE = 0.6
# One misheard word is forgiven, and one more for every six words beyond the first six.
_WORDS_PER_ERROR = 6
# "dragon" heard for "dragons" is the same word: the share of letters two words must have in common.
_SAME_WORD = 0.75

_NAMES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen"""
_TEN_NAMES = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBERS = {word: n for n, word in enumerate(_NAMES.split())}
_TENS = {word: 10 * n for n, word in enumerate(_TEN_NAMES.split(), start=2)}
_WORD = re.compile(r"\d+|[^\W\d_]+(?:['’][^\W\d_]+)*")
_SENTENCE = re.compile(r"(?<=[.!?。！？…])\s*|\n+")


def is_own(heard: str, said: str, *, leaks: bool = False) -> bool:
    """Whether `heard` (from the microphone) is a stretch of `said` (what the assistant just said).

    `leaks` says that the assistant's voice is known to be in this microphone: then a word or two of it are its own too.
    """
    words, spoken = _words(heard), _words(said)
    if not words or not spoken:
        return False
    sentences = [kept for sentence in _SENTENCE.split(said) if (kept := _words(sentence))]
    if len(words) >= 2 and words in sentences:
        return True
    errors = _errors(words, spoken)
    if errors > 1 + max(0, len(words) - _WORDS_PER_ERROR) // _WORDS_PER_ERROR:
        return False
    matched = len(words) - errors
    if leaks and not errors:
        return True
    if matched >= _FEWEST_IN_A_ROW:
        return True
    if matched < 3:
        return False
    return any(len(words) >= _MOST_OF_A_SENTENCE * len(one) and _errors(words, one) <= 1 for one in sentences)


def novel_words(heard: str, said: str) -> int:
    """How many words of `heard` are none of those in `said`."""
    spoken = _words(said)
    return sum(not any(_same(word, other) for other in spoken) for word in _words(heard))


def _words(text: str) -> list[str]:
    """The words of `text`: no case, no marks, numbers as digits."""
    plain: list[str] = []
    tens: int | None = None
    for word in _WORD.findall(text.casefold().replace("’", "'")):
        if word in _TENS:
            if tens is not None:
                plain.append(str(tens))
            tens = _TENS[word]
            continue
        number = _NUMBERS.get(word)
        if tens is not None:
            if number is not None and 1 <= number <= 9:
                plain.append(str(tens + number))
                tens = None
                continue
            plain.append(str(tens))
            tens = None
        if number is not None:
            plain.append(str(number))
        else:
            plain.append(str(int(word)) if word.isdecimal() else word)
    if tens is not None:
        plain.append(str(tens))
    return plain


def _same(heard: str, said: str) -> bool:
    if heard == said:
        return True
    if heard.isdecimal() or said.isdecimal() or min(len(heard), len(said)) < 4:
        return False
    return SequenceMatcher(None, heard, said, autojunk=False).ratio() >= _SAME_WORD


def _errors(heard: list[str], said: list[str]) -> int:
    """The fewest words to change, drop or add so that `heard` is a stretch of `said`; its ends are free."""
    row = [0] * (len(said) + 1)
    for n, word in enumerate(heard, start=1):
        above, row = row, [n] + [0] * len(said)
        for m, other in enumerate(said, start=1):
            swap = above[m - 1] + (0 if _same(word, other) else 1)
            row[m] = min(swap, above[m] + 1, row[m - 1] + 1)
    return min(row)
