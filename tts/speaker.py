"""The speaker: from an answer's deltas to frames of sound, one utterance at a time.

It runs the pipe (filter, cut, engine on its lane) and holds no policy of the conversation. The one rule: the last
utterance wins, and nothing made for a cancelled one is ever given out.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from models.lanes import Lane
from sound import Pcm
from tts.cut import TRUST_AFTER_S, WORDS, Cutter
from tts.engine import Engine
from tts.errors import SpeechFault, UnknownVoice
from tts.frames import Frame, Piece
from tts.handle import SpeechHandle
from tts.speakable import Speakable
from tts.words import is_speakable

# The pause between pieces in conversation; a chapter that is read wants 0.45.
GAP_S = 0.12
# How far synthesis runs ahead of playout: what an interrupted answer costs at most.
LEAD_S = 5.0
# An engine's step gives up to two seconds of sound; it begins while that still fits.
STEP_S = 2.0
# With less sound than this ahead, whole sentences are not held back to be packed.
HUNGRY_S = 1.0
# An opening is wanted now, and goes behind the second window of somebody who is about to run dry: those 40 ms are heard
# as a later word by one, and would be as a stutter by the other.
OPENING_S = 0.15
# A piece takes 0.6 s at worst on two cores; waiting for other lanes comes on top.
LIMIT_S = 10.0

_END = object()


@dataclass(frozen=True, slots=True)
class Saying:
    """How one utterance is spoken."""

    voice: str | None
    language: str
    speed: float
    steps: int | None
    opening_steps: int | None

    def steps_of(self, piece: Piece) -> int | None:
        """The solver's steps for `piece`."""
        return self.opening_steps if piece.opening else self.steps


