"""Playing: the answers of one session, from being made to being played to their end, or stopped.

It carries out and keeps the record of what was heard; it decides nothing and hears nobody. The one rule: an answer that
has left `_answers` is never sent from again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Literal

from sound import Pcm
from voice.answer import OUT_HZ, Answer, Times
from voice.door import Message
from voice.events import AllSent, Audible, Broke, Drained, Said, TurnEvent, Why
from voice.gate import Gate
from voice.history import Entry, History
from voice.parts import BotVoice, SpeakerPort, VoiceParts
from voice.playout import Playout
from voice.realtime_events import Wire, new_id
from voice.state import State
from voice.trace import Measured, trace_of

# Finished answers that can still be cut by a late `conversation.item.truncate`.
_TRUNCATABLE = 8
# A line that is being said is noted this often.
_NOTE_EVERY_S = 2.0


class Playing:
    """Every answer there is. `act` takes what happens to one; `wake` says that there is something to do."""

    def __init__(
        self,
        parts: VoiceParts,
        *,
        wire: Wire,
        history: History,
        gate: Gate,
        speaker: SpeakerPort | None,
        bot: str,
        act: Callable[[TurnEvent], None],
        wake: Callable[[], None],
    ) -> None:
        self._parts = parts
        self._wire = wire
        self._history = history
        self._gate = gate
        self._speaker = speaker
        self._bot = bot
        self._act = act
        self._wake = wake
        self._answers: dict[int, Answer] = {}
        self._finished: deque[Answer] = deque(maxlen=_TRUNCATABLE)
        self._stopping: set[asyncio.Task[None]] = set()
        self._noted_at = 0.0
        # Sound or text alone for the next answer, where its client asked for one of them; else as the session says.
        self.once_audio: bool | None = None
        self._newcomer = parts.cushions.newcomer()
        self._pressed = False
        self._fallen_told = False
        self.measured = Measured()

    @property
    def idle(self) -> bool:
        """There is no answer about."""
        return not self._answers

    @property
    def level(self) -> float | None:
        """The level of what sounds now; None where nothing does."""
        now = self._parts.clock()
        return next((answer.playout.level(now) for answer in self._answers.values() if answer.shown), None)

    def sounding(self, duration_s: float) -> Pcm | None:
        """The next `duration_s` of what sounds; None where nothing does."""
        now, count = self._parts.clock(), round(duration_s * OUT_HZ)
        shown = next((answer for answer in self._answers.values() if answer.shown), None)
        return Pcm.known(shown.playout.sounding(count, now), OUT_HZ) if shown else None

    async def close(self) -> None:
        """Stop everything; what was heard stands. Safe to call twice."""
        self._note()
        answers, self._answers = list(self._answers.values()), {}
        for answer in answers:
            await answer.stop()
        await asyncio.gather(*self._stopping, return_exceptions=True)
        self._finished.clear()

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
        return self._history.find(item_id) is not None

    def prepare(self, number: int, text: str, state: State, bot: BotVoice, token: str, *, greeting: str) -> None:
        """Begin to make an answer to `text`, or to say `greeting`; nothing of it is let out."""
        now = self._parts.clock()
        answer = Answer(
            id=number,
            item_id=new_id("item"),
            response_id=new_id("resp"),
            turn=state.turn,
            generation=state.generation,
            playout=Playout(OUT_HZ, ahead_s=self._wire.ahead_s, client_holds=self._wire.holds),
            times=Times(asked_at=now),
            clock=self._parts.clock,
            watch=self._parts.cushions.watch(self._newcomer),
            cushion_s=self._parts.cushions.wait_s(now),
            on_text=self._on_text,
            on_change=self._changed,
            audio=self._audio,
            speculated=state.phase == "pausing",
        )
        self._answers[number] = answer
        speaker = self._speaker if answer.audio else None
        if greeting:
            answer.recite(greeting, speaker, bot)
            return
        # The line is in the history already where it was shown first; a speculated one is not.
        asked = [Message("user", text)] if text and answer.speculated else []
        answer.begin(self._parts.door, token, self._history.messages(*asked), speaker, bot)

    def forget_measured(self) -> None:
        """A line was typed: of speech that got no answer nothing belongs to its turn."""
        self.measured = Measured(wasted=self.measured.wasted)

    def fits(self, number: int) -> bool:
        """Whether it was prepared for sound, or for text alone, as it is wanted."""
        return self._answers[number].audio == self._audio

    def let_go(self, number: int) -> None:
        """It may be shown and heard."""
        answer = self._answers[number]
        answer.let_go = True
        self.once_audio = None
        # From here on what is measured is of another turn.
        answer.measured, self.measured = self.measured, Measured()
        self._wire.begin(answer)
        if answer.text:
            self._wire.text(answer, answer.text)
            self._act(Said(answer.id, answer.text))
        self._changed()

    def discard(self, number: int, why: Why) -> None:
        """Stop making it; nobody heard any of it."""
        answer = self._answers.pop(number)
        self._let_hold_go(answer)
        if answer.let_go:
            self.measured.wasted += answer.measured.wasted
            failed = why == "failed"
            self._wire.finish(
                answer,
                "failed" if failed else "cancelled",
                "",
                reason=None if failed else _reason(by_person=why != "cancelled"),
                fault=(answer.fault or "no answer came in time; ask again") if failed else "",
            )
        elif answer.speculated:
            self.measured.wasted += 1
        self._stop(answer)

    def interrupt(self, number: int, *, by_person: bool) -> None:
        """Stop it where it is; what was heard of it stands."""
        answer = self._answers.pop(number)
        played = answer.playout.played(self._parts.clock())
        heard = answer.heard.text(played, complete=False)
        self._remember(answer, heard)
        if self._wire.finish(answer, "cancelled", heard, reason=_reason(by_person=by_person)):
            self._send_trace(answer, interrupted=True)
        self._clear(answer)
        self._finished.append(answer)
        self._stop(answer)

    def hold(self, number: int) -> None:
        """Nothing of it leaves until `resume`."""
        answer = self._answers[number]
        answer.playout.hold(self._parts.clock())
        self._wire.hold(answer, held=True)

    def resume(self, number: int) -> None:
        """Play on at the same sample."""
        self._let_hold_go(self._answers[number])

    def hush(self) -> None:
        """Nothing sounds any more: what is being answered is written to its end."""
        for answer in self._answers.values():
            self._let_hold_go(answer)
            answer.hush()
            if answer.shown:
                self._clear(answer)

    def beat(self) -> None:
        """Let out the sound that is due."""
        now = self._parts.clock()
        for answer in list(self._answers.values()):
            if answer.let_go:
                self._play(answer, now)
        if now - self._noted_at >= _NOTE_EVERY_S:
            self._noted_at = now
            self._note()

    def _changed(self) -> None:
        """There is more of an answer: the beat goes on, and what a client waits for does not wait for it (10 ms at the
        mean)."""
        self._wake()
        now = self._parts.clock()
        if not self._pressed and any(one.let_go and one.playout.presses(now) for one in self._answers.values()):
            self._pressed = True
            asyncio.get_running_loop().call_soon(self._press)

    def _press(self) -> None:
        self._pressed = False
        self.beat()

    def _note(self) -> None:
        """What was heard so far of what sounds, so that whatever ends this session loses little of it."""
        now = self._parts.clock()
        for answer in self._answers.values():
            if answer.shown:
                self._remember(answer, answer.heard.text(answer.playout.played(now), complete=False))

    def _play(self, answer: Answer, now: float) -> None:
        for chunk in answer.playout.take(now) if answer.ripe(now) else ():
            if answer.times.first_audible_at is None and chunk.first_audible is not None:
                answer.times.first_audible_at = now
            if not answer.shown:
                answer.shown = True
                self._gate.answering()
                self._history.add(Entry(answer.item_id, "assistant", ""))
                self._act(Audible(answer.id))
            self._wire.sound(answer, chunk)
        if not answer.over:
            return
        if answer.fault and not answer.playout.sent and answer.playout.all_sent:
            self._act(Broke(answer.id))
        elif answer.playout.all_sent:
            self._all_sent(answer)
            if answer.playout.drained(now) or not answer.playout.sent:
                self._drained(answer)

    def _all_sent(self, answer: Answer) -> None:
        status = "failed" if answer.fault else "completed"
        if self._wire.finish(answer, status, answer.stands, fault=answer.fault):
            self._send_trace(answer, interrupted=False)
            self._act(AllSent(answer.id))

    def _drained(self, answer: Answer) -> None:
        del self._answers[answer.id]
        self._let_hold_go(answer)
        self._wire.played(answer)
        text = answer.stands
        if not answer.shown and text:  # text alone: nothing sounded, and all of it was read
            self._history.add(Entry(answer.item_id, "assistant", ""))
        self._remember(answer, text)
        self._finished.append(answer)
        self._stop(answer)
        self._act(Drained(answer.id))

    def _clear(self, answer: Answer) -> None:
        """What was sent ahead of it is not to be played, which is said once."""
        if not answer.cleared:
            answer.cleared = True
            self._wire.cleared(answer)

    def _let_hold_go(self, answer: Answer) -> None:
        """Or whoever plays what is held would hold the next one as well."""
        if answer.playout.held:
            answer.playout.resume(self._parts.clock())
            self._wire.hold(answer, held=False)

    def _stop(self, answer: Answer) -> None:
        answer.playout.stop()
        task = asyncio.create_task(answer.stop())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    @property
    def _audio(self) -> bool:
        return self._wire.audio if self.once_audio is None else self.once_audio

    def _remember(self, answer: Answer, text: str) -> None:
        """What stands of an answer. Its place was kept when it began to sound; blank, it is no line."""
        self._history.write(answer.item_id, text)

    def _on_text(self, answer: Answer, text: str) -> None:
        if answer.id in self._answers and answer.let_go:
            self._wire.text(answer, text)
            self._act(Said(answer.id, answer.text))

    def _send_trace(self, answer: Answer, *, interrupted: bool) -> None:
        fallen = None if self._fallen_told or self._speaker is None else self._speaker.fallen
        self._fallen_told = self._fallen_told or fallen is not None
        fields: dict[str, Any] = trace_of(answer, answer.measured, interrupted=interrupted, fallen=fallen)
        self._wire.own("trace", **fields)
        self._parts.observe(self._bot, fields)


def _reason(*, by_person: bool) -> Literal["turn_detected", "client_cancelled"]:
    return "turn_detected" if by_person else "client_cancelled"
