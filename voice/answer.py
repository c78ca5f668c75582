"""One answer being made: the door's words, the speaker's sound, and the record of both.

It carries out; it decides nothing. The one rule: after `stop` nothing of it reaches anybody: its tasks are cancelled,
the door's stream closed, the speaker's queue dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from sound import Pcm, Resampler
from voice.cushion import Watch
from voice.door import DoorClient, DoorDelta, Message
from voice.errors import VoiceError
from voice.heard import Heard
from voice.parts import BotVoice, HandlePort, SpeakerPort
from voice.playout import Playout
from voice.trace import Measured

OUT_HZ = 24_000
# Sound that waits for real time; more is left with the speaker, which stops making it.
_LEAD_S = 0.5
# With so much sound made nothing that is made beside it can be late; less than the lead, or it would never be there.
_PLENTY_S = 0.4
# The door's words that wait for the speaker: it takes them as fast as they come, so this only bounds a broken one.
_DELTAS = 4_096


@dataclass(slots=True)
class Times:
    """Moments on the session's clock; None where it has not come to that."""

    asked_at: float
    first_token_at: float | None = None
    first_frame_at: float | None = None
    first_audible_at: float | None = None


@dataclass(slots=True)
class Answer:
    """An answer and everything that belongs to it. `on_text` and `on_change` are called as it grows."""

    id: int
    item_id: str
    response_id: str
    turn: int
    generation: int
    playout: Playout
    times: Times
    clock: Callable[[], float]
    watch: Watch
    cushion_s: float
    on_text: Callable[[Answer, str], None]
    on_change: Callable[[], None]
    audio: bool = True
    speculated: bool = False
    let_go: bool = False
    shown: bool = False
    cleared: bool = False
    text: str = ""
    over: bool = False
    fault: str = ""
    heard: Heard = field(default_factory=lambda: Heard(OUT_HZ))
    trace: dict[str, Any] = field(default_factory=dict)
    measured: Measured = field(default_factory=Measured)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _asking: asyncio.Task[None] | None = None
    _making: asyncio.Task[None] | None = None
    _deltas: asyncio.Queue[str | None] = field(default_factory=lambda: asyncio.Queue(_DELTAS))
    _handle: HandlePort | None = None

    @property
    def stands(self) -> str:
        """What stands of it once all its sound was sent: the text, or as much as sounded where it broke."""
        return self.heard.text(self.playout.sent, complete=False) if self.fault else self.text.strip()

    def ripe(self, now: float) -> bool:
        """Its first sound may leave: the cushion is over, or so much is made that none is needed."""
        first_at = self.times.first_frame_at
        return self.over or (
            first_at is not None and (now - first_at >= self.cushion_s or self.playout.queued_s >= _PLENTY_S)
        )

    def begin(
        self, door: DoorClient, grant: str, messages: Sequence[Message], speaker: SpeakerPort | None, bot: BotVoice
    ) -> None:
        """Ask the door, and speak what it says; without a speaker the answer is text alone."""
        self._asking = asyncio.create_task(self._ask(door, grant, messages, bot.language))
        self._tasks.append(self._asking)
        self._speak(speaker, bot)

    def recite(self, text: str, speaker: SpeakerPort | None, bot: BotVoice) -> None:
        """Say `text`; nobody is asked."""
        self._took(text)
        self._deltas.put_nowait(None)
        self._speak(speaker, bot)

    def hush(self) -> None:
        """No more of it sounds: it is text alone from here on."""
        self.playout.stop()
        if self.over or self._making is None:
            return
        if self._handle is not None:
            self._handle.cancel()
        self._making.cancel()
        self._make(self._read_only())

    async def stop(self) -> None:
        """Abandon it. Safe to call twice."""
        self.playout.stop()
        self.over = True
        if self._handle is not None:
            self._handle.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    def _speak(self, speaker: SpeakerPort | None, bot: BotVoice) -> None:
        self._make(self._read_only() if speaker is None else self._sound(speaker, bot))

    def _make(self, making: Coroutine[Any, Any, None]) -> None:
        self._making = asyncio.create_task(making)
        self._tasks.append(self._making)

    async def _ask(self, door: DoorClient, grant: str, messages: Sequence[Message], language: str) -> None:
        try:
            async with contextlib.aclosing(door.ask(grant, messages, language=language)) as stream:  # type: ignore[type-var]
                async for said in stream:
                    if isinstance(said, DoorDelta):
                        self._took(said.text)
                    else:
                        self.trace.update(said.fields)
        except VoiceError as fault:
            self.fault = str(fault)
        finally:
            with contextlib.suppress(asyncio.QueueFull):
                self._deltas.put_nowait(None)
            self.on_change()

    def _took(self, text: str) -> None:
        if self.times.first_token_at is None:
            self.times.first_token_at = self.clock()
        self.text += text
        with contextlib.suppress(asyncio.QueueFull):
            self._deltas.put_nowait(text)
        self.on_text(self, text)

    async def _words(self) -> AsyncIterator[str]:
        while (text := await self._deltas.get()) is not None:
            yield text

    async def _read_only(self) -> None:
        if self._asking is not None:
            await asyncio.wait({self._asking})
        self._finish()

    async def _sound(self, speaker: SpeakerPort, bot: BotVoice) -> None:
        resampler = Resampler(OUT_HZ)
        piece_n, source = 0, ""
        try:
            self._handle = speaker.say(
                self._words(),
                turn=self.turn,
                generation=self.generation,
                voice=bot.voice,
                language=bot.language,
                speed=bot.speed,
                to_play_s=lambda: self.playout.left_s(self.clock()),
            )
            async for frame in self._handle.frames():
                if self.times.first_frame_at is None:
                    self.times.first_frame_at = self.clock()
                piece_n, source = frame.piece.n, frame.piece.source
                self._made(resampler.push(frame.pcm), piece_n, source, last=frame.last)
                await self.playout.room_for(_LEAD_S)
            self._made(resampler.flush(), piece_n, source, last=True)
            ended = await self._handle.done()
            if ended.faults and not self.heard.samples:
                self.fault = self.fault or "the voice made no sound; the text is on the page"
        except asyncio.CancelledError:
            raise
        except Exception as fault:
            # Whatever breaks in an engine, a failed utterance ends itself and the conversation goes on.
            self.fault = self.fault or f"the voice stopped working ({type(fault).__name__}); the text is on the page"
        self._finish()

    def _made(self, pcm: Pcm, n: int, source: str, *, last: bool) -> None:
        self.watch.made(self.heard.samples / OUT_HZ, self.clock(), opening=n == 0)
        self.heard.made(n, source, len(pcm), last=last)
        self.playout.push(pcm)
        self.on_change()

    def _finish(self) -> None:
        self.playout.end()
        self.over = True
        self.on_change()
