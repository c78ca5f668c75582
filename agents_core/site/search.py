"""Search over a site's pages, and over anything with a few words to it.

Not an index that is kept: a site is a few hundred passages, and ranking them takes less than a millisecond. Okapi BM25
with Lucene's idf, `ln(1 + (N - n + 0.5) / (n + 0.5))`, which is above zero also for a word in every passage. The one
rule: what matches nothing is not a result.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_K1, _B = 1.2, 0.75
# A title says more than a line of the text; twice is what the site this was measured on wanted.
_TITLE_TIMES = 2
_PASSAGE_CHARS = 700
_ENDINGS = ("ational", "ation", "ments", "ment", "ness", "ings", "ing", "ies", "ied", "edly", "ed", "ly", "es", "s")
_STEM_CHARS = 3


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a page, with where it stands."""

    title: str
    address: str
    text: str


class Index:
    """Passages, ready to be searched."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = tuple(passages)
        self._terms = [Counter(stems(p.text) + stems(p.title) * _TITLE_TIMES) for p in self.passages]
        self._lengths = [sum(terms.values()) for terms in self._terms]
        self._mean = sum(self._lengths) / len(self._lengths) if self._lengths else 1.0
        self._in = Counter(term for terms in self._terms for term in terms)

    def best(self, asked: str, most: int = 5) -> list[Passage]:
        """The passages most like what is asked, best first; of two as good, the earlier."""
        wanted = set(stems(asked))
        scored = [(self._score(n, wanted), -n) for n in range(len(self.passages))]
        return [self.passages[-n] for score, n in sorted(scored, reverse=True)[:most] if score > 0]

    def _score(self, n: int, wanted: set[str]) -> float:
        terms, total = self._terms[n], 0.0
        for term in wanted:
            if times := terms.get(term, 0):
                idf = math.log(1 + (len(self.passages) - self._in[term] + 0.5) / (self._in[term] + 0.5))
                total += idf * times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * self._lengths[n] / self._mean))
        return total


def cut(title: str, address: str, body: str) -> list[Passage]:
    """A page as passages: cut at its headings, then at the ends of paragraphs."""
    passages: list[Passage] = []
    head, held = title, ""

    def close() -> None:
        nonlocal held
        if held.strip():
            passages.append(Passage(head, address, held.strip()))
        held = ""

    for block in re.split(r"\n\s*\n", body):
        heading = re.match(r"#{1,6}\s+(.+)", block)
        if heading:
            close()
            head = f"{title}: {heading[1].strip()}" if heading[1].strip() != title else title
            block = block[heading.end() :]
        if held and len(held) + len(block) > _PASSAGE_CHARS:
            close()
        held = f"{held}\n{block.strip()}" if held else block.strip()
    close()
    return passages


def stems(text: str) -> list[str]:
    """The words of a text without their endings. `C++` and `R&D` are words."""
    return [_stem(word) for word in re.findall(r"[^\W_]+(?:[&'’.][^\W_]+)*\+*", text.lower())]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_CHARS:
            return word[: -len(ending)]
    return word
