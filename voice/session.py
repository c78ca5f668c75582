"""A session: carries out what `converse.py` decides, for one person on one transport.

It joins the listener, the door, the speaker, the playout and the gate; it holds no policy. The one rule: everything
that happens goes through `act`, on the event loop, one event at a time, so that there is one order.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import replace
from typing import Any, Literal, assert_never

from asr.events import SpeechEnded, Words
from grant import Grant
from sound import Pcm
from voice.answer import OUT_HZ, Answer, Times
from voice.converse import State, step
from voice.door import Message
from voice.events import (
    Asked,
    Audible,
    Broke,
    Candidate,
    CloseTurn,
    Command,
    Committed,
    Discard,
    Drained,
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
    Said,
    SetMode,
    Started,
    Stopped,
    Tick,
    TurnEvent,
)
from voice.gate import Gate
from voice.history import Entry, History
from voice.parts import VoiceParts
from voice.playout import AHEAD_S, Playout
from voice.realtime_events import Wire, error_event, new_id, user_item
from voice.trace import Measured, trace_of

_log = logging.getLogger("firstword.voice")

# How often sound is let out and holds are looked at while something is going on; nothing runs while nothing is.
_BEAT_S = 0.02
# The level meter of a page needs no more.
_LEVEL_EVERY_S = 0.2
# Finished answers that can still be cut by a late `conversation.item.truncate`.
_TRUNCATABLE = 8


class Session:
    """One conversation. `token` is the grant as presented; it goes to the door with every question."""

    def __init__(self, parts: VoiceParts, *, grant: Grant, token: str, wire: Wire) -> None:
        self._parts = parts
        self.grant = grant
        self.token = token
        self.wire = wire
        self.bot = parts.bot(grant.bot)
        self.history = History()
        self.state = State(preempt=self.bot.preempt, language=self.bot.language)
        self.last_word_at = parts.clock()
        self._listener = parts.listener(self.bot)
        self._speaker = parts.speaker(self.bot)
        self._gate = Gate()
        self._answers: dict[int, Answer] = {}
        self._finished: deque[Answer] = deque(maxlen=_TRUNCATABLE)
        self._stopping: set[asyncio.Task[None]] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self._wake = asyncio.Event()
        self._item_id = new_id("item")
        self._pushed_s = 0.0
        self._pushed_at = parts.clock()
        self._level_at = 0.0
        self._measured = Measured()
        self._phase = "listening"
        self._greeting = ""
        self.broken = False

    def start(self) -> None:
        """Begin to listen."""
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._pump())]

    async def close(self) -> None:
        """End everything. Safe to call twice."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        answers, self._answers = list(self._answers.values()), {}
        for answer in answers:
            await answer.stop()
        await asyncio.gather(*self._stopping, return_exceptions=True)
        self._finished.clear()
        await self._listener.close()

    # What comes in.

    def hear(self, pcm: Pcm) -> None:
        """The next stretch of microphone."""
        if self.state.mode in ("typed", "muted"):
            return
        now = self._parts.clock()
        answer = self._sounding()
        passed = self._gate.push(pcm, played=answer.playout.level(now) if answer else None)
        for frame in passed.frames:
            self._pushed_s += frame.duration_s
            self._listener.push(frame)
        self._pushed_at = now
        if passed.candidate:
            self.act(Candidate())
        if self.wire.ours and passed.judged and now - self._level_at >= _LEVEL_EVERY_S:
            self._level_at = now
            self.wire.own("level", level=round(passed.judged.level, 3), bar=round(passed.judged.bar, 3))

    def act(self, event: TurnEvent) -> None:
        """One event: decide, and carry out."""
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
        """What the client chose; None leaves the bot's own."""
        self.bot = replace(
            self.bot,
            voice=voice or self.bot.voice,
            language=language or self.bot.language,
            speed=speed or self.bot.speed,
        )
        if language:
            self._listener.language = language
        self.state = replace(
            self.state,
            language=self.bot.language,
            preempt=preempt,
            respond=respond,
            interruptible=interruptible,
        )

    def greet(self) -> None:
        """Say the bot's first sentence, where it has one and nothing has been said."""
        if self.bot.greeting and self.state.answer is None and self.history.last_id is None:
            # A greeting is an answer to nothing: it takes the same path, and `_prepare` recites it.
            self._greeting = self.bot.greeting
            self.act(Asked())

    def answer_of(self, item_id: str) -> Answer | None:
        """The answer that is being given as this item."""
        return next((answer for answer in self._answers.values() if answer.item_id == item_id), None)

    def truncate(self, item_id: str, played_ms: float) -> bool:
        """The client says how much of an item it played: that is what was heard."""
        played = round(played_ms * (OUT_HZ / 1000))
        for answer in [*self._answers.values(), *self._finished]:
            if answer.item_id == item_id:
                whole = played >= answer.heard.samples and answer.over and not answer.fault
                self._remember(answer, answer.stands if whole else answer.heard.text(played, complete=False))
                return True
        return self.history.find(item_id) is not None

    # What is to be done.

    def _carry_out(self, command: Command) -> None:
        match command:
            case Prepare(number, text):
                self._prepare(number, text)
            case LetGo(number):
                self._let_go(self._answers[number])
            case Discard(number, why):
                self._discard(number, why)
            case Interrupt(number, by_person):
                self._interrupt(number, by_person=by_person)
            case Hold(number):
                self._hold(number)
            case Resume(number):
                self._resume(number)
            case Line(text, spoken):
                self._line(text, spoken=spoken)
            case Live(text):
                self.last_word_at = self._parts.clock()
                self.wire.own("partial", text=text, item_id=self._item_id)
            case Started(at_s):
                self.last_word_at = self._parts.clock()
                self.wire.speech_started(self._item_id, at_s)
            case Stopped(at_s):
                self.wire.speech_stopped(self._item_id, at_s)
            case Nobody(wanted):
                if wanted:
                    self.wire.send(
                        error_event("nobody was heard in that sound", code="input_audio_buffer_commit_empty")
                    )
            case CloseTurn():
                self._listener.answer_heard()
            case ForgetSound():
                self._listener.clear()
            case Learn(person):
                self._gate.person() if person else self._gate.nobody()
            case _:
                assert_never(command)

    def _prepare(self, number: int, text: str) -> None:
        now = self._parts.clock()
        playout = Playout(OUT_HZ, ahead_s=AHEAD_S, client_holds=self.wire.ours)
        answer = Answer(
            id=number,
            item_id=new_id("item"),
            response_id=new_id("resp"),
            turn=self.state.turn,
            generation=self.state.generation,
            playout=playout,
            times=Times(asked_at=now),
            clock=self._parts.clock,
            on_text=self._on_text,
            on_change=self._wake.set,
            speculated=self.state.phase == "pausing",
        )
        self._answers[number] = answer
        speaker = self._speaker if self.wire.audio else None
        if self._greeting:
            greeting, self._greeting = self._greeting, ""
            answer.recite(greeting, speaker, self.bot)
            return
        # The line is in the history already where it was shown first; a speculated one is not.
        asked = [Message("user", text)] if text and answer.speculated else []
        answer.begin(self._parts.door, self.token, self.history.messages(*asked), speaker, self.bot)

    def _let_go(self, answer: Answer) -> None:
        answer.let_go = True
        self.wire.begin(answer)
        if answer.text:
            self.wire.text(answer, answer.text)
            self.act(Said(answer.id, answer.text))

    def _discard(self, number: int, why: str) -> None:
        answer = self._answers.pop(number)
        if answer.let_go:
            failed = why == "failed"
            self.wire.finish(
                answer,
                "failed" if failed else "cancelled",
                "",
                reason=None if failed else _reason(by_person=why != "cancelled"),
                fault=(answer.fault or "no answer came in time; ask again") if failed else "",
            )
        elif answer.speculated:
            self._measured.wasted += 1
        self._stop(answer)

    def _interrupt(self, number: int, *, by_person: bool) -> None:
        answer = self._answers.pop(number)
        played = answer.playout.played(self._parts.clock())
        heard = answer.heard.text(played, complete=False)
        self._remember(answer, heard)
        if self.wire.finish(answer, "cancelled", heard, reason=_reason(by_person=by_person)):
            self._send_trace(answer, interrupted=True)
        self.wire.send({"type": "output_audio_buffer.cleared", "response_id": answer.response_id})
        self._finished.append(answer)
        self._stop(answer)

    def _stop(self, answer: Answer) -> None:
        answer.playout.stop()
        task = asyncio.create_task(answer.stop())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    def _hold(self, number: int) -> None:
        self._answers[number].playout.hold(self._parts.clock())
        self.wire.own("hold", held=True, response_id=self._answers[number].response_id)

    def _resume(self, number: int) -> None:
        self._answers[number].playout.resume(self._parts.clock())
        self.wire.own("hold", held=False, response_id=self._answers[number].response_id)

    def _line(self, text: str, *, spoken: bool) -> None:
        self.last_word_at = self._parts.clock()
        item_id, self._item_id = self._item_id, new_id("item")
        self.history.add(Entry(item_id, "user", text))
        if spoken:
            self.wire.spoken_line(item_id, text)
        else:
            self.wire.item(user_item(item_id, text, spoken=False))

    def _remember(self, answer: Answer, text: str) -> None:
        """What stands of an answer. Its place was kept when it began to sound; blank, it is no line."""
        entry = self.history.find(answer.item_id)
        if entry is not None:
            entry.text = text

    # What goes on by itself.

    def _on_text(self, answer: Answer, text: str) -> None:
        if answer.id not in self._answers:
            return
        if answer.let_go:
            self.wire.text(answer, text)
            self.act(Said(answer.id, answer.text))

    async def _listen(self) -> None:
        try:
            async for event in self._listener.events():
                if isinstance(event, Words) and event.kind == "final":
                    self._measured.words(event)
                elif isinstance(event, SpeechEnded):
                    ended_at = self._pushed_at - (self._pushed_s - event.at_s)
                    self._measured.ended(event, min(ended_at, self._parts.clock()))
                self.act(event)
        except Exception:
            # A conversation that has gone deaf is over; the transport closes it and says so.
            self.broken = True
            _log.exception("listening broke")

    async def _pump(self) -> None:
        """The beat: only while something is held, thought about or played."""
        while True:
            if not self._answers and self.state.phase == "listening" and not self.state.wanted:
                self._wake.clear()
                await self._wake.wait()
            self._beat()
            await self._parts.sleep(_BEAT_S)

    def _beat(self) -> None:
        now = self._parts.clock()
        for answer in list(self._answers.values()):
            if answer.let_go:
                self._play(answer, now)
        self.act(Tick())

    def _play(self, answer: Answer, now: float) -> None:
        for chunk in answer.playout.take(now):
            if answer.times.first_audible_at is None and chunk.first_audible is not None:
                answer.times.first_audible_at = now
            if not answer.shown:
                answer.shown = True
                self._gate.answering()
                self.history.add(Entry(answer.item_id, "assistant", ""))
                self.act(Audible(answer.id))
            self.wire.sound(answer, chunk.to_s16le())
        if not answer.over:
            return
        if answer.fault and not answer.playout.sent and answer.playout.all_sent:
            self.act(Broke(answer.id))
        elif answer.playout.all_sent:
            self._all_sent(answer)
            if answer.playout.drained(now) or not answer.playout.sent:
                self._drained(answer)

    def _all_sent(self, answer: Answer) -> None:
        if self.wire.finish(answer, "failed" if answer.fault else "completed", answer.stands, fault=answer.fault):
            self._send_trace(answer, interrupted=False)

    def _drained(self, answer: Answer) -> None:
        del self._answers[answer.id]
        text = answer.stands
        if not answer.shown and text:  # text alone: nothing sounded, and all of it was read
            self.history.add(Entry(answer.item_id, "assistant", ""))
        self._remember(answer, text)
        self._finished.append(answer)
        self._stop(answer)
        self.act(Drained(answer.id))

    def _sounding(self) -> Answer | None:
        return next((answer for answer in self._answers.values() if answer.shown), None)

    def _send_trace(self, answer: Answer, *, interrupted: bool) -> None:
        fields: dict[str, Any] = trace_of(answer, self._measured, interrupted=interrupted)
        self._measured = Measured()
        self.wire.own("trace", **fields)


def _reason(*, by_person: bool) -> Literal["turn_detected", "client_cancelled"]:
    return "turn_detected" if by_person else "client_cancelled"
