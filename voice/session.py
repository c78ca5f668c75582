"""A session: carries out what `converse.py` decides, for one person on one transport.

It joins the listener and the gate to what is being played; it holds no policy. The one rule: everything
that happens goes through `act`, on the event loop, one event at a time, so that there is one order.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, assert_never

from asr.events import Judged, SpeechEnded, Words
from grant import Grant
from sound import Pcm
from voice.answer import Answer
from voice.converse import step
from voice.events import (
    Asked,
    Candidate,
    CloseTurn,
    Command,
    Committed,
    Discard,
    ForgetSound,
    Hold,
    Interrupt,
    Learn,
    LetGo,
    Line,
    Live,
    Mode,
    Nobody,
    Prepare,
    Resume,
    SetMode,
    Started,
    Stopped,
    Tick,
    TurnEvent,
    Typed,
    Voiced,
)
from voice.gate import Gate
from voice.history import Entry
from voice.noted import Noted
from voice.parts import VoiceParts
from voice.playing import Playing
from voice.realtime_events import Wire, error_event, new_id, user_item
from voice.state import State

_log = logging.getLogger("firstword.voice")

# How often sound is let out and holds are looked at while something is going on; nothing runs while nothing is.
_BEAT_S = 0.02
# The level meter of a page needs no more.
_LEVEL_EVERY_S = 0.2


class Session:
    """One conversation. `token` is the grant as presented; it goes to the door with every question."""

    def __init__(self, parts: VoiceParts, *, grant: Grant, token: str, wire: Wire) -> None:
        self._parts = parts
        self.grant = grant
        self.token = token
        self.wire = wire
        self.bot = parts.bot(grant.bot)
        self.noted = Noted(parts.kept, grant)
        self.history = self.noted.history
        self.state = State(preempt=self.bot.preempt, language=self.bot.language)
        self.last_word_at = parts.clock()
        self._listener = parts.listener(self.bot)
        self._gate = Gate(lane=parts.lane, first=parts.canceller() if parts.canceller else None)
        self._tasks: set[asyncio.Task[None]] = set()
        self._over = False
        self._wake = asyncio.Event()
        self._playing = Playing(
            parts,
            wire=wire,
            history=self.history,
            gate=self._gate,
            speaker=parts.speaker(self.bot),
            bot=grant.bot,
            act=self.act,
            wake=self._wake.set,
        )
        self._item_id = new_id("item")
        self._pushed_s = 0.0
        self._pushed_at = parts.clock()
        self._level_at = 0.0
        self._phase, self._greeting = "listening", ""
        self._written: tuple[str, str] | None = None
        self.broken = False

    def start(self) -> None:
        """Begin to listen."""
        self.beside(self._listen())
        self.beside(self._pump())

    async def close(self) -> None:
        """End everything; what comes in from then on is for nobody. Safe to call twice."""
        self._over = True
        for task in (tasks := [*self._tasks]):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._playing.close()
        await self._gate.close()
        await self._listener.close()

    # What comes in.

    def hear(self, pcm: Pcm) -> None:
        """The next stretch of microphone."""
        if self._over or self.state.mode in ("typed", "muted"):
            return
        now = self._parts.clock()
        passed = self._gate.push(pcm, played=self._playing.level, sounding=self._playing.sounding(pcm.duration_s))
        for frame in passed.frames:
            self._pushed_s += frame.duration_s
            self._listener.push(frame)
        self._pushed_at = now
        leaks = self._gate.may_leak
        if passed.candidate:
            self.act(Candidate(passed.voiced_s, leaks=leaks))
        elif self.state.phase == "held" and (passed.voiced_s or leaks < self.state.leaks):
            self.act(Voiced(passed.voiced_s, leaks=leaks))
        if self.wire.ours and passed.judged and now - self._level_at >= _LEVEL_EVERY_S:
            self._level_at = now
            self.wire.own("level", level=round(passed.judged.level, 3), bar=round(passed.judged.bar, 3))

    def act(self, event: TurnEvent) -> None:
        """One event: decide, and carry out."""
        if self._over:
            return
        self.state, commands = step(self.state, event, self._parts.clock())
        for command in commands:
            self._carry_out(command)
        if self.state.phase != self._phase:
            self._phase = self.state.phase
            self.wire.own("state", state=self._phase)
        self._wake.set()

    def set_mode(self, mode: Mode) -> None:
        """The way in changed."""
        self._listener.set_mode("push" if mode == "push" else "open")
        self.act(SetMode(mode))

    def commit(self) -> None:
        """The key was released."""
        self._listener.commit()
        self.act(Committed())

    def write(self, item_id: str, text: str) -> None:
        """A line that did not come through the microphone, under the id its client gave it; it waits for `respond`."""
        self.leave_written()
        self._written = item_id, text

    def leave_written(self) -> None:
        """A written line that no answer was asked for is a line all the same, and no turn any more."""
        if self._written is not None:
            (item_id, text), self._written = self._written, None
            self.history.add(Entry(item_id, "user", text))
            self.wire.item(user_item(item_id, text, spoken=False))

    def respond(self, *, audio: bool | None) -> bool:
        """Answer what was written or said, with sound or without (None: as ever). False where one is given already."""
        if self._written is not None:
            self._playing.once_audio = audio
            (self._item_id, text), self._written = self._written, None
            self.act(Typed(text))
            return True
        if self.state.answer is not None and self.state.answer.let_go:
            return False
        self._playing.once_audio = audio
        self.act(Asked())
        return True

    def hush(self) -> None:
        """Answers are written only from here on, the one that is being given as well."""
        self._playing.hush()

    def clear(self) -> None:
        """Forget the sound that is not committed."""
        self._listener.clear()

    def choose(
        self,
        *,
        voice: str | None = None,
        language: str | None = None,
        speed: float | None = None,
        preempt: bool,
        respond: bool,
        interruptible: bool,
    ) -> None:
        """What the client chose; None leaves the bot's own. Raises `LanguageRefused`, and then nothing has changed."""
        if language:
            self._listener.language = language
        self.bot = replace(
            self.bot,
            voice=voice or self.bot.voice,
            language=language or self.bot.language,
            speed=speed or self.bot.speed,
        )
        state = replace(self.state, language=self.bot.language, preempt=preempt)
        self.state = replace(state, respond=respond, interruptible=interruptible)

    def greet(self) -> None:
        """Say the bot's first sentence, where it has one and nothing has been said, nor is being said."""
        quiet = self.state.answer is None and self.state.phase == "listening"
        if self.bot.greeting and quiet and self.history.last_id is None:
            # A greeting is an answer to nothing: it takes the same path, and is recited.
            self._greeting = self.bot.greeting
            self.act(Asked())
            self._greeting = ""

    def answer_of(self, item_id: str) -> Answer | None:
        """The answer that is being given as this item."""
        return self._playing.answer_of(item_id)

    def truncate(self, item_id: str, played_ms: float) -> bool:
        """The client says how much of an item it played: that is what was heard."""
        return self._playing.truncate(item_id, played_ms)

    def beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do `work` while the session lasts; where it breaks, the conversation is over."""
        if self._over:
            work.close()
            return
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self.broken = True
            _log.error("a conversation broke", exc_info=fault)

    # What is to be done.

    def _carry_out(self, command: Command) -> None:
        match command:
            case Prepare(number, text):
                self._prepare(number, text)
            case LetGo(number):
                if not self._playing.fits(number):  # prepared before the client chose sound, or text alone
                    self._playing.discard(number, "changed")
                    self._prepare(number, self.state.answer.text if self.state.answer else "")
                self._playing.let_go(number)
            case Discard(number, why):
                self._playing.discard(number, why)
            case Interrupt(number, by_person):
                self._playing.interrupt(number, by_person=by_person)
            case Hold(number):
                self._playing.hold(number)
            case Resume(number):
                self._playing.resume(number)
            case Line(text, spoken):
                self._line(text, spoken=spoken)
            case Live(text):
                self.last_word_at = self._parts.clock()
                self.wire.own("partial", text=text, item_id=self._item_id)
            case Started(at_s):
                self.leave_written()
                self.last_word_at = self._parts.clock()
                self.wire.speech_started(self._item_id, at_s)
            case Stopped(at_s):
                self.wire.speech_stopped(self._item_id, at_s)
            case Nobody(wanted):
                if wanted:
                    self._playing.once_audio = None
                    self.wire.send(
                        error_event("nobody was heard in that sound", code="input_audio_buffer_commit_empty")
                    )
            case CloseTurn():
                self._listener.answer_heard()
            case ForgetSound():
                self._listener.clear()
            case Learn(who):
                self._gate.person() if who == "person" else self._gate.nobody(own=who == "own")
            case _:
                assert_never(command)

    def _prepare(self, number: int, text: str) -> None:
        self._playing.prepare(number, text, self.state, self.bot, self.token, greeting=self._greeting)

    def _line(self, text: str, *, spoken: bool) -> None:
        self.last_word_at = self._parts.clock()
        if not spoken:
            self._playing.forget_measured()
        item_id, self._item_id = self._item_id, new_id("item")
        self.history.add(Entry(item_id, "user", text))
        if spoken:
            self.wire.spoken_line(item_id, text)
        else:
            self.wire.item(user_item(item_id, text, spoken=False))

    # What goes on by itself.

    async def _listen(self) -> None:
        try:
            async for event in self._listener.events():
                if isinstance(event, Judged):
                    self._playing.measured.judged(event)
                elif isinstance(event, Words) and event.kind == "final":
                    self._playing.measured.words(event, self._parts.clock())
                elif isinstance(event, SpeechEnded):
                    ended_at = self._pushed_at - (self._pushed_s - event.at_s)
                    now = self._parts.clock()
                    self._playing.measured.ended(event, min(ended_at, now), now)
                self.act(event)
        except Exception:
            _log.exception("listening broke")
        # A conversation that has gone deaf is over, also where the listener itself ended; the transport says so.
        self.broken = True

    async def _pump(self) -> None:
        """The beat: only while something is held, thought about or played."""
        while True:
            if self._playing.idle and self.state.phase == "listening" and not self.state.wanted:
                self._wake.clear()
                await self._wake.wait()
            self._playing.beat()
            self.act(Tick())
            await self._parts.sleep(_BEAT_S)
