"""The cut for a fast start: from text that keeps arriving to the pieces that an engine speaks in one go.

It is given speakable text (see `speakable.py`) and knows nothing of sound. The one rule: pieces' sources joined give
the text back exactly, and where they are cut does not depend on how the text arrived, only, where it paused or came
slowly, on that.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable

from tts.clauses import last_cut, middle_cut, opening_clause
from tts.ends import AFTER
from tts.frames import Piece
from tts.reading import warm
from tts.sentences import Ends
from tts.speakable import speakable
from tts.words import count_words, is_speakable

# The longest first sentence that is spoken whole. At 160 words a minute twelve take 4.5 s.
WORDS = 12
# Characters in one piece: what Piper speaks well, and what an interrupted answer may cost.
CAP = 300
# Hangul carries more sound a character.
CAPS = {"ko": 120}
# With no text for so long the sender has paused, and what looks like an end is one.
TRUST_AFTER_S = 0.15
# How long the words may take, at the sender's pace, that show whether the first sentence runs on: a seam that was not
# needed costs a listener less than more silence than this.
PATIENCE_S = 0.3

_NOT_SPACE = re.compile(r"\S")


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
        self._cap = min(cap, CAPS.get(language.split("-")[0], cap))
        self._reach = 2 * self._cap + AFTER  # what decides a cut: nothing behind it is looked at
        self._language = language
        self._clock = clock
        warm(language)
        self._ends = Ends(language)
        self._sure: deque[int] = deque()
        self._rest = ""
        self._base = 0  # the offset of `rest` in the text
        self._at = 0  # what of `rest` is placed
        self._blank = True  # nothing but spaces is left
        self._lead = ""  # what stands before the opening and is not spoken
        self._groups: list[list[str]] = []
        self._n = 0
        self._pushed_s: float | None = None
        self._pace: tuple[float, float] | None = None  # when the first delta came, and the words in it
        self._clause_s: float | None = None  # when waiting for the end of the first sentence is no longer worth it

    @property
    def due_s(self) -> float | None:
        """When `due` has something to do, on the clock; None while nothing waits."""
        if self._pushed_s is None or (self._blank and not self._groups):
            return None
        trusted_s = self._pushed_s + TRUST_AFTER_S
        return trusted_s if self._clause_s is None else min(trusted_s, self._clause_s)

    def push(self, delta: str) -> list[Piece]:
        """The pieces that are certain once `delta` is there."""
        if not delta:
            return []
        self._pushed_s = self._clock()
        self._rest += delta
        self._blank = self._blank and delta.isspace()
        self._sure.extend(self._ends.push(delta))
        made = self._advance() if self._sure or not delta.isspace() else []
        self._clause_s = self._worth_waiting_until() if self._opens and not self._blank else None
        return made

    def due(self, now_s: float) -> list[Piece]:
        """What is certain because nothing came for 150 ms; and the first clause of a slow sender's first sentence."""
        if self._pushed_s is None or self.due_s is None or now_s < self.due_s:
            return []
        self._clause_s = None
        if now_s < self._pushed_s + TRUST_AFTER_S:
            return self._advance(hurried=True)
        self._pushed_s = None
        self._sure.extend(self._ends.trust())
        return [*self._advance(hurried=True), *self._release()]

    def take(self) -> list[Piece]:
        """Every whole sentence that is held, for a listener who would hear a gap otherwise."""
        return self._release()

    def flush(self) -> list[Piece]:
        """The stream has ended: all that is left."""
        self._pushed_s = None
        self._sure.extend(self._ends.trust())
        made = self._advance()
        rest, self._rest = self._rest, ""
        self._base += len(rest)
        self._blank = True
        if rest.strip():
            made += self._place(rest)
        elif rest and self._groups:
            self._groups[-1].append(rest)
        else:
            self._lead += rest
        made += self._release()
        if self._lead:
            lead, self._lead = self._lead, ""
            made.append(self._piece(lead))
        return made

    @property
    def _opens(self) -> bool:
        """Whether the opening is still to come."""
        return self._n == 0 and not self._groups

    def _worth_waiting_until(self) -> float | None:
        """When, if nothing more comes, the sentence that began is no longer waited for: at this pace the words that
        would show whether it runs on are further off than `PATIENCE_S`. None where no pace is known yet."""
        assert self._pushed_s is not None  # noqa: S101 - set by the push that asks
        words = count_words(self._rest[: self._reach])
        if self._pace is None:
            self._pace = self._pushed_s, words
        began_s, first = self._pace
        if words <= first or self._ends.pending is not None:
            return None
        missing = max(1.0, self._words + 1 - words)
        return max(self._pushed_s, began_s + PATIENCE_S * (words - first) / missing)

    def _advance(self, *, hurried: bool = False) -> list[Piece]:
        made: list[Piece] = []
        while not self._blank and (stop := self._next_cut(hurried=hurried)) is not None:
            unit = self._rest[self._at : stop]
            self._at = stop
            while self._sure and self._sure[0] <= self._base + stop:
                self._sure.popleft()
            made += self._place(unit)
            self._blank = not self._rest[stop : stop + 1].strip() and not self._rest[stop:].strip()
        self._rest = self._rest[self._at :]
        self._base += self._at
        self._at = 0
        return made

    def _next_cut(self, *, hurried: bool) -> int | None:
        """Where in `rest` the next unit ends; None where more text must come first.

        A unit is a sentence with the spaces behind it, a clause that opens the answer, or a part of an endless one.
        """
        at, opens = self._at, self._opens
        if self._sure:
            stop = self._with_spaces(self._sure[0] - self._base)
            clause = self._clause(self._rest[at : min(stop, at + self._reach)]) if opens else None
            return at + clause if clause else stop
        pending = self._ends.pending
        stop = len(self._rest) if pending is None else pending - self._base
        unit = self._rest[at : min(stop, at + self._reach)]
        if opens and (clause := opening_clause(unit, self._cap) if hurried else self._clause(unit)):
            return at + clause
        return at + last_cut(unit, self._cap) if len(unit.strip()) > 2 * self._cap else None

    def _clause(self, unit: str) -> int | None:
        """Where an opening sentence that runs on has its first clause."""
        return opening_clause(unit, self._cap) if count_words(unit) > self._words else None

    def _with_spaces(self, at: int) -> int:
        behind = self._rest[at : at + AFTER]
        return at + len(behind) - len(behind.lstrip())

    def _place(self, unit: str) -> list[Piece]:
        """Put a unit where it belongs; the pieces that are thereby complete."""
        made: list[Piece] = []
        if self._opens:
            if not is_speakable(unit):
                self._lead += unit
                return made
            unit, self._lead = self._lead + unit, ""
        parts = self._within_cap(unit)
        if self._opens:
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
        piece = Piece(self._n, source, self._language, opening=self._n == 0)
        self._n += 1
        return piece

    def _within_cap(self, unit: str) -> list[str]:
        parts: list[str] = []
        at, end = 0, len(unit.rstrip())
        while end - at > self._cap:
            start = _NOT_SPACE.search(unit, at)
            begin = start.start() if start else at
            if end - begin <= self._cap:
                break
            far = end - begin > 2 * self._cap
            near = unit[at : begin + 2 * self._cap + 1] if far else unit[at:]
            cut = last_cut(near, self._cap) if far else middle_cut(near, self._cap)
            parts.append(unit[at : at + cut])
            at += cut
        return [*parts, unit[at:]]
