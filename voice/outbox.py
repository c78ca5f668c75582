"""The outbox: events on their way to one client, bounded.

It orders and drops; it knows no socket. The one rule: sound is dropped before words, and a client that takes nothing at
all is given up rather than kept for ever.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

# A client this many bytes behind is too slow for live sound: about two seconds of it, as base64.
_SOUND_BYTES = 128_000
# And one this far behind in everything reads nothing at all.
_BYTES = 1_000_000

_SOUND = "response.output_audio.delta"


class Outbox:
    """Events in order. `put` never waits."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[dict[str, Any], int]] = deque()
        self._bytes = 0
        self._some = asyncio.Event()
        self.dropped = 0
        self.stuck = False

    def put(self, event: dict[str, Any]) -> None:
        """Queue `event`; sound for a slow client is dropped, and counted."""
        size = len(event.get("delta", "")) + 256
        if event["type"] == _SOUND and self._bytes > _SOUND_BYTES:
            self.dropped += 1
            return
        if self._bytes > _BYTES:
            self.stuck = True
            return
        self._waiting.append((event, size))
        self._bytes += size
        self._some.set()

    async def take(self) -> dict[str, Any]:
        """The next event; waits for one."""
        while not self._waiting:
            self._some.clear()
            await self._some.wait()
        event, size = self._waiting.popleft()
        self._bytes -= size
        return event
