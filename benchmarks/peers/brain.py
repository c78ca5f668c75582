"""The brain that every system asks: an OpenAI-shaped address with a script, at an even pace.

It understands nothing. The one rule: whoever asks is answered with the script that is set, a delta every 10 ms, and
every question is counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

# Four characters a delta and a hundred deltas a second: a hosted model in a good hour.
DELTA_CHARS, DELTA_S = 4, 0.01
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


class Brain:
    """`script` is what the next question is answered with; `asked` counts questions."""

    def __init__(self, script: str) -> None:
        self.script = script
        self.asked = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            sizes = [int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")]
            await reader.readexactly(sizes[0] if sizes else 0)
            self.asked += 1
            script, due = self.script, asyncio.get_running_loop().time()
            writer.write(_HEAD + _event({"role": "assistant", "content": ""}))
            for at in range(0, len(script), DELTA_CHARS):
                await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
                writer.write(_event({"content": script[at : at + DELTA_CHARS]}))
                await writer.drain()
                due += DELTA_S
            writer.write(_event({}, "stop") + b"data: [DONE]\n\n")
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def serving_brain(script: str) -> AsyncIterator[tuple[Brain, str]]:
    """The brain, and its base URL for an OpenAI client."""
    brain = Brain(script)
    server = await asyncio.start_server(brain.answer, "127.0.0.1", 0)
    async with server:
        yield brain, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    told = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "script", "choices": [choice]}
    return b"data: " + json.dumps(told, separators=(",", ":")).encode() + b"\n\n"
