"""Where sentences end, while the text is still arriving.

It reads; what a run of marks means is judged in `ends.py`. It knows nothing of pieces or engines. The one rule: each
character is looked at once, and an end that was given is never taken back.
"""

from __future__ import annotations

import re

from tts.ends import BEFORE, HARD, SOFT, judge, run_at
from tts.lines import line_break

# Where an end may be: marks, and line breaks.
_CANDIDATE = re.compile(rf"[{SOFT}{HARD};\n]")
# What is kept of a sentence that grows and grows: more than is looked back.
_KEPT = 4 * BEFORE


class Ends:
    """The ends of the sentences of one text, as offsets from its beginning, spaces after the marks left out."""

    def __init__(self, language: str = "en") -> None:
        self._language = language
        self._text = ""
        self._base = 0  # the offset of the first character kept
        self._start = 0  # where the sentence begins, in what is kept; less than 0 where that is no longer kept
        self._at = 0  # what stands before has been judged
        self._masked: list[int] = []
        self.pending: int | None = None  # an end, unless what follows undoes it

    def push(self, delta: str) -> list[int]:
        """The ends that are sure once `delta` is there."""
        self._text += delta
        return self._read(trust=False)

    def trust(self) -> list[int]:
        """The ends as they are if nothing more comes."""
        return self._read(trust=True)

    def _read(self, *, trust: bool) -> list[int]:
        found: list[int] = []
        self.pending = None
        while (candidate := _CANDIDATE.search(self._text, self._at)) is not None:
            at = candidate.start()
            if self._text[at] == "." and self._text[at + 1 : at + 2].isalnum():
                self._masked.append(at)  # a number, a name of a file, an address
                self._at = at + 1
                continue
            if self._text[at] == "\n":
                end, verdict = at, line_break(self._text, at)
            else:
                end = run_at(self._text, at)
                masked = self._head(at, end)
                verdict = judge(self._text, at, end, self._start, masked, self._language)
            if not verdict.sure and not trust:
                self.pending = self._base + end if verdict.ends else None
                break
            self._at = max(end, at + 1)
            if verdict.ends and not self._spoken_before(at):
                self._start = end
            elif verdict.ends:
                found.append(self._base + end)
                self._start = end
                self._masked.clear()
            else:
                self._masked.extend(range(at, end))
        else:
            self._at = len(self._text)
        self._forget()
        return found

    def _spoken_before(self, at: int) -> bool:
        return self._start < 0 or bool(self._text[self._start : at].strip())

    def _head(self, at: int, end: int) -> str:
        """The sentence up to `end`, its earlier marks masked."""
        first = max(0, self._start, end - BEFORE)
        head = self._text[first:end]
        letters = list(head)
        for index in reversed(self._masked):
            if index < first:
                break
            if letters[index - first] in SOFT:
                letters[index - first] = "x"
        return "".join(letters)

    def _forget(self) -> None:
        """Let go of what is no longer looked at."""
        spare = self._at - _KEPT
        if spare < _KEPT:
            return
        self._text = self._text[spare:]
        self._base += spare
        self._start -= spare
        self._at -= spare
        self._masked = [index - spare for index in self._masked if index >= spare]


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of `text` without the spaces around them. `language` is ISO 639-1; an unknown one is no error."""
    reader = Ends(language)
    ends = [*reader.push(text), *reader.trust(), len(text)]
    found = [text[start:end].strip() for start, end in zip([0, *ends], ends, strict=False)]
    return [sentence for sentence in found if sentence]
