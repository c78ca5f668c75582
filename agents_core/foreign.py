"""What others wrote, as one can go on with it: the text and the JSON of a provider, a model, a server behind a tool.

Not a check of what it says. JSON that is nested too deep, or half a letter, is as little a fault of ours as what is no
JSON at all; but Python raises errors of its own for them, and a database or a client refuses such text only when the
answer has been given. The one rule: what is given here can be written down and sent, whatever came in.
"""

from __future__ import annotations

import json
from typing import Any


def read_json(text: str | bytes) -> Any:
    """What `text` holds. Raises `ValueError`, also where it is nested deeper than can be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deep") from None


def letters(text: str) -> str:
    """`text` without NUL and without halves of letters: two that belong together become one, a lone one U+FFFD."""
    text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class Letters:
    """The same for words that come in pieces. A server that cuts them by UTF-16's units cuts an emoji in two."""

    def __init__(self) -> None:
        self._half = ""

    def push(self, words: str) -> str:
        """The words that are whole; a first half at the end is held."""
        words = self._half + words
        whole = len(words) - ("\ud800" <= words[-1:] <= "\udbff")
        self._half = words[whole:]
        return letters(words[:whole])

    def flush(self) -> str:
        """What is left at the end."""
        half, self._half = self._half, ""
        return letters(half)
