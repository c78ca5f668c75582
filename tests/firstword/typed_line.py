"""A line typed into a conversation on the Realtime WebSocket of a whole server, and what comes of it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from websockets.asyncio.client import ClientConnection


async def until(socket: ClientConnection, kind: str) -> list[dict[str, Any]]:
    """Events up to and including the first of `kind`."""
    seen: list[dict[str, Any]] = []
    async with asyncio.timeout(60):
        while not seen or seen[-1]["type"] != kind:
            seen.append(json.loads(await socket.recv()))
    return seen


async def answered(socket: ClientConnection, text: str) -> dict[str, Any]:
    """Type a line, and wait until all of the answer was played. Gives the turn's receipt."""
    part = {"type": "input_text", "text": text}
    item = {"type": "message", "role": "user", "content": [part]}
    await socket.send(json.dumps({"type": "conversation.item.create", "item": item}))
    await socket.send(json.dumps({"type": "response.create"}))
    seen = await until(socket, "response.done")
    assert seen[-1]["response"]["status"] == "completed", seen[-1]
    while (more := await until(socket, "firstword.state"))[-1]["state"] != "listening":
        seen += more
    seen += more
    return next(event for event in seen if event["type"] == "firstword.trace")
