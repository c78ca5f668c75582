"""The sound of a call, both ways, apart from the connection that carries it.

Holes in what comes in are filled, and what goes out is cut into frames. No clock, no socket. The one rule: a
millisecond of the person's time is a millisecond of sound for the listener, whatever the network lost on its way.
"""

from __future__ import annotations

import asyncio
from collections import deque

import numpy as np

from sound import Pcm

# What listening works at.
HEARD_HZ = 16_000
# A hole longer than this is a microphone that was away, not lost sound.
_LONGEST_HOLE_S = 1.0


class Incoming:
    """The person's sound at 16 kHz mono: frames with their places in time in, sound without holes out."""

    def __init__(self) -> None:
        self._due: int | None = None
        self._filled = 0

    def push(self, pcm: Pcm, at: int, length: int) -> Pcm:
        """A frame that is samples `at` to `at + length` of the call. What is missing before it becomes silence."""
        hole = 0 if self._due is None else at - self._due - self._filled
        self._due, self._filled = at + length, 0
        if 0 < hole <= _LONGEST_HOLE_S * HEARD_HZ:
            return Pcm.join([Pcm.silence(hole / HEARD_HZ, HEARD_HZ), pcm])
        return pcm

    def silence(self, duration_s: float) -> Pcm:
        """Nothing came for so long: a sender that saves on silence. Before the first frame it is nothing at all."""
        quiet = Pcm.silence(0 if self._due is None else duration_s, HEARD_HZ)
        self._filled += len(quiet)
        return quiet


class Outgoing:
    """The assistant's sound: pieces of any length in, frames of `frame` samples out, silence where there is none."""

    def __init__(self, frame: int) -> None:
        self._frame = frame
        self._queue: deque[np.ndarray] = deque()
        self._some = asyncio.Event()
        self.held = False

    @property
    def waiting(self) -> bool:
        """There is sound that may leave."""
        return bool(self._queue) and not self.held

    def push(self, pcm: Pcm) -> None:
        """More sound, in order."""
        if len(pcm):
            self._queue.append(pcm.samples)
        self._some.set()

    def hold(self, held: bool) -> None:
        """Give nothing, or go on with the next frame."""
        self.held = held
        self._some.set()

    async def some(self) -> None:
        """Returns at the next `push` or `hold`: whoever has nothing to send sleeps till then."""
        self._some.clear()
        await self._some.wait()

    def clear(self) -> None:
        """Forget what waits; a hold is over with it."""
        self._queue.clear()
        self.held = False

    def take(self) -> np.ndarray:
        """The next frame, float32."""
        out = np.zeros(self._frame, dtype=np.float32)
        filled = 0
        while self.waiting and filled < self._frame:
            head = self._queue.popleft()
            part = head[: self._frame - filled]
            out[filled : filled + len(part)] = part
            filled += len(part)
            if len(part) < len(head):
                self._queue.appendleft(head[len(part) :])
        return out


class Beat:
    """When each frame leaves: every `frame_s`, without drift. A sender that was away goes on at the right place."""

    # A loop this late has been away; hurrying after it would send a burst.
    _AWAY_S = 0.2

    def __init__(self, frame_s: float) -> None:
        self._frame_s = frame_s
        self._began: float | None = None
        self._n = -1

    def next(self, now: float) -> tuple[int, float]:
        """The number of the next frame, and the seconds to wait for its moment."""
        if self._began is None:
            self._began = now
        self._n += 1
        due = self._began + self._n * self._frame_s
        if now - due > self._AWAY_S:
            self._n = int((now - self._began) / self._frame_s)
            return self._n, 0.0
        return self._n, max(0.0, due - now)
