"""What was heard: from the samples that were played to the words they carried.

It keeps lengths, not sound. The one rule: what is kept of an answer is never more than what was played; it is cut at a
word and ends with "—" unless the whole was heard.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

CUT = "—"
# Speech runs at about 15 characters a second; only used for a piece whose length is not known yet.
_CHARS_PER_S = 15.0
# A word cut in its last tenth was heard: its final consonant is a few milliseconds of near-silence.
_TOLERANCE_CHARS = 0.5


@dataclass(slots=True)
class _Stretch:
    source: str
    samples: int = 0
    whole: bool = False


class Heard:
    """The ledger of one answer: its pieces and how many samples each has at `rate_hz`."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._stretches: dict[int, _Stretch] = {}

    @property
    def samples(self) -> int:
        """Samples made so far."""
        return sum(stretch.samples for stretch in self._stretches.values())

    def made(self, n: int, source: str, samples: int, *, last: bool) -> None:
        """`samples` more of piece `n`, which says `source`; `last` where that was its end."""
        stretch = self._stretches.setdefault(n, _Stretch(source))
        stretch.samples += samples
        stretch.whole = stretch.whole or last

    def text(self, played: int, *, complete: bool) -> str:
        """What was heard when `played` samples were played; "" is no line.

        `complete` says that nothing more of the answer is to come. `played` is clamped to what was made.
        """
        left = min(max(0, played), self.samples)
        if not left:
            return ""
        pieces = [self._stretches[n] for n in sorted(self._stretches)]
        heard = ""
        for stretch in pieces:
            if left >= stretch.samples and stretch.whole:
                heard += stretch.source
                left -= stretch.samples
                continue
            heard += _part(stretch.source, left / self._length(stretch))
            return _cut(heard)
        return heard.strip() if complete else _cut(heard)

    def _length(self, stretch: _Stretch) -> float:
        if stretch.whole:
            return max(1.0, float(stretch.samples))
        known = [one for one in self._stretches.values() if one.whole and one.samples]
        chars = sum(len(one.source) for one in known)
        pace = chars / sum(one.samples for one in known) if chars else _CHARS_PER_S / self._rate_hz
        return max(float(stretch.samples), len(stretch.source) / pace, 1.0)


def _part(source: str, share: float) -> str:
    """The words of `source` that end within its first `share`."""
    reached = len(source) * min(1.0, share) + _TOLERANCE_CHARS
    ends = [match.end() for match in re.finditer(r"\S+", source)]
    fits = [end for end in ends if end <= reached]
    return source[: fits[-1]] if fits else ""


def _cut(heard: str) -> str:
    kept = heard.strip()
    return f"{kept}{CUT}" if kept else ""
