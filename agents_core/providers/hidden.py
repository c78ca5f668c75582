"""What a model writes among its words that is not for a listener: its thoughts and calls written as markup.

Not a parser: calls written as words are dropped, not run. The one rule: from where markup could begin, words are held
until it is known, so that not one character of it is ever spoken, wherever the pieces are cut.
"""

from __future__ import annotations

# What opens, and what closes it; None where the rest of the answer goes with it.
_PAIRS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<tool_call>": "</tool_call>",
    "<tool_calls>": "</tool_calls>",
    "<function_call>": "</function_call>",
    "<function=": "</function>",
    "<|tool_call|>": None,
    "<|python_tag|>": None,
    "[TOOL_CALLS]": None,
}
# Ends and turn marks that were left over; dropped where they stand.
_ORPHANS = ("</think>", "</thinking>", "</tool_call>", "</tool_calls>", "</function_call>", "</function>", "<|im_end|>")
_MARKS = (*_PAIRS, *_ORPHANS)
_STARTS = tuple({mark[0] for mark in _MARKS})


class Hidden:
    """Drops what is not for a listener. Push words as they come, then flush."""

    def __init__(self) -> None:
        self._held = ""
        self._until: str | None = None
        self._dropping = False

    def push(self, words: str) -> str:
        """The words that are sure to be for the listener."""
        self._held += words
        out = ""
        while self._held:
            if self._dropping:
                if not self._drop():
                    break
                continue
            at = min((at for at in map(self._held.find, _STARTS) if at >= 0), default=len(self._held))
            out, self._held = out + self._held[:at], self._held[at:]
            mark = next((mark for mark in _MARKS if self._held.startswith(mark)), None)
            if mark is not None:
                self._held = self._held[len(mark) :]
                self._dropping, self._until = mark in _PAIRS, _PAIRS.get(mark)
            elif any(mark.startswith(self._held) for mark in _MARKS):
                break
            else:
                out, self._held = out + self._held[:1], self._held[1:]
        return out

    def flush(self) -> str:
        """What is left at the end: words, unless it stands inside markup."""
        rest, self._held = ("" if self._dropping else self._held), ""
        return rest

    def _drop(self) -> bool:
        """Drop up to the close. False where it has not come yet; what could be its beginning is kept."""
        if self._until is None:
            self._held = ""
            return False
        at = self._held.find(self._until)
        if at < 0:
            self._held = self._held[-(len(self._until) - 1) :]
            return False
        self._held = self._held[at + len(self._until) :]
        self._dropping = False
        return True
