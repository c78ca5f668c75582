"""Exchanges in a bot's body: how it would answer, written as a question and its answer.

    > What is a bot?
    > Where do bots live?
    A bot is a text file in the folder content/bots.

A large model is given all of them as what it knows. A small one forgets most of what it is told, but follows what was
just said, so it gets the few that are closest to the question, as if they had been said before.

The one rule: finding the closest is pure, and costs less than a millisecond.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

# Words that say nothing about what is asked, unless there are no others.
_EMPTY = frozenset(
    """a about an and are at be by can could did do does for from has have how i if in is it me my of on or please so
    tell that the there they this to us was we what when where which will with would you your""".split()  # noqa: SIM905
)
_ENDINGS = ("ing", "ed", "es", "ly", "s")
# A stem of fewer letters says nothing: "used" and "uses" meet, "sing" and "sed" do not.
_STEM_CHARS = 3


@dataclass(frozen=True, slots=True)
class Exchange:
    """One or more ways to ask, and the answer."""

    questions: tuple[str, ...]
    answer: str


def take_out(body: str) -> tuple[str, tuple[Exchange, ...]]:
    """The body without its exchanges, and the exchanges. A `>` line begins one; a blank line or a `>` line ends it."""
    prose: list[str] = []
    found: list[tuple[list[str], list[str]]] = []
    inside = False
    for line in body.split("\n"):
        if line.startswith(">"):
            if not inside or found[-1][1]:
                found.append(([], []))
            found[-1][0].append(line[1:].strip())
            inside = True
        elif inside and line.strip():
            found[-1][1].append(line.strip())
        else:
            inside = False
            prose.append(line)
    exchanges = tuple(Exchange(tuple(asked), " ".join(said)) for asked, said in found if asked and said)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(prose)).strip(), exchanges


def closest(exchanges: Sequence[Exchange], asked: str, most: int) -> list[tuple[str, str]]:
    """Up to `most` exchanges for a question, the closest last: each with the way to ask that is most like it."""
    known = [_stems(" ".join((*exchange.questions, exchange.answer))) for exchange in exchanges]
    seen = Counter(stem for stems in known for stem in stems)
    wanted = _stems(asked)

    def weight(stems: frozenset[str]) -> float:
        # Lucene's idf: a word in every exchange still counts a little, never less than nothing.
        return sum(math.log(1 + (len(known) - seen[stem] + 0.5) / (seen[stem] + 0.5)) for stem in wanted & stems)

    ranked = sorted(range(len(known)), key=lambda n: (-weight(known[n]), n))[:most]
    return [(_nearest(exchanges[n].questions, wanted), exchanges[n].answer) for n in reversed(ranked)]


def _nearest(questions: tuple[str, ...], wanted: frozenset[str]) -> str:
    return max(questions, key=lambda question: len(_stems(question) & wanted))


def _stems(text: str) -> frozenset[str]:
    words = re.findall(r"[^\W_]+", text.lower())
    telling = [word for word in words if word not in _EMPTY]
    return frozenset(_stem(word) for word in telling or words)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_CHARS:
            return word[: -len(ending)]
    return word
