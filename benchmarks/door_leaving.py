"""A client that leaves: how long until the model behind the door is let go of.

The upstream never ends by itself, so a connection that closes was closed by the door. The one rule: the clock runs from
the client's own close to the end that the upstream reads.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from typing import Any
from urllib.parse import urlsplit

from benchmarks.spread import spread
from benchmarks.streams import WORD

_TIMES = 100
# When the client leaves, by what it has read: nothing, the first chunk (no word yet), three words.
MOMENTS = ("at once", "before the first word", "after three words")
_LIMIT_S = 10.0
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class EndlessModel:
    """An upstream that says `words` words and then nothing for ever; `asked` and `gone` tell of its connections."""

    def __init__(self) -> None:
        self.words = 0
        self.asked: asyncio.Queue[None] = asyncio.Queue()
        self.gone: asyncio.Queue[float] = asyncio.Queue()

    async def serve(self) -> asyncio.Server:
        """Begin, on a free port of loopback."""
        return await asyncio.start_server(self._answer, "127.0.0.1", 0)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(_HEAD)
            choice = {"index": 0, "delta": {"content": WORD.decode()}, "finish_reason": None}
            data = b"data: " + json.dumps({"id": "c", "choices": [choice]}).encode() + b"\n\n"
            for _ in range(self.words):
                writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.asked.put_nowait(None)
            while await reader.read(65_536):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.gone.put_nowait(time.perf_counter())
            writer.close()


async def leaving(base_url: str, key: str, model: EndlessModel, *, quick: bool) -> dict[str, Any]:
    """Leave `_TIMES` times at each moment; gives milliseconds to the upstream's close, and how often it never came."""
    told: dict[str, Any] = {}
    for moment in MOMENTS:
        model.words = 3 if moment == MOMENTS[2] else 0
        took, never = [], 0
        for _ in range(3 if quick else _TIMES):
            left = await _leave(base_url, key, model, moment)
            try:
                async with asyncio.timeout(_LIMIT_S):
                    took.append((await model.gone.get() - left) * 1000)
            except TimeoutError:
                never += 1
        told[moment] = {**spread(took), "never": never}
    return told


async def _leave(base_url: str, key: str, model: EndlessModel, moment: str) -> float:
    """Ask, and close at `moment`; gives when."""
    at = urlsplit(base_url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    body = json.dumps({"stream": True, "messages": [{"role": "user", "content": "Go on."}]}).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: {at.netloc}\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    if moment == MOMENTS[1]:
        await reader.readuntil(b'"role"')
    held = b""
    while moment == MOMENTS[2] and held.count(WORD) < model.words:
        held += await reader.read(65_536)
    # The upstream has to have been asked before it can be let go of.
    async with asyncio.timeout(_LIMIT_S):
        await model.asked.get()
    writer.close()
    left = time.perf_counter()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    return left
