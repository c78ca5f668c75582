"""One session's ear: frames in, the five events of `asr/events.py` out.

It numbers turns and generations, starts the recognising while the person is merely pausing, and commits when
`endpoint` says so. Time is counted in samples of microphone sound; the only clock is the watchdog that notices a
microphone which has stopped. The one rule: events of one turn come in the order that `asr/events.py` promises, and
what was made for an abandoned generation is never sent.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Literal

from asr.activity import Activity, Tick
from asr.ear import Ear, Stretch, Understood, guess, nothing
from asr.endpoint import PAUSE_MS, RECOGNISE_MS, WAIT_MS, Pauses, ended, manner
from asr.events import ListenEvent
from asr.features import RATE_HZ
from asr.inbox import Inbox, Outbox, Sleep
from asr.intake import Intake
from asr.making import Making
from asr.settings import ListenSettings
from asr.telling import Telling
from asr.turn import Turn
from asr.utterance import Ring
from sound import Pcm

_log = logging.getLogger(__name__)

Mode = Literal["open", "push"]
# Kept before the first speech sample: a voice detector notices a soft first syllable late (cases V1, V3).
PRE_ROLL = round(0.4 * RATE_HZ)
POST_ROLL = round(0.2 * RATE_HZ)
# A released key often comes before the last syllable does (case V8).
_DRAIN_S = 0.2
# A microphone that gives nothing for this long while somebody speaks has gone (case V5).
_GONE_S = 1.0
# Sound is looked at in steps of this many seconds, so that a long push does not hold the event loop.
_STEP_S = 0.1
# Where an utterance has to be cut, it is cut at the quietest point of its last seconds.
_CUT_WITHIN = 3 * RATE_HZ
# A guess is begun where speech is in full flow: near its end it would stand in the way of the words themselves.
_IN_FLOW = 0.8
# A first guess needs something to go on.
_FIRST_GUESS = round(0.5 * RATE_HZ)


class Listener:
    """Made inside a running event loop. `settings` and `language` are the session's; `sleep` is the watchdog's."""

    def __init__(
        self,
        ear: Ear,
        *,
        settings: ListenSettings | None = None,
        language: str | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._ear = ear
        self._settings = settings or ListenSettings()
        self.language = language or ear.language
        self._sleep = sleep
        self._mode: Mode = "open"
        self._inbox, self._outbox = Inbox(), Outbox()
        self._intake, self._activity = Intake(), Activity(ear.silero, foreground=True)
        self._recognise_ms = RECOGNISE_MS if self._settings.speculate else WAIT_MS["complete"] * self._settings.wait
        self._longest = round(self._settings.longest_s * RATE_HZ)
        self._ring = Ring(self._longest + PRE_ROLL + POST_ROLL + RATE_HZ)
        self._pauses = Pauses()
        self._turn = Turn()
        self._tell = Telling(self._outbox, self._turn)
        self._making = Making(ear, self._settings)
        self._understood: Understood | None = None
        self._guessed_at = 0
        self._drain_until: int | None = None
        self._busy = False
        self._pump = asyncio.create_task(self._serve())

    @property
    def language(self) -> str:
        """ISO 639-1 code of what is heard; setting one that the recogniser does not know raises `LanguageRefused`."""
        return self._language

    @language.setter
    def language(self, code: str) -> None:
        self._ear.check_language(code)
        self._language = code

    def push(self, pcm: Pcm) -> None:
        """Sound from the microphone, of any length, rate and channels. Never waits; 10 s may wait to be heard."""
        self._inbox.put(pcm)

    def commit(self) -> None:
        """The key is released, or the client says that the turn is over: what was said stands after a 200 ms drain."""
        self._inbox.put("commit")

    def clear(self) -> None:
        """Forget what has been said and not committed."""
        self._inbox.put("clear")

    def set_mode(self, mode: Mode) -> None:
        """`open`: silence ends a turn. `push`: only `commit` does."""
        self._mode = mode
        self._activity.foreground = mode == "open"

    def answer_heard(self) -> None:
        """The answer to the last turn was heard: it is closed, and the next speech begins another."""
        self._turn.answered()

    def events(self) -> AsyncIterator[ListenEvent]:
        """What was heard, as it is known, for one reader; ends when the listener is closed."""
        return self._outbox.events()

    async def settled(self) -> None:
        """Returns when everything pushed has been heard and understood: how a file is fed faster than real time."""
        while not self._pump.done():
            if self._making.busy:
                await self._making.wait()
            elif self._inbox or self._busy:
                await asyncio.sleep(0)
            else:
                return

    async def close(self) -> None:
        """Stop and free everything; waiting work never runs. Safe to call twice."""
        self._pump.cancel()
        await asyncio.gather(self._pump, return_exceptions=True)
        await self._making.close()
        self._outbox.close()

    async def _serve(self) -> None:
        try:
            while True:
                if not self._inbox and not await self._more():
                    self._busy = True
                    await self._end()
                    continue
                self._busy = True
                item = self._inbox.take()
                if lost_s := self._inbox.lost_s():
                    self._activity.skip(round(lost_s * RATE_HZ))
                    self._ring.skip(round(lost_s * RATE_HZ))
                if isinstance(item, Pcm):
                    await self._hear(item)
                elif item == "clear":
                    self._drop()
                elif self._mode == "push" or self._turn.open:
                    self._drain_until = self._ring.stop + round(_DRAIN_S * RATE_HZ)
        except Exception:
            _log.exception("listening stopped on a fault of ours")
            self._outbox.close()

    async def _more(self) -> bool:
        """Wait for the next item; False where somebody is being listened to and nothing comes."""
        self._busy = False
        if self._drain_until is not None:
            return await self._inbox.wait(_DRAIN_S, self._sleep)
        watched = self._turn.open and self._mode == "open"
        return await self._inbox.wait(_GONE_S if watched else None, self._sleep)

    async def _hear(self, pcm: Pcm) -> None:
        step = max(1, round(_STEP_S * pcm.rate_hz))
        for at in range(0, len(pcm), step):
            if at:
                await asyncio.sleep(0)
            samples = self._intake.push(pcm.part(at, at + step))
            self._ring.append(samples)
            for tick in self._activity.push(samples):
                await self._tick(tick)

    async def _tick(self, tick: Tick) -> None:
        turn = self._turn
        if tick.speech:
            self._voice(tick)
        elif turn.open and not tick.maybe:
            self._quiet(tick)
        if self._drain_until is not None and tick.stop >= self._drain_until:
            await self._end()
        elif turn.open and tick.stop - turn.audio_start >= self._longest:
            await self._cut(tick)
        elif not turn.open:
            self._ring.keep_from(tick.stop - 2 * PRE_ROLL)

    def _voice(self, tick: Tick) -> None:
        turn = self._turn
        if not turn.open:
            self._begin(tick.onset, floor=self._ring.start, pre_roll=PRE_ROLL)
        elif turn.pausing:
            self._go_on(tick)
        turn.speech_stop = tick.stop
        turn.voiced += tick.stop - tick.start
        due = tick.stop - self._guessed_at >= self._guess_every and tick.probability >= _IN_FLOW
        if self._settings.partials and due and not self._making.looking:
            self._guessed_at = tick.stop
            self._look(tick.stop)

    def _go_on(self, tick: Tick) -> None:
        """They had paused and speak again: what was understood of it is a guess now."""
        turn, understood = self._turn, self._understood
        self._pauses.heard((tick.onset - turn.speech_stop) / RATE_HZ * 1000)
        self._abandon()
        turn.pausing = False
        if turn.announced:
            turn.resume()
            self._tell.started(tick.onset)
        if understood is not None and understood.transcript.text and self._settings.partials:
            self._guessed_at = turn.speech_stop
            self._tell.guess(guess(understood), turn.speech_stop)

    def _quiet(self, tick: Tick) -> None:
        turn = self._turn
        silence_ms = (tick.stop - turn.speech_stop) / RATE_HZ * 1000
        if not turn.pausing and silence_ms >= self._recognise_ms:
            turn.pausing = True
            self._speculate(turn.speech_stop)
        if turn.pausing and self._mode == "open" and silence_ms >= PAUSE_MS:
            self._tell.paused()
            self._maybe_end(tick.stop)

    def _maybe_end(self, now: int) -> None:
        turn, understood = self._turn, self._understood
        if understood is None:
            return
        self._tell.final(understood)
        if not understood.judged:
            return
        silence_ms = (now - turn.speech_stop) / RATE_HZ * 1000
        judgement = understood.judgement
        heard = manner(judgement.verdict, voiced_ms=turn.voiced / RATE_HZ * 1000, crowded=self._activity.crowded)
        if ended(silence_ms, judgement, scale=self._settings.wait, factor=self._pauses.factor * heard):
            self._close_turn(silence_ms)

    async def _end(self) -> None:
        """End the turn now: the key was released, or the microphone has gone."""
        turn = self._turn
        self._drain_until = None
        if not turn.open:
            if self._mode == "open":
                return
            self._begin(self._ring.stop, floor=self._ring.start, pre_roll=PRE_ROLL)
        self._tell.paused()
        if not turn.pausing:
            turn.pausing = True
            self._speculate(turn.speech_stop)
        await self._commit((self._ring.stop - turn.speech_stop) / RATE_HZ * 1000)

    async def _cut(self, tick: Tick) -> None:
        """The utterance is as long as one may be: commit what there is, and go on under the next generation."""
        turn = self._turn
        speaking = not turn.pausing
        if speaking:
            turn.speech_stop = self._ring.quietest(tick.stop - _CUT_WITHIN, tick.stop)
            turn.pausing = True
            self._tell.paused()
            self._speculate(turn.speech_stop, post_roll=0)
        at = turn.speech_stop
        await self._commit(0.0)
        if speaking:
            self._begin(at, floor=at, pre_roll=0)
            turn.speech_stop, turn.voiced = tick.stop, tick.stop - at

    async def _commit(self, waited_ms: float) -> None:
        """Wait for the words that are being made, and let them stand."""
        await self._making.wait()
        self._close_turn(waited_ms)

    def _begin(self, at: int, *, floor: int, pre_roll: int) -> None:
        self._turn.begin(at, floor=floor, pre_roll=pre_roll)
        self._ring.keep_from(self._turn.audio_start)
        self._tell.begin()
        self._guessed_at = at + _FIRST_GUESS - self._guess_every
        self._tell.started(at)

    def _speculate(self, stop: int, *, post_roll: int = POST_ROLL) -> None:
        self._understood = None
        number, generation = self._turn.number, self._turn.generation

        def use(understood: Understood) -> None:
            if (number, generation) != (self._turn.number, self._turn.generation) or not self._turn.pausing:
                return
            self._understood = understood
            if self._mode == "open" and self._turn.announced:
                self._maybe_end(self._ring.stop)

        self._making.understand(self._stretch(stop, post_roll=post_roll), self.language, use)

    def _look(self, stop: int) -> None:
        turn, number, generation = self._turn, self._turn.number, self._turn.generation

        def use(seen: Understood) -> None:
            current = (number, generation) == (turn.number, turn.generation)
            if current and turn.open and not turn.pausing:
                self._tell.guess(seen, stop)

        self._making.look(self._stretch(stop), self.language, use)

    def _stretch(self, stop: int, *, post_roll: int = POST_ROLL) -> Stretch:
        turn = self._turn
        samples = self._ring.read(turn.audio_start, stop + post_roll)
        first = max(turn.audio_start, self._ring.start)
        return Stretch(samples, max(0, turn.speech_start - first), stop - first, turn.voiced)

    def _close_turn(self, waited_ms: float) -> None:
        turn = self._turn
        # Nothing was understood where the lanes closed meanwhile: nobody waits for words then.
        understood = self._understood or nothing(self.language, "stopped")
        self._tell.paused()
        self._tell.final(understood)
        self._tell.ended(understood, waited_ms)
        self._pauses.finished()
        self._abandon()
        turn.commit(understood.transcript.text)

    def _drop(self) -> None:
        """Forget the open utterance. A turn that was begun is ended with no words, so that nobody waits for them."""
        self._drain_until = None
        if self._turn.open:
            self._abandon()
            self._turn.parts = 0
            self._understood = nothing(self.language, "cleared")
            self._close_turn(0.0)

    def _abandon(self) -> None:
        """What is being made is for nobody any more; what has not started never runs."""
        self._making.abandon()
        self._understood = None

    @property
    def _guess_every(self) -> int:
        return round(self._settings.partial_every_ms / 1000 * RATE_HZ)