class Speaker:
    """One session's mouth.

    `engine` runs on `lane`; on its first failure `fallback` on `fallback_lane` takes over for good (`fallen` then says
    why). `steps` is what an engine that solves takes for a piece, `opening_steps` for the first one: sooner and worse.
    `cap` is characters of a piece at most, where that is to be other than the engine's own. `gap_s` is the pause
    between pieces, `lead_s` how far synthesis runs ahead of what was taken, `limit_s` how long one step of a piece may
    take, all in seconds.
    """

    def __init__(
        self,
        engine: Engine,
        lane: Lane,
        *,
        fallback: Engine | None = None,
        fallback_lane: Lane | None = None,
        steps: int | None = None,
        opening_steps: int | None = None,
        gap_s: float = GAP_S,
        lead_s: float = LEAD_S,
        limit_s: float = LIMIT_S,
        words: int = WORDS,
        cap: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine = engine
        self._lane = lane
        self._fallback = fallback
        self._fallback_lane = fallback_lane or lane
        self._solved = (steps, opening_steps or steps)
        self._gap_s = gap_s
        self._lead_s = lead_s
        self._limit_s = limit_s
        self._words = words
        self._cap = cap or engine.cap
        self._clock = clock
        self._ids = itertools.count(1)
        self._current: SpeechHandle | None = None
        self.fallen: str | None = None

    @property
    def engine(self) -> Engine:
        """The engine that speaks: the fallback once the first has failed."""
        return self._fallback if self.fallen and self._fallback else self._engine

    def say(
        self,
        deltas: AsyncIterator[str] | str,
        *,
        turn: int = 0,
        generation: int = 0,
        voice: str | None = None,
        language: str = "en",
        speed: float = 1.0,
        to_play_s: Callable[[], float] | None = None,
    ) -> SpeechHandle:
        """Begin to speak; an utterance that is still being spoken is cancelled. Needs a running loop.

        `to_play_s` tells how many seconds of what was taken are still to be heard: who has little left goes first.
        """
        if self._current is not None:
            self._current.cancel()
        handle = SpeechHandle(next(self._ids), turn=turn, generation=generation, to_play_s=to_play_s)
        self._current = handle
        handle.begin(self._utter(handle, deltas, Saying(voice, language, speed, *self._solved)))
        return handle

    async def close(self) -> None:
        """Stop speaking and wait until nothing of it is left."""
        if self._current is not None:
            self._current.cancel()
            await self._current.done()

    async def _utter(self, handle: SpeechHandle, deltas: AsyncIterator[str] | str, how: Saying) -> None:
        cutter = Cutter(words=self._words, cap=self._cap, language=how.language, clock=self._clock)
        reader = asyncio.create_task(self._read(handle, deltas, cutter))
        try:
            while (piece := await self._next_piece(handle, cutter, reader)) is not None:
                if is_speakable(piece.source):
                    how = await self._speak_in_any_voice(handle, piece, how)
            await reader
        finally:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)

    async def _read(self, handle: SpeechHandle, deltas: AsyncIterator[str] | str, cutter: Cutter) -> None:
        """Deltas through filter and cut; time passes for both while none comes."""
        cleaner = Speakable(clock=self._clock)
        source = _once(deltas) if isinstance(deltas, str) else deltas
        waiting: asyncio.Future[str] | None = None
        came_s = self._clock()
        try:
            while True:
                waiting = waiting or asyncio.ensure_future(anext(source))
                due = [moment for moment in (cleaner.due_s, cutter.due_s) if moment is not None]
                timeout = max(0.0, min(due) - self._clock()) if due else None
                await asyncio.wait({waiting}, timeout=timeout)
                if not waiting.done():
                    now_s = self._clock()
                    handle.pieces.extend(cutter.push(cleaner.due(now_s)))
                    # What the filter lets go of came with the last delta: the cut does not wait for it anew.
                    quiet_s = TRUST_AFTER_S if now_s - came_s >= TRUST_AFTER_S else 0.0
                    handle.pieces.extend(cutter.due(self._clock() + quiet_s))
                else:
                    try:
                        delta = waiting.result()
                    except StopAsyncIteration:
                        break
                    waiting = None
                    came_s = self._clock()
                    handle.pieces.extend(cutter.push(cleaner.push(delta)))
                handle.stir()
            handle.pieces.extend(cutter.push(cleaner.flush()))
            handle.pieces.extend(cutter.flush())
        finally:
            if waiting is not None and not waiting.done():
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
            close = getattr(source, "aclose", None)
            if close is not None:
                await close()
            handle.stir()

    async def _next_piece(self, handle: SpeechHandle, cutter: Cutter, reader: asyncio.Task[None]) -> Piece | None:
        """The piece that comes next; None after the last. Near silence, sentences are not held back."""
        while True:
            if not handle.pieces and handle.left_s < HUNGRY_S:
                handle.pieces.extend(cutter.take())
            if handle.pieces:
                return handle.pieces.popleft()
            if reader.done():
                return None
            await handle.stirred(reader)

    async def _speak_in_any_voice(self, handle: SpeechHandle, piece: Piece, how: Saying) -> Saying:
        """Speak `piece`, by the engine's own voice where it does not know the one that was asked for: that is told
        once, and nobody is left in silence. Gives how the next piece is spoken."""
        try:
            await self._speak(handle, piece, how)
        except SpeechFault as fault:
            handle.fault(fault)
            if how.voice is not None and isinstance(fault.__cause__, UnknownVoice):
                return await self._speak_in_any_voice(handle, piece, replace(how, voice=None))
        return how

    async def _speak(self, handle: SpeechHandle, piece: Piece, how: Saying) -> None:
        """One piece by the engine that speaks; where it fails, by the other, unless some of it was heard."""
        engine, lane = (self._engine, self._lane) if self.fallen is None else (self.engine, self._fallback_lane)
        mark = handle.made
        try:
            await self._speak_by(engine, lane, handle, piece, how)
        except SpeechFault as fault:
            # A voice that the engine does not have is no failure of the engine.
            if self._fallback is None or self.fallen is not None or isinstance(fault.__cause__, UnknownVoice):
                raise
            self.fallen = fault.reason
            handle.fault(fault)
            if handle.made == mark:
                plain = Saying(None, how.language, how.speed, None, None)
                await self._speak_by(self._fallback, self._fallback_lane, handle, piece, plain)

    async def _speak_by(self, engine: Engine, lane: Lane, handle: SpeechHandle, piece: Piece, how: Saying) -> None:
        speech = _Steps(engine, piece, how)
        held: Pcm | None = None
        begun = False
        try:
            while True:
                await handle.room(max(0.0, self._lead_s - STEP_S))
                # What follows is wanted when the sound before it has run out.
                due_s = handle.left_s if handle.made else OPENING_S
                item = await self._step(speech, lane, self._clock() + due_s, piece)
                if item is None:
                    break
                if not begun and handle.made and self._gap_s:
                    await self._give(handle, Pcm.silence(self._gap_s, item.rate_hz), piece)
                begun = True
                for frame in _frames(item):
                    if held is not None:
                        await self._give(handle, held, piece)
                    held = frame
        finally:
            speech.stop()
            if held is not None:
                handle.give(Frame(held, handle.turn, handle.generation, piece, last=True))

    async def _step(self, speech: _Steps, lane: Lane, deadline_s: float, piece: Piece) -> Pcm | None:
        job = asyncio.ensure_future(lane.run(speech.step, deadline_s=deadline_s))
        try:
            await asyncio.wait({job}, timeout=self._limit_s)
        except asyncio.CancelledError:
            job.cancel()
            raise
        if not job.done():
            if speech.running:
                lane.disown()
            job.cancel()
            raise SpeechFault(piece.n, f"{self.engine.name} gave nothing for {self._limit_s:g} s")
        try:
            return job.result()
        except Exception as fault:
            raise SpeechFault(piece.n, str(fault) or type(fault).__name__) from fault

    async def _give(self, handle: SpeechHandle, pcm: Pcm, piece: Piece) -> None:
        await handle.room(self._lead_s)
        handle.give(Frame(pcm, handle.turn, handle.generation, piece))


class _Steps:
    """An engine's iterator as single steps for a lane."""

    def __init__(self, engine: Engine, piece: Piece, how: Saying) -> None:
        self._make: Callable[[], Iterator[Pcm]] = lambda: engine.speak(
            piece.spoken, voice=how.voice, language=how.language, speed=how.speed, steps=how.steps_of(piece)
        )
        self._iterator: Iterator[Pcm] | None = None
        self._stopped = False
        self.running = False

    def step(self) -> Pcm | None:
        """The next stretch of sound, None at the end."""
        if self._stopped:
            return None
        self.running = True
        try:
            if self._iterator is None:
                self._iterator = iter(self._make())
            item: Any = next(self._iterator, _END)
            while item is not _END and not len(item):
                item = next(self._iterator, _END)
            return None if item is _END else item
        finally:
            self.running = False

    def stop(self) -> None:
        """No further step. An iterator that says it can be stopped from outside (an upstream) is."""
        self._stopped = True
        stop: Callable[[], None] | None = getattr(self._iterator, "stop", None)
        if stop is not None:
            stop()


def _frames(pcm: Pcm) -> Iterator[Pcm]:
    """Stretches of 20 ms, so that a cancelled utterance has no more than that in anybody's hands."""
    size = max(1, pcm.rate_hz // 50)
    for start in range(0, len(pcm), size):
        yield pcm.part(start, start + size)


async def _once(text: str) -> AsyncIterator[str]:
    yield text
