"""Anthropic's messages, translated both ways.

Not a client: values in, values out. Inside the house a conversation is in OpenAI's shape, whoever answered so far, so a
history that began on either side is asked of the other. The differences, as their documentation gives them: the system
prompt is a field; a call is a block of the assistant's; what a tool answered comes back in the person's turn; turns
alternate and begin with the person; a text that is empty, or an assistant's last text that ends in a space, is refused.

The one rule: the request that comes out keeps those rules whatever went in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from agents_core.errors import ProviderFault
from agents_core.events import Usage
from agents_core.foreign import letters, read_json
from agents_core.loop import Call
from agents_core.providers.base import Profile, Question, Whole
from agents_core.providers.classify import classify_event, provider_fault
from agents_core.providers.pairs import paired
from agents_core.providers.stream import chunk_of

# A call's id as they take it. Other servers use dots and colons in theirs.
_ID_LETTERS = re.compile(r"[^a-zA-Z0-9_-]")
# Why an answer ended, in the words used inside the house.
_REASONS = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


def request(question: Question, model: str, profile: Profile) -> dict[str, Any]:
    """The body of `POST /v1/messages`."""
    system, messages = conversation(question.messages)
    if question.lead.strip():
        messages.append({"role": "assistant", "content": [{"type": "text", "text": question.lead.rstrip()}]})
    body: dict[str, Any] = {
        "model": question.model or model,
        "max_tokens": question.max_tokens or profile.max_tokens,
        "messages": messages,
        "stream": True,
        **dict(profile.extra),
        **(dict(profile.led) if question.lead else {}),
    }
    if system:
        # Marked to be kept: what is fixed comes first, so the next question's reading is a tenth of the price.
        body["system"] = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
    if question.tools:
        body["tools"] = [_tool(tool["function"]) for tool in question.tools]
        if question.must_answer:
            body["tool_choice"] = {"type": "none"}
    if profile.temperature is not None:
        body["temperature"] = profile.temperature
    return body


def conversation(messages: Sequence[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """The system prompt, and turns that alternate and begin with the person."""
    system: list[str] = []
    turns: list[dict[str, Any]] = []
    for message in paired(messages):
        if message["role"] == "system":
            system.append(str(message["content"]))
            continue
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = _blocks(message)
        if not blocks or (role == "assistant" and not turns):
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"].extend(blocks)
        else:
            turns.append({"role": role, "content": blocks})
    return "\n\n".join(part for part in system if part), turns


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    text = str(message.get("content") or "")
    if message["role"] == "tool":
        result = {"type": "tool_result", "tool_use_id": _id(message["tool_call_id"]), "content": text or "(nothing)"}
        return [{**result, "is_error": True} if text.startswith("error:") else result]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text.rstrip()}] if text.strip() else []
    for call in message.get("tool_calls") or ():
        name, given = call["function"]["name"], _object(call["function"]["arguments"])
        blocks.append({"type": "tool_use", "id": _id(call["id"]), "name": name, "input": given})
    return blocks


def _tool(function: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


def _id(written: str) -> str:
    return _ID_LETTERS.sub("_", written) or "call"


def _object(arguments: str) -> dict[str, Any]:
    """What was asked of a tool; nothing, where it was no object: its result says what was wrong with it."""
    try:
        given = read_json(arguments)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


class AnthropicAnswer:
    """Their events to an answer. `push` gives the words as they come; `whole` says what they amounted to."""

    def __init__(self) -> None:
        self._blocks: dict[int, tuple[str, str, list[str]]] = {}
        self._reason: str | None = None
        self._usage = [0, 0]
        self._counted = False
        self._model = ""
        self._over = False

    @property
    def over(self) -> bool:
        """`message_stop` was read; nothing after it counts."""
        return self._over

    def push(self, data: str) -> str:
        """The words in one event's data. Raises `ProviderFault` for an error event or what is not JSON."""
        if self._over:
            return ""
        event = chunk_of(data)
        match event.get("type"):
            case "error":
                raise ProviderFault(classify_event(event.get("error"), data))
            case "message":  # not streamed
                return self._message(event)
            case "message_start":
                message = _dict(event.get("message"))
                self._model = _text(message.get("model"))
                self._count(message.get("usage"))
            case "content_block_start":
                return self._start(_index(event), _dict(event.get("content_block")))
            case "content_block_delta":
                return self._delta(_index(event), _dict(event.get("delta")))
            case "message_delta":
                self._reason = _text(_dict(event.get("delta")).get("stop_reason")) or self._reason
                self._count(event.get("usage"))
            case "message_stop":
                self._over = True
        return ""

    def whole(self) -> Whole:
        """The answer, once the bytes are over. Raises `ProviderFault` where the stream was cut."""
        if self._reason is None and not self._over:
            raise ProviderFault(provider_fault("the provider's stream broke off before its end"))
        return self.so_far()

    def so_far(self) -> Whole:
        """What was read, where it is enough."""
        calls = tuple(
            Call(letters(id_) or f"call_{n}", letters(name), letters("".join(pieces)).strip() or "{}")
            for n, (id_, name, pieces) in enumerate(self._blocks[at] for at in sorted(self._blocks))
        )
        usage = Usage(self._usage[0], self._usage[1]) if self._counted else None
        return Whole(calls, _REASONS.get(self._reason or "", self._reason or "stop"), usage, self._model)

    def _message(self, message: dict[str, Any]) -> str:
        self._model, self._reason = _text(message.get("model")), _text(message.get("stop_reason")) or None
        self._count(message.get("usage"))
        blocks = message.get("content")
        return "".join(self._start(n, _dict(b)) for n, b in enumerate(blocks if isinstance(blocks, list) else []))

    def _start(self, at: int, block: dict[str, Any]) -> str:
        if block.get("type") == "tool_use":
            given = block.get("input")
            # The whole input comes with the block where nothing is streamed, and an empty one where it is.
            whole = [json.dumps(given)] if isinstance(given, dict) and given else []
            self._blocks[at] = (_text(block.get("id")), _text(block.get("name")), whole)
        return _text(block.get("text")) if block.get("type") == "text" else ""

    def _delta(self, at: int, delta: dict[str, Any]) -> str:
        if delta.get("type") == "input_json_delta" and at in self._blocks:
            self._blocks[at][2].append(_text(delta.get("partial_json")))
        # A thought is a kind of delta of its own, and is never words.
        return _text(delta.get("text")) if delta.get("type") == "text_delta" else ""

    def _count(self, usage: Any) -> None:
        """Tokens in (read from a kept prefix or not) and out; each report is a running total, not an increment."""
        counts = _dict(usage)
        read = sum(_number(counts.get(f"{kind}input_tokens")) for kind in ("", "cache_read_", "cache_creation_"))
        self._usage = [max(self._usage[0], read), max(self._usage[1], _number(counts.get("output_tokens")))]
        self._counted = self._counted or bool(counts)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _index(event: dict[str, Any]) -> int:
    return event["index"] if isinstance(event.get("index"), int) else 0
