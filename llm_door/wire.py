"""The bytes of one answer in OpenAI's shape: chunks of a stream, or one JSON reply.

Pure: it knows no socket and no clock. Only `data:` lines and comments are written, because an `id:` or `retry:` line
makes the official client fail at the next blank line and it does not read `event: error` at all. The one rule: a cut
answer never looks finished, so an error is written in place of the finish chunk, never after it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from agents_core import Act, Busy, Component, Done, Ending, Passages, Trace, Usage
from grant import error_body

COMMENT = b": still here\n\n"
DONE = b"data: [DONE]\n\n"
_AFTER_WORDS = '},"finish_reason":null}]}\n\n'
# Endings that stopped an answer short are told as OpenAI tells a spent token limit.
_CUT_SHORT: frozenset[Ending] = frozenset({"out_of_money", "out_of_steps", "out_of_time"})


def finish_reason(ending: Ending) -> str:
    """OpenAI's word for how it ended."""
    return "length" if ending in _CUT_SHORT else "stop"


def usage_field(usage: Usage) -> dict[str, int]:
    """OpenAI's usage object."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }


# On one line and in ASCII: clients that split lines at U+2028 or U+0085 would cut it in two. Made once: `json.dumps`
# makes an encoder for each call that asks for anything.
_json = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), default=str).encode


@dataclass(frozen=True, slots=True)
class Wire:
    """One stream's chunks; `id`, `created` (Unix seconds) and `model` stay the same through all of them.

    `ours` says that the client asked for what a stock client does not know: the `firstword` field.
    """

    id: str
    created: int
    model: str
    ours: bool = False
    _head: str = field(init=False)
    _words: str = field(init=False)

    def __post_init__(self) -> None:
        head = {"id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model}
        object.__setattr__(self, "_head", "data: " + _json(head)[:-1] + ',"choices":')
        object.__setattr__(self, "_words", self._head + '[{"index":0,"delta":{"content":')

    def role(self) -> bytes:
        """The first chunk, sent before there is a word."""
        return self._choice({"role": "assistant", "content": ""})

    def delta(self, text: str) -> bytes:
        """Words. Only they are new in it: everything around them is written once a stream."""
        return (self._words + _json(text) + _AFTER_WORDS).encode("ascii")

    def aside(self, event: Busy | Passages | Component | Act) -> bytes:
        """What is not words, for a client of ours; nothing for any other."""
        if not self.ours:
            return b""
        return self._choice({}, firstword={type(event).__name__.lower(): asdict(event)})

    def finish(self, done: Done, trace: Trace | None) -> bytes:
        """The one chunk with a finish reason."""
        return self._choice({}, finish=finish_reason(done.ending), firstword=self._added(done, trace))

    def usage(self, usage: Usage) -> bytes:
        """The last chunk before the end, sent only where it was asked for."""
        return (self._head + '[],"usage":' + _json(usage_field(usage)) + "}\n\n").encode("ascii")

    def error(self, message: str, *, type_: str, code: str) -> bytes:
        """A break after the first byte."""
        return f"data: {_json(error_body(message, type_=type_, code=code))}\n\n".encode("ascii")

    def reply(self, text: str, done: Done, trace: Trace | None) -> dict[str, Any]:
        """The same answer as one JSON object."""
        message = {"role": "assistant", "content": text, "refusal": None}
        added = self._added(done, trace)
        return {
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [
                {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason(done.ending)}
            ],
            "usage": usage_field(done.usage),
            **({"firstword": added} if added else {}),
        }

    def _added(self, done: Done, trace: Trace | None) -> dict[str, object] | None:
        if not self.ours:
            return None
        return {"ending": done.ending, **({"trace": asdict(trace)} if trace else {})}

    def _choice(
        self, delta: dict[str, str], *, finish: str | None = None, firstword: dict[str, object] | None = None
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        tail = f',"firstword":{_json(firstword)}' if firstword is not None else ""
        return f"{self._head}[{_json(choice)}]{tail}}}\n\n".encode("ascii")
