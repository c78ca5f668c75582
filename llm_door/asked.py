"""What a client asked, read out of an OpenAI chat request.

It reads values and keeps nothing else: `system`, `tools`, `model`, `max_tokens`, `temperature` and every unknown field
are ignored, not refused, because every SDK sends some and the bot's file decides. The one rule: nothing in a request
can supply a prompt, name a tool, choose a model or raise a limit.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from agents_core import Line
from llm_door.errors import RequestRefused

# A conversation longer than this is cut at its beginning; the core cuts further, to what a model can hold.
_LINES = 200
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_SAYS = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the lines before it, and how the client wants the answer; `language` None where it said none."""

    text: str
    history: tuple[Line, ...] = ()
    stream: bool = False
    include_usage: bool = False
    language: str | None = None


def read(body: bytes) -> Asked:
    """The question in `body`. Raises `RequestRefused` in words where there is none."""
    asked = _object(body)
    count = asked.get("n")
    if isinstance(count, int) and not isinstance(count, bool) and count > 1:
        raise RequestRefused(f"n is {count}: this door gives one answer; leave n out, or ask {count} times", param="n")
    lines = _lines(asked.get("messages"))
    last = max((at for at, line in enumerate(lines) if line.role == "user"), default=None)
    if last is None:
        raise RequestRefused(
            "messages holds nothing a user said; put the question last, as {'role': 'user', 'content': '…'}",
            param="messages",
        )
    options, metadata = asked.get("stream_options"), asked.get("metadata")
    language = metadata.get("language") if isinstance(metadata, dict) else None
    return Asked(
        text=lines[last].text,
        history=tuple(lines[max(0, last - _LINES) : last]),
        stream=asked.get("stream") is True,
        include_usage=isinstance(options, dict) and options.get("include_usage") is True,
        language=language if isinstance(language, str) and _LANGUAGE.fullmatch(language) else None,
    )


def _object(body: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError) as fault:
        raise RequestRefused("the body is not JSON; send one object in UTF-8 with 'messages' in it") from fault
    if not isinstance(asked, dict):
        raise RequestRefused("the body is JSON but not an object; send {'messages': […]}")
    return asked


def _lines(messages: object) -> list[Line]:
    """What people and the assistant said. Other roles, and lines without words, are nobody's speech."""
    if not isinstance(messages, list):
        raise RequestRefused("messages is missing, or is not a list", param="messages")
    lines = []
    for message in messages:
        if not isinstance(message, dict) or message.get("role") not in _SAYS:
            continue
        text = _clean(_text(message.get("content")))
        if text:
            lines.append(Line(role=message["role"], text=text))
    return lines


def _text(content: object) -> str:
    """A string as it is; a list of parts as the text in them."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part.get("text") for part in content if isinstance(part, dict)]
    return "\n".join(part for part in parts if isinstance(part, str))


def _clean(text: str) -> str:
    """Without what no database and no tokenizer takes: half a surrogate pair, and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "").strip()
