"""Reading an OpenAI-shaped stream, by hand.

Not a client: bytes go in, words and calls come out. It reads what servers really send: comments, empty data, CR, LF or
CRLF, `choices` empty or missing, calls by index, else id, else place, arguments as text, object or nothing, several
finish reasons. A chunk that is not JSON ends the attempt; it is not swallowed.

The one rule: the same result wherever the bytes are cut.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agents_core.errors import ProviderFault
from agents_core.events import Usage
from agents_core.foreign import letters, read_json
from agents_core.loop import Call
from agents_core.providers.base import Whole
from agents_core.providers.classify import classify_event, provider_fault

# One line of a stream. A delta is under a kilobyte; a server that sends a megabyte without an end is broken.
LINE_BYTES = 1 << 20
_DONE = "[DONE]"


class Lines:
    """Bytes to lines. Only CR, LF and CRLF end a line: U+2028, U+2029 and U+0085 are text."""

    def __init__(self) -> None:
        self._rest = b""
        self._after_cr = False
        self._first = True

    def push(self, data: bytes) -> list[str]:
        """The lines that `data` completes."""
        if self._after_cr and data:
            data = data.removeprefix(b"\n")
            self._after_cr = False
        self._after_cr = data.endswith(b"\r") if data else self._after_cr
        *whole, self._rest = (self._rest + data).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        return [self._text(line) for line in whole]

    @property
    def endless(self) -> bool:
        """What has come of a line that nothing ended is longer than any line is."""
        return len(self._rest) > LINE_BYTES

    def end(self) -> list[str]:
        """A last line that nothing ended."""
        rest, self._rest = self._rest, b""
        return [self._text(rest)] if rest else []

    def _text(self, line: bytes) -> str:
        text = line.decode("utf-8", errors="replace")
        if self._first:
            self._first = False
            return text.removeprefix("\ufeff")
        return text


class Events:
    """Lines to the data of each event. An event ends at a blank line, or where the next one begins without it."""

    def __init__(self) -> None:
        self._lines = Lines()
        self._data: list[str] = []

    def push(self, data: bytes) -> Iterator[str]:
        """The events that `data` completes."""
        for line in self._lines.push(data):
            yield from self._line(line)
        if self._lines.endless:
            raise ProviderFault(provider_fault(f"the provider sent a line longer than {LINE_BYTES} bytes"))

    def end(self) -> Iterator[str]:
        """What is left when the bytes are over."""
        for line in self._lines.end():
            yield from self._line(line)
        yield from self._event()

    def _line(self, line: str) -> Iterator[str]:
        if not line:
            yield from self._event()
            return
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field != "data" or value.startswith(":"):
            return  # a comment, a field we have no use for, or a comment that somebody wrapped as data
        if self._data and _is_whole("\n".join(self._data)):
            yield from self._event()  # the blank line between two events is missing
        self._data.append(value)

    def _event(self) -> Iterator[str]:
        data, self._data = "\n".join(self._data).strip(), []
        if data:
            yield data


def _is_whole(data: str) -> bool:
    if data.strip() == _DONE:
        return True
    try:
        read_json(data)
    except ValueError:
        return False
    return True


@dataclass(slots=True)
class _Open:
    """A call while its pieces come."""

    index: int | None
    id: str
    name: str
    arguments: str

    def call(self, n: int) -> Call:
        """The whole of it, the `n`-th of its answer."""
        return Call(letters(self.id) or f"call_{n}", letters(self.name), letters(self.arguments).strip() or "{}")


def chunk_of(data: str) -> dict[str, Any]:
    """One event's data as the object it has to be. Raises `ProviderFault`."""
    try:
        chunk = read_json(data)
    except ValueError:
        raise ProviderFault(provider_fault("the provider sent a chunk that is not JSON")) from None
    if not isinstance(chunk, dict):
        raise ProviderFault(provider_fault("the provider sent a chunk that is not an object"))
    return chunk


class Answer:
    """Events to an answer. `push` gives the words as they come; `whole` says what they amounted to."""

    def __init__(self) -> None:
        self._calls: list[_Open] = []
        self._reason: str | None = None
        self._usage: Usage | None = None
        self._model = ""
        self._over = False

    @property
    def over(self) -> bool:
        """`[DONE]` was read; nothing after it counts."""
        return self._over

    def push(self, data: str) -> str:
        """The words in one event's data. Raises `ProviderFault` for an error event or what is not JSON."""
        if self._over:
            return ""
        if data == _DONE:
            self._over = True
            return ""
        chunk = chunk_of(data)
        if chunk.get("error"):
            raise ProviderFault(classify_event(chunk["error"], data))
        self._model = self._model or _text(chunk.get("model"))
        if isinstance(chunk.get("usage"), dict):
            self._usage = _usage(chunk["usage"])
        choices = chunk.get("choices")
        return "".join(self._choice(choice) for choice in choices) if isinstance(choices, list) else ""

    def whole(self) -> Whole:
        """The answer, once the bytes are over. Raises `ProviderFault` where the stream was cut."""
        if self._reason is None and not self._over:
            raise ProviderFault(provider_fault("the provider's stream broke off before its end"))
        return self.so_far()

    def so_far(self) -> Whole:
        """What was read, where it is enough."""
        calls = tuple(c.call(n) for n, c in enumerate(self._calls))
        return Whole(calls, self._reason or "stop", self._usage, self._model)

    def _choice(self, choice: Any) -> str:
        if not isinstance(choice, dict) or choice.get("index") not in (0, None):
            return ""
        if choice.get("finish_reason"):
            self._reason = _text(choice["finish_reason"])
        delta = choice.get("delta") or choice.get("message") or {}
        if not isinstance(delta, dict):
            return ""
        calls = delta.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else []):
            if isinstance(call, dict):
                self._call(call, place)
        return _text(delta.get("content"))

    def _call(self, piece: dict[str, Any], place: int) -> None:
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        name, given = _text(function.get("name")), function.get("arguments")
        arguments = json.dumps(given) if isinstance(given, dict | list) else _text(given)
        id_, index = _text(piece.get("id")), piece.get("index")
        index = index if isinstance(index, int) else None
        call = self._belongs(id_, index, place, name, arguments)
        if call is None:
            self._calls.append(_Open(index if index is not None else place, id_, name, arguments))
            return
        call.id = call.id or id_
        call.name = call.name or name  # the first name wins: some servers repeat it in every piece
        call.arguments += arguments

    def _belongs(self, id_: str, index: int | None, place: int, name: str, arguments: str) -> _Open | None:
        """The call that a piece continues, or None where it begins one."""
        same = [call for call in self._calls if id_ and call.id == id_]
        if same:
            return same[-1]
        at = [call for call in self._calls if call.index == (place if index is None else index)]
        if not at or (id_ and at[-1].id):
            return None
        # No id to go by: what follows a complete object is the next call.
        if arguments.strip() and _is_object(at[-1].arguments):
            return None
        return None if name and at[-1].name and name != at[-1].name else at[-1]


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(read_json(arguments), dict)
    except ValueError:
        return False


def _text(value: Any) -> str:
    """Text where it is text, or a list of parts with text in them; else nothing."""
    if isinstance(value, list):
        parts = [part.get("text") for part in value if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _usage(usage: dict[str, Any]) -> Usage:
    def count(key: str) -> int:
        value = usage.get(key)
        return value if isinstance(value, int) and value > 0 else 0

    return Usage(count("prompt_tokens"), count("completion_tokens"))
