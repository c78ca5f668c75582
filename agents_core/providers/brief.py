"""Keeps a small model brief: so many sentences, and none that was broken off.

Not a sentence splitter for speech: it only has to know where it is safe to stop. The one rule: the first sentence
streams as it comes, because somebody waits for it; later ones are given whole or not at all.
"""

from __future__ import annotations

import re

# An end that something follows. Without what follows, "3." may be the beginning of "3.5".
_END = re.compile(r"[.!?…][\"')\]”’]*\s+")


class Brief:
    """At most `most` sentences (0: no limit, nothing is held)."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._ended = 0
        self._held = ""

    @property
    def over(self) -> bool:
        """All sentences were given: the model may be stopped."""
        return 0 < self._most <= self._ended

    def push(self, words: str) -> str:
        """What may be given now."""
        if self._most == 0:
            return words
        self._held += words
        out = ""
        while not self.over and (end := _END.search(self._held)):
            self._ended += 1
            at = end.end() if self._ended < self._most else end.end() - len(end[0]) + len(end[0].rstrip())
            out, self._held = out + self._held[:at], self._held[at:]
        if self._ended == 0:
            # The end of a sentence and its space may come apart, so a possible end is held back with what follows it.
            end = re.search(r"[.!?…][\"')\]”’]*$", self._held)
            cut = end.start() if end else len(self._held)
            out, self._held = out + self._held[:cut], self._held[cut:]
        return out

    def flush(self, *, whole: bool) -> str:
        """What is held, at the end. `whole` says that the model ended it, rather than a limit."""
        rest, self._held = self._held, ""
        if self.over:
            return ""
        complete = whole or self._ended == 0 or re.search(r"[.!?…][\"')\]”’]*\s*$", rest)
        return rest if complete else ""
