"""Where a long sentence may be cut: behind its clauses, else between its words, else between its letters.

Pure. The one rule: an index that is given is one at which both sides can be spoken; nothing that is read as one (a
number, a date, a bracket, a letter with its marks) is ever parted while there is another way.
"""

from __future__ import annotations

import re
import unicodedata

from tts.words import UNSPACED, count_words, width

# A clause shorter than both sounds chopped off.
CLAUSE_WORDS = 4
CLAUSE_WIDTH = 24

_CLOSERS = "\"'”’»)\\]」』】）"
_CLAUSE = re.compile(
    rf"(?:[,;:،؛·፣፤]|\.\.\.|…)[{_CLOSERS}]*(?=\s)"  # marks with a space behind them
    rf"|\s[–—-](?=\s)|—(?=\w)"  # dashes
    rf"|[，、；：၊][{_CLOSERS}]*"  # marks of scripts without spaces
    rf"|(?<=[{UNSPACED}])(?=[ ]+[{UNSPACED}])"  # where a space is a mark: Thai and its neighbours
)
# The same where there is nothing but ASCII: thrice as fast.
_CLAUSE_ASCII = re.compile(r"[,;:.](?:(?<=[,;:])|(?<=\.)\.\.)[\"')\]]*(?=\s)|\s-(?=\s)")
# "5 May, 2026", "10 - 3", "Smith, Jr.", "e.g., so" are read as one.
_JOINED = re.compile(r"\s+\d|\s+(?:Jr|Sr|Inc|Ltd|LLC|GmbH|Ph\.?\s?D|M\.?D|Esq|I{2,3})\b")
_ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|z\.\s?B|d\.\s?h|p\.\s?ej|p\.\s?ex)\.),?$", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_OPENING, _CLOSING = "([（【", ")]）】"


def clauses(text: str) -> list[int]:
    """Indexes at which a clause of `text` ends, its spaces included, outside brackets."""
    found: list[int] = []
    depth = seen = 0
    lead = len(text) - len(text.lstrip())
    for mark in (_CLAUSE_ASCII if text.isascii() else _CLAUSE).finditer(text):
        for character in text[seen : mark.end()]:
            depth += (character in _OPENING) - (character in _CLOSING)
        seen, depth = mark.end(), max(0, depth)
        before = text[max(0, mark.start() - 1) : mark.start()]
        joined = _JOINED.match(text, mark.end())
        if joined and (before.isdigit() or not joined.group()[-1].isdigit()):
            continue
        if depth or mark.start() <= lead or _ABBREVIATED.search(text, max(0, mark.end() - 9), mark.end()):
            continue
        space = _SPACE.match(text, mark.end())
        found.append(space.end() if space else mark.end())
    return found


def opening_clause(text: str, cap: int) -> int | None:
    """Where the first clause of `text` ends that can stand alone; None where it has none."""
    for at in clauses(text):
        head, tail = text[:at], text[at:]
        if len(head.strip()) > cap:
            return None
        words = count_words(head)
        if (words >= CLAUSE_WORDS or width(head) >= CLAUSE_WIDTH) and words >= 2 and count_words(tail) >= 2:
            return at
    return None


def last_cut(text: str, cap: int) -> int:
    """Where to cut an endless sentence: behind its last clause within `cap` characters, or its last word."""
    lead = len(text) - len(text.lstrip())
    limit = lead + cap
    near = text[: limit + 1]
    for cuts in (clauses(near), _gaps(near)):
        good = [at for at in cuts if lead + cap // 3 <= at and len(near[:at].rstrip()) <= limit]
        if good:
            return good[-1]
    return _whole_letters(text, limit)


def middle_cut(text: str, cap: int) -> int:
    """Where to cut in two: behind a clause near the middle, or a word, or anywhere; both parts within `cap`."""
    lead = len(text) - len(text.lstrip())
    middle = lead + len(text.strip()) // 2
    for cuts, reach in ((clauses(text), cap // 4), (_gaps(text), cap)):
        # From the middle outwards, so that few are looked at.
        near = sorted((at for at in cuts if abs(at - middle) <= reach), key=lambda at: abs(at - middle))
        first: int | None = None
        for at in near:
            head, tail = text[:at].strip(), text[at:].strip()
            if len(head) > cap or len(tail) > cap:
                continue
            if count_words(head) >= 2 and count_words(tail) >= 2:
                return at
            first = at if first is None else first
        if first is not None:
            return first
    return _whole_letters(text, middle)


def _gaps(text: str) -> list[int]:
    body = len(text) - len(text.lstrip())
    return [space.end() for space in _SPACE.finditer(text.rstrip()) if space.start() > body]


def _whole_letters(text: str, at: int) -> int:
    """`at`, moved back so that it does not part a letter from its marks."""
    first = at
    while at > max(1, first - 32) and (
        unicodedata.category(text[at])[0] == "M" or text[at] == "\u200d" or text[at - 1] == "\u200d"
    ):
        at -= 1
    return at
