"""A provider of answers that breaks in any of the ways providers break, on loopback.

Not a model: it says the same sentence to everybody. It speaks OpenAI's shape and Anthropic's, over real HTTP, and
what it does is named by the model it is asked for: `500` answers with status 500, `cut` leaves in the middle, and a
name that is no fault answers well. A key may be given a fault of its own. The one rule: it never sleeps; what waits,
waits until the client leaves.

    async with FakeProvider() as fake:
        provider = OpenAIProvider(fake.url, "cut", trust_env=False)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

WORDS = ("Hello", " there,", " this", " is", " the", " answer.")

# What each does, and how a person would say it.
FAULTS: Mapping[str, str] = {
    "429": "refuses the key: too many questions (Retry-After: 7)",
    "401": "refuses the key: wrong",
    "402": "refuses the key: no money left",
    "400-key": "refuses the key: its usage limit is reached, said with a 400",
    "400": "refuses the question: a field of it is wrong",
    "500": "breaks",
    "529": "is overloaded",
    "no-first-word": "takes the question and never says a word",
    "stall": "falls silent after three words",
    "cut": "leaves after three words",
    "bad-json": "sends a chunk that is not JSON",
    "error-first": "sends an error where its first word should be, with status 200",
    "error-later": "sends an error after three words",
    "empty": "answers 200 with nothing in it",
    "html": "answers 200 with a web page",
    "slow-drip": "sends nothing but keep-alive comments, one after the other",
    "huge-line": "sends a line without an end",
    "dup-finish": "says twice that it is finished (a good answer)",
    "no-done": "ends without saying so (a good answer in OpenAI's shape)",
    "redirect": "sends the client to another address",
}
# What answers all the same.
WELL = ("dup-finish", "no-done")

_STATUS: Mapping[str, tuple[int, str, str]] = {
    "429": (429, "rate_limit_error", "Too many requests"),
    "401": (401, "authentication_error", "The key is not valid"),
    "402": (402, "billing_error", "There is no money left"),
    "400-key": (400, "invalid_request_error", "You have reached your specified API usage limits"),
    "400": (400, "invalid_request_error", "max_tokens must be a number"),
    "500": (500, "api_error", "Something broke"),
    "529": (529, "overloaded_error", "Overloaded"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that came in: what it was asked to do, with which key, and the body."""

    fault: str
    key: str
    body: dict[str, Any]


class FakeProvider:
    """Serve while the block runs. `keys` gives a key a fault of its own; `asked` is every question that came."""

    def __init__(self, *, keys: Mapping[str, str] | None = None) -> None:
        self.asked: list[Asked] = []
        self._keys = dict(keys or {})
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """The address of OpenAI's shape; Anthropic's is the same without `/v1`."""
        assert self._server is not None  # noqa: S101  (only inside the block)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def left(self) -> None:
        """Wait until nobody is being answered any more."""
        await asyncio.wait(self._tasks)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None  # noqa: S101  (made on entering)
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  (a connection is a task)
        self._tasks.add(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            body = json.loads(await reader.readexactly(int(headers.get("content-length", "0"))))
            key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("bearer ")
            fault = self._keys.get(key, str(body.get("model", "")))
            self.asked.append(Asked(fault, key, body))
            shape = _Anthropic() if "/messages" in head.split("\r\n")[0] else _OpenAI()
            await _answer(fault, shape, str(body.get("model", "")), reader, writer)
        writer.close()


async def _answer(
    fault: str, shape: _OpenAI | _Anthropic, model: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    async def send(data: bytes) -> None:
        writer.write(data)
        await writer.drain()

    if fault in _STATUS:
        status, kind, message = _STATUS[fault]
        body = json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()
        await send(_head(f"{status} No", "application/json", "Retry-After: 7\r\n" if fault == "429" else "") + body)
        return
    if fault == "redirect":
        await send(_head("307 Elsewhere", "text/plain", "Location: http://127.0.0.1:1/v1\r\n"))
        return
    if fault == "html":
        await send(_head("200 OK", "text/html", "") + b"<!doctype html><title>Sign in</title>")
        return
    await send(_head("200 OK", "text/event-stream", ""))
    if fault == "empty":
        return
    if fault == "no-first-word":
        await reader.read()
        return
    if fault == "slow-drip":
        while not reader.at_eof() and not writer.is_closing():
            await send(b": still here\n\n")
            # As slow as the client reads: what it has not taken is waited for, so nothing piles up.
            with suppress(TimeoutError):
                await asyncio.wait_for(reader.read(1), 0.01)
        return
    if fault == "huge-line":
        for _ in range(40):
            await send(b"data: " + b"x" * 65536)
        return
    if fault == "error-first":
        await send(shape.error())
        return
    chunks = [shape.begin(model), *map(shape.words, WORDS)]
    if fault in ("stall", "cut", "error-later", "bad-json"):
        await send(b"".join(chunks[:4] if fault != "bad-json" else chunks[:1]))
        if fault == "stall":
            await reader.read()
        elif fault == "error-later":
            await send(shape.error())
        elif fault == "bad-json":
            await send(b'data: {"choices": [{"delta\n\n' + chunks[1])
        return
    for chunk in chunks:
        await send(chunk)
    await send(shape.finish() * (2 if fault == "dup-finish" else 1))
    if fault != "no-done":
        await send(shape.done())


def _head(status: str, kind: str, more: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Connection: close\r\n\r\n".encode()


def _event(value: dict[str, Any], kind: str = "") -> bytes:
    return (f"event: {kind}\n" if kind else "").encode() + b"data: " + json.dumps(value).encode() + b"\n\n"


class _OpenAI:
    """Chunks in OpenAI's shape."""

    def _chunk(self, delta: dict[str, Any], reason: str | None = None, **more: Any) -> bytes:
        return _event({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more})

    def begin(self, model: str) -> bytes:
        return self._chunk({"role": "assistant", "content": ""}, model=model)

    def words(self, text: str) -> bytes:
        return self._chunk({"content": text})

    def finish(self) -> bytes:
        usage = {"prompt_tokens": 12, "completion_tokens": len(WORDS)}
        return self._chunk({}, "stop") + _event({"id": "c", "choices": [], "usage": usage})

    def done(self) -> bytes:
        return b"data: [DONE]\n\n"

    def error(self) -> bytes:
        return _event({"error": {"type": "overloaded_error", "message": "Overloaded"}})


class _Anthropic:
    """Events in Anthropic's shape."""

    def begin(self, model: str) -> bytes:
        message = {"id": "m", "model": model, "content": [], "usage": {"input_tokens": 12, "output_tokens": 1}}
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        start = _event({"type": "message_start", "message": message}, "message_start")
        return start + _event(block, "content_block_start") + _event({"type": "ping"}, "ping")

    def words(self, text: str) -> bytes:
        delta = {"type": "text_delta", "text": text}
        return _event({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")

    def finish(self) -> bytes:
        usage = {"output_tokens": len(WORDS)}
        end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}
        return _event({"type": "content_block_stop", "index": 0}) + _event(end, "message_delta")

    def done(self) -> bytes:
        return _event({"type": "message_stop"}, "message_stop")

    def error(self) -> bytes:
        return _event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "error")
