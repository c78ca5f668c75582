"""Two bounded queues: from the microphone to the listener, and from the listener to whoever reads it.

The one rule: nobody who pushes ever waits; what does not fit is dropped from the old end, and lost sound is counted so
that time stays right.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Literal

from asr.events import ListenEvent, Words
from sound import Pcm

Sleep = Callable[[float], Awaitable[None]]
Order = Literal["commit", "clear"]
# Sound that may wait while a recogniser is busy; a listener that far behind has lost its turn.
_BACKLOG_S = 10.0
# Events that may wait for a reader; a turn has about ten.
_MOST_EVENTS = 256


class Inbox:
    """Sound and orders, in the order in which they came."""

    def __init__(self) -> None:
        self._items: deque[Pcm | Order] = deque()
        self._seconds = 0.0
        self._lost_s = 0.0
        self._came = asyncio.Event()

    def __len__(self) -> int:
        return len(self._items)

    def put(self, item: Pcm | Order) -> None:
        """Add sound or an order."""
        if isinstance(item, Pcm):
            self._seconds += item.duration_s
        elif self._items and self._items[-1] == item:
            return  # said twice in a row it is no other order
        self._items.append(item)
        # A single push longer than the backlog is a file, not a delay: it is kept whole.
        orders: list[Pcm | Order] = []
        while self._seconds > _BACKLOG_S and len(self._items) > 1:
            oldest = self._items.popleft()
            if isinstance(oldest, Pcm):
                self._seconds -= oldest.duration_s
                self._lost_s += oldest.duration_s
            else:
                orders.append(oldest)  # a key was released all the same: nobody would end that turn
        self._items.extendleft(reversed(orders))
        self._came.set()

    def take(self) -> Pcm | Order:
        """The oldest item; there must be one."""
        item = self._items.popleft()
        if isinstance(item, Pcm):
            self._seconds -= item.duration_s
        if not self._items:
            self._came.clear()
        return item

    async def wait(self, patience_s: float | None, sleep: Sleep) -> bool:
        """Returns True when there is an item, False once `sleep(patience_s)` is over and there is none."""
        if patience_s is None:
            await self._came.wait()
            return True
        came = asyncio.ensure_future(self._came.wait())
        gone = asyncio.ensure_future(sleep(patience_s))
        try:
            await asyncio.wait({came, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            came.cancel()
            gone.cancel()
            await asyncio.gather(came, gone, return_exceptions=True)
        return bool(self._items)

    def lost_s(self) -> float:
        """Seconds of sound dropped since this was last asked."""
        lost, self._lost_s = self._lost_s, 0.0
        return lost


class Outbox:
    """Events for one reader."""

    def __init__(self) -> None:
        self._items: deque[ListenEvent] = deque()
        self._came = asyncio.Event()
        self._closed = False

    def put(self, event: ListenEvent) -> None:
        """Add an event. A partial takes the place of an unread one; where nobody reads, the oldest goes."""
        last = self._items[-1] if self._items else None
        if isinstance(event, Words) and isinstance(last, Words) and event.kind == last.kind == "partial":
            self._items.pop()
        elif len(self._items) >= _MOST_EVENTS:
            self._items.popleft()
        self._items.append(event)
        self._came.set()

    def close(self) -> None:
        """The reader ends once it has read what is there."""
        self._closed = True
        self._came.set()

    async def events(self) -> AsyncIterator[ListenEvent]:
        """What came, as it comes, until closed."""
        while True:
            while self._items:
                yield self._items.popleft()
            if self._closed:
                return
            self._came.clear()
            await self._came.wait()
