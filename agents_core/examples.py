"""Exchanges in a bot's body: how it would answer, written as a question and its answer.

    > What is a bot?
    > Where do bots live?
    A bot is a text file in the folder content/bots.

A large model is given all of them as what it knows. A small one forgets most of what it is told, but follows what was
just said: it gets the one that is like the question, as if it had been said before, and the first words of its answer
to go on from. Where none is like it, it gets none.

The one rule: finding it is pure, and what a model is given of an exchange never varies, so its reading can be kept.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from dataclasses import dataclass

# Words that say nothing about what is asked, unless there are no others.
_EMPTY_WORDS = """
    a about an and are at be by can could did do does for from has have hello hey hi how i if in is it know like many me
    much my of on or please so tell that the there they this to us want was we what when where which will with wonder
    would you your
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
# An exchange is like a question when it has this share of what the question is about.
_LIKE = 0.4
# Words of an answer that a small model goes on from, at most half of them. With two or three it still wanders
# off from a long answer; with five it says the rest as it was written, or nearly so. Of a short answer all but the
# last: after "I" it speaks Spanish, after "I speak" English.
_LEAD_WORDS = 5
_SHORT_LEAD_WORDS = 3
_ENDINGS = ("ing", "ed", "es", "ly", "s")
# Bots whose exchanges are kept ready to be searched; one that is not among them costs a fifth of a millisecond.
_BOTS = 256
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


def like(exchanges: tuple[Exchange, ...], asked: str) -> Exchange | None:
    """The exchange that is most like the question, if any is."""
    known, seen = _index(exchanges)
    wanted = _stems(asked)

    def weight(stems: frozenset[str]) -> float:
        # Lucene's idf: a word in every exchange still counts a little, and one in none counts most.
        return sum(math.log(1 + (len(known) - seen[stem] + 0.5) / (seen[stem] + 0.5)) for stem in stems)

    if not known:
        return None
    # Of two that are as much like it, the one that says less else.
    best = max(range(len(known)), key=lambda n: (weight(wanted & known[n]), -len(known[n]), -n))
    return exchanges[best] if weight(wanted & known[best]) >= _LIKE * weight(wanted) > 0 else None


@functools.lru_cache(maxsize=_BOTS)
def _index(exchanges: tuple[Exchange, ...]) -> tuple[list[frozenset[str]], Counter[str]]:
    """What each exchange is about, and how many are about each thing: once a bot, not once a question."""
    known = [frozenset().union(*map(_stems, exchange.questions)) for exchange in exchanges]
    return known, Counter(stem for stems in known for stem in stems)


def length(exchange: Exchange) -> int:
    """How many sentences its answer has: a small model that says more than it was shown makes it up."""
    return max(1, len(re.findall(r"[.!?…](?=\s|$)", exchange.answer)))


def lead(exchange: Exchange) -> str:
    """The first words of its answer."""
    words = exchange.answer.split()
    most = max(len(words) // 2, min(_SHORT_LEAD_WORDS, len(words) - 1))
    return " ".join(words[: min(_LEAD_WORDS, most)])


def _stems(text: str) -> frozenset[str]:
    words = re.findall(r"[^\W_]+", text.lower())
    telling = [word for word in words if word not in _EMPTY]
    return frozenset(_stem(word) for word in telling or words)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_CHARS:
            return word[: -len(ending)]
    return word
