"""The cut for a fast start: from text that keeps arriving to the pieces that an engine speaks in one go.

It is given speakable text (see `speakable.py`) and knows nothing of sound. The one rule: pieces' sources joined give
the text back exactly, and where they are cut does not depend on how the text arrived, only, where it paused, on that.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable

from tts.frames import Piece
from tts.reading import spoken
from tts.sentences import first_end
from tts.speakable import speakable
from tts.words import count_words, is_speakable, width

# The longest first sentence that is spoken whole. At 160 words a minute twelve take 4.5 s.
WORDS = 12
# Characters in one piece: what Piper speaks well, and what an interrupted answer may cost.
CAP = 300
# Hangul carries more sound a character.
CAPS = {"ko": 120}
# A clause shorter than both sounds chopped off.
CLAUSE_WORDS = 4
CLAUSE_WIDTH = 24
# With no text for so long the sender has paused, and what looks like an end is one.
TRUST_AFTER_S = 0.15

_CLAUSE = re.compile(r"(?:[,;:]|\.\.\.|…)[\"'”’»)\]]*(?=\s)|\s[–—-](?=\s)|—(?=\w)|[，、；：][」』”’]*")
_NOT_A_CLAUSE = re.compile(r"(?:\b(?:e\.g|i\.e|z\.B|d\.h|p\.ej)\.,|\d,)$", re.IGNORECASE)
_SPACE = re.compile(r"\s+")


def pieces(text: str, words: int = WORDS, cap: int = CAP, language: str = "en") -> list[str]:
    """How `text` is cut: markdown is cleaned first, and the result joined is the cleaned text."""
    cutter = Cutter(words=words, cap=cap, language=language)
    return [piece.source for piece in [*cutter.push(speakable(text)), *cutter.flush()]]


class Cutter:
    """The streaming cut.

    `push` and `flush` give the pieces that are certain; `due` releases what a pause of the sender makes certain;
    `take` releases every whole sentence at once, for a speaker that is about to run dry. `cap` is in characters.
    """

    def __init__(
        self,
        *,
        words: int = WORDS,
        cap: int = CAP,
        language: str = "en",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if words < 1 or cap < 10:
            raise ValueError(f"words is {words} and cap {cap}; give at least 1 word and 10 characters")
        self._words = words
        self._cap = min(cap, CAPS.get(language, cap))
        self._language = language
        self._clock = clock
        self._rest = ""
        self._groups: list[list[str]] = []
        self._n = 0
        self._pushed_s: float | None = None

    @property
    def due_s(self) -> float | None:
        """When `due` has something to do, on the clock; None while nothing waits."""
        waits = self._rest.strip() or self._groups
        return None if self._pushed_s is None or not waits else self._pushed_s + TRUST_AFTER_S

    def push(self, delta: str) -> list[Piece]:
        """The pieces that are certain once `delta` is there."""
        if not delta:
            return []
        self._pushed_s = self._clock()
        self._rest += delta
        return self._advance(trust=False)

    def due(self, now_s: float) -> list[Piece]:
        """What is certain because nothing came for 150 ms."""
        if self.due_s is None or now_s < self.due_s:
            return []
        self._pushed_s = None
        return [*self._advance(trust=True), *self._release()]

    def take(self) -> list[Piece]:
        """Every whole sentence that is held, for a listener who would hear a gap otherwise."""
        return self._release()

    def flush(self) -> list[Piece]:
        """The stream has ended: all that is left."""
        self._pushed_s = None
        made = self._advance(trust=True)
        rest, self._rest = self._rest, ""
        if rest.strip():
            made += self._place(rest)
        elif rest and self._groups:
            self._groups[-1].append(rest)
        elif rest:
            made.append(self._piece(rest))
        return made + self._release()

    def _advance(self, *, trust: bool) -> list[Piece]:
        made: list[Piece] = []
        while self._rest.strip():
            end = first_end(self._rest, self._language)
            found = end is not None and (end.sure or trust)
            if end is not None and found:
                stop = self._with_spaces(end.at)
                unit = self._rest[:stop]
                if self._n == 0 and not self._groups and count_words(unit) > self._words:
                    stop = self._opening_clause(unit) or stop
                    unit = self._rest[:stop]
            elif self._n == 0 and not self._groups and count_words(self._rest) > self._words and not end:
                clause = self._opening_clause(self._rest)
                if clause is None and len(self._rest.strip()) <= 2 * self._cap:
                    break
                stop = clause or self._peel(self._rest)
            elif len(self._rest.strip()) > 2 * self._cap and not end:
                stop = self._peel(self._rest)
            else:
                break
            unit, self._rest = self._rest[:stop], self._rest[stop:]
            made += self._place(unit)
        return made

    def _with_spaces(self, at: int) -> int:
        space = _SPACE.match(self._rest, at)
        return space.end() if space else at

    def _opening_clause(self, text: str) -> int | None:
        """Where the first clause of `text` ends, its spaces included; None where it has none."""
        for at in _clauses(text):
            head, tail = text[:at], text[at:]
            long_enough = width(head) >= CLAUSE_WIDTH or count_words(head) >= CLAUSE_WORDS
            if long_enough and count_words(head) >= 2 and len(head.strip()) <= self._cap and count_words(tail) >= 2:
                return at
        return None

    def _place(self, unit: str) -> list[Piece]:
        """Put a unit where it belongs; the pieces that are thereby complete."""
        parts = self._within_cap(unit)
        made: list[Piece] = []
        if self._n == 0 and not self._groups and is_speakable(parts[0]):
            made.append(self._piece(parts.pop(0)))
        for part in parts:
            if self._groups and len(("".join(self._groups[-1]) + part).strip()) <= self._cap:
                self._groups[-1].append(part)
            else:
                self._groups.append([part])
        # The last two groups stay until the end is known: only then can they be balanced.
        while len(self._groups) > 2:
            made.append(self._piece("".join(self._groups.pop(0))))
        return made

    def _release(self) -> list[Piece]:
        units = [unit for group in self._groups for unit in group]
        groups, self._groups = self._groups, []
        if len(groups) == 2:
            halves = [("".join(units[:at]), "".join(units[at:])) for at in range(1, len(units))]
            fitting = [half for half in halves if max(len(part.strip()) for part in half) <= self._cap]
            if fitting:
                best = min(fitting, key=lambda half: abs(len(half[0]) - len(half[1])))
                return [self._piece(part) for part in best]
        return [self._piece("".join(group)) for group in groups]

    def _piece(self, source: str) -> Piece:
        piece = Piece(self._n, source, spoken(source, self._language), opening=self._n == 0)
        self._n += 1
        return piece

    def _within_cap(self, unit: str) -> list[str]:
        parts: list[str] = []
        while len(unit.strip()) > self._cap:
            length = len(unit.strip())
            at = self._peel(unit) if length > 2 * self._cap else _middle(unit, self._cap)
            parts.append(unit[:at])
            unit = unit[at:]
        return [*parts, unit]

    def _peel(self, text: str) -> int:
        """Where to cut a sentence that is far too long: its last clause within the cap, or its last word."""
        lead = len(text) - len(text.lstrip())
        limit = lead + self._cap
        for cuts in (_clauses(text[: limit + 1]), _gaps(text[: limit + 1])):
            good = [at for at in cuts if lead + self._cap // 3 <= at and len(text[:at].strip()) <= self._cap]
            if good:
                return good[-1]
        return _whole_characters(text, limit)


def _middle(text: str, cap: int) -> int:
    """Where to cut in two: at a clause near the middle, or a word, or anywhere; both parts within `cap`."""
    lead = len(text) - len(text.lstrip())
    middle = lead + len(text.strip()) // 2
    for cuts, reach in ((_clauses(text), cap // 4), (_gaps(text), cap)):
        good = [
            at
            for at in cuts
            if abs(at - middle) <= reach and len(text[:at].strip()) <= cap and len(text[at:].strip()) <= cap
        ]
        if good:
            return min(good, key=lambda at: abs(at - middle))
    return _whole_characters(text, middle)


def _clauses(text: str) -> list[int]:
    """Indexes at which a clause of `text` ends, spaces included, outside brackets."""
    found = []
    for mark in _CLAUSE.finditer(text):
        head = text[: mark.end()]
        if _NOT_A_CLAUSE.search(head[-8:]) or head.count("(") > head.count(")") or not head[: mark.start()].strip():
            continue
        space = _SPACE.match(text, mark.end())
        found.append(space.end() if space else mark.end())
    return found


def _gaps(text: str) -> list[int]:
    return [space.end() for space in _SPACE.finditer(text.rstrip()) if text[: space.start()].strip()]


def _whole_characters(text: str, at: int) -> int:
    """`at`, moved back so that it does not part a letter from its marks."""
    first = at
    while (
        at > first - 8
        and at > 1
        and (unicodedata.combining(text[at]) or text[at] == "\u200d" or text[at - 1] == "\u200d")
    ):
        at -= 1
    return at
