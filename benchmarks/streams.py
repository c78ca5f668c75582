"""Streams of chat completions as bytes on sockets: an upstream that speaks at an even pace, and a client that times it.

No library on either side, so that what is measured is the door between them. The one rule: both ends are the same
whether the door is between them or not. That holds for the upstream's clock too: its timer has whole milliseconds, and
which one rings depends on what else its loop was woken by, so how late a first word was spoken is said in the word and
taken off again.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

WORD = b"word "
FIRST_S = 0.05
WORDS = 25
# Twenty-five words a second, which is six times as fast as people listen.
STEP_S = 0.04
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_LONGEST_S = 60.0
_LATE = re.compile(rb"word (\d+)us ")


@dataclass(frozen=True, slots=True)
class Timed:
    """One answer as its reader saw it: seconds to its first word, had it been spoken when it was due, and words a
    second from there."""

    first_s: float
    words_per_s: float


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "even", "choices": [choice]}
    return _chunk(b"data: " + json.dumps(head, separators=(",", ":")).encode() + b"\n\n")


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    loop = asyncio.get_running_loop()
    word, end = _event({"content": WORD.decode()}), _event({}, "stop") + _chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            size = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(size)
            due = loop.time() + FIRST_S
            writer.write(_HEAD + _event({"role": "assistant", "content": ""}))
            for n in range(WORDS):
                await asyncio.sleep(max(0.0, due - loop.time()))
                late_us = round((loop.time() - due) * 1e6)
                writer.write(word if n else _event({"content": f"{WORD.decode()}{late_us}us "}))
                due += STEP_S
            writer.write(end)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def upstream() -> asyncio.Server:
    """The upstream, on a free port of loopback."""
    return await asyncio.start_server(_answer, "127.0.0.1", 0)


async def ask(base_url: str, key: str, *, rounds: int, after_s: float = 0.0) -> list[Timed]:
    """Ask `rounds` times on one connection, the first time `after_s` from now."""
    at = urlsplit(base_url)
    await asyncio.sleep(after_s)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    body = json.dumps({"model": "even", "stream": True, "messages": [{"role": "user", "content": "Go on."}]}).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: {at.netloc}\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    try:
        async with asyncio.timeout(_LONGEST_S):
            return [await _timed(reader, writer, head.encode() + body) for _ in range(rounds)]
    finally:
        writer.close()


async def _timed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> Timed:
    began = time.perf_counter()
    writer.write(request)
    held, first, last = bytearray(), 0.0, 0.0
    while not held.endswith(b"0\r\n\r\n"):
        got = await reader.read(65_536)
        if not got:
            raise ConnectionError(f"the stream broke off: {bytes(held[-300:])!r}")
        held += got
        if WORD in got:
            last = time.perf_counter()
            first = first or last
    if not first:
        raise ConnectionError(f"no word came: {bytes(held[-300:])!r}")
    words, late = held.count(WORD), _LATE.search(held)
    late_s = int(late[1]) / 1e6 if late else 0.0
    return Timed(first - began - late_s, (words - 1) / max(1e-9, last - first))
