"""One utterance, as its caller holds it: named, awaitable, cancellable, and the queue of its frames.

It makes no sound itself (see `speaker.py`). The one rule: after `cancel` no frame is given any more.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from tts.errors import SpeechFault
from tts.frames import Frame, Piece


@dataclass(frozen=True, slots=True)
class Spoken:
    """How an utterance ended: seconds of sound made, what failed, and whether it was cancelled."""

    made_s: float
    faults: tuple[SpeechFault, ...]
    cancelled: bool


def _nothing_to_play() -> float:
    return 0.0


class SpeechHandle:
    """An utterance. `frames` is for one reader; `cancel` empties everything at once; `done` waits for the end."""

    def __init__(
        self,
        id: int,  # noqa: A002 - the word of the border
        *,
        turn: int,
        generation: int,
        to_play_s: Callable[[], float] | None = None,
    ) -> None:
        self.id = id
        self.turn = turn
        self.generation = generation
        self.cancelled = False
        self.pieces: deque[Piece] = deque()
        self.ahead_s = 0.0
        self.made = 0
        self._made_s = 0.0
        # Seconds of what was taken that are still to be heard.
        self._to_play_s = to_play_s or _nothing_to_play
        self._frames: deque[Frame] = deque()
        self._faults: list[SpeechFault] = []
        self._changed = asyncio.Event()
        self._arrived = asyncio.Event()
        self._ended = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._broke: BaseException | None = None

    @property
    def left_s(self) -> float:
        """How long it sounds on without another step: what was not taken, and what was and is still to be heard."""
        return self.ahead_s + self._to_play_s()

    async def frames(self) -> AsyncIterator[Frame]:
        """The sound in order, as it is made; ends with the utterance or when it is cancelled."""
        while True:
            while self._frames:
                frame = self._frames.popleft()
                self.ahead_s = max(0.0, self.ahead_s - frame.pcm.duration_s)
                self._changed.set()
                yield frame
            if self._ended.is_set() or self.cancelled:
                return
            self._arrived.clear()
            await self._arrived.wait()

    def cancel(self) -> None:
        """Stop now: what was made and not taken is dropped, the sender of the text is closed."""
        if self._ended.is_set():
            self._frames.clear()
        if self.cancelled:
            return
        self.cancelled = True
        self._frames.clear()
        self.pieces.clear()
        self.ahead_s = 0.0
        self._arrived.set()
        if self._task is not None:
            self._task.cancel()

    async def done(self) -> Spoken:
        """Wait until all was made (not: heard), or all was dropped. Raises what broke the sender of the text."""
        await self._ended.wait()
        if self._broke is not None:
            raise self._broke
        return Spoken(self._made_s, tuple(self._faults), self.cancelled)

    # For the speaker

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work`, whose end is the utterance's."""
        self._task = asyncio.create_task(work)
        self._task.add_done_callback(self._end)

    def give(self, frame: Frame) -> None:
        """Queue a frame, unless the utterance was cancelled."""
        if self.cancelled:
            return
        self._frames.append(frame)
        self.ahead_s += frame.pcm.duration_s
        self._made_s += frame.pcm.duration_s
        self.made += 1
        self._arrived.set()

    def fault(self, fault: SpeechFault) -> None:
        """Note a piece that was not spoken."""
        self._faults.append(fault)

    def stir(self) -> None:
        """Something changed that a waiting step may want to see."""
        self._changed.set()

    async def stirred(self, reader: asyncio.Task[None]) -> None:
        """Wait for a change, or for the end of the text."""
        if not reader.done():
            self._changed.clear()
            await self._changed.wait()

    async def room(self, at_most_s: float) -> None:
        """Wait until no more than `at_most_s` seconds are made and not taken."""
        while self.ahead_s > at_most_s:
            self._changed.clear()
            await self._changed.wait()

    def _end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            self._broke = task.exception()
        # What an ended task was doing hangs on its exception, with the sound of a whole piece, and would stay in a
        # circle with us until somebody looks for circles.
        self._task, self._to_play_s = None, _nothing_to_play
        self._ended.set()
        self._arrived.set()
