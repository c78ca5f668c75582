"""The acting: one held run, taken step by step to its end.

Not the deciding: `loop.decide` says what is next, and this carries it out. The rules: what happened is a row before the
next thing begins; the stream ends with exactly one `Done` or `Failed`; whoever lost the lease says nothing more of the
answer and writes nothing.

A turn that somebody listens to goes on where the database goes away under it (it is *adrift*). Its words are heard by
nobody else, whoever else may take the run up from its rows, so they need no lease. Its acts do: what must not happen
twice is written down first or not done, and what may happen twice may. What happened is written in one piece with the
end, when the database is back, if the run is still ours then. A turn that nobody listens to stops instead, for its rows
are all there is of it.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from agents_core import prompt
from agents_core.asking import Asking
from agents_core.bots import Bot
from agents_core.deadline import Deadline
from agents_core.errors import LeaseLost, ProviderFault, where
from agents_core.events import Busy, Delta, Done, Ending, Event, Failed, Started, Trace, Usage
from agents_core.ledger import Ledger
from agents_core.loop import AskModel, Call, CallTool, Finish, Run, SayUnknown, Step, decide, time_left_s
from agents_core.means import Means
from agents_core.offer import NOTHING, Offer
from agents_core.providers.base import Profile, Words
from agents_core.providers.line import Chosen
from agents_core.reckoning import lower, model_step, used
from agents_core.runs import out_of_reach
from agents_core.store import Held, State
from agents_core.tools import Handed, unknown
from agents_core.words import House

_log = logging.getLogger(__name__)

_OVERTAKEN = "another process took this answer over; ask again"
_AWAY = "what is said cannot be written down at the moment; ask again"
_GIVEN_BACK = "the server is stopping; another one finishes this answer"
_ENDS_HERE = "the server is stopping; ask again"
_NOT_CALLED = (
    "error: nothing can be written down at the moment, so it was not done; say so, and that it can be asked again"
)
_NOBODY = Chosen("", "", Profile(), ())
T = TypeVar("T")


@dataclass(slots=True)
class _Told:
    """What the trace will say."""

    began_s: float
    first_s: float | None = None
    chosen: Chosen = _NOBODY
    said: str = ""


class _Interrupted(Exception):
    """The wait was broken off: cancelled, lost, out of time, or to be given back. The next decision says which."""


class _GiveBack(Exception):
    """The run is to be given back unfinished."""


class Turn:
    """One held run. `events` may be read once; closing it early cancels the run."""

    def __init__(
        self,
        means: Means,
        bot: Bot,
        house: House,
        held: Held,
        *,
        offer: Offer = NOTHING,
        budget_s: float | None = None,
        listened: bool = True,
        ahead: Asking | None = None,
    ) -> None:
        """`budget_s` is how long this process stays with the run before it gives it back; None is to its end.

        Where nobody has `listened` from the beginning, a model may take its time to begin. `ahead` is the first asking,
        where it was begun already; whoever began it closes it.
        """
        self._line, self._clock, self._reach = means.line, means.clock, means.reach
        self._means, self._bot, self._house, self._held, self._offer = means, bot, house, held, offer
        self._run = Run(lower(bot.ceilings, held.ask.ceilings), held.began_s, held.cancelled)
        # The database's seconds, carried on by our own clock: two machines' clocks are never compared.
        self._offset_s = held.now_s - self._clock()
        self._until_s = None if budget_s is None else self._clock() + budget_s
        self._told = _Told(self._clock())
        self._remembered: tuple[str, ...] | None = None
        self._ahead = ahead
        self._listened = listened
        self._giving_back = False
        self._over = False
        self._deadline = Deadline()
        self._grip = means.keeper.hold(held, self._interrupt, patient=listened)
        self._ledger = Ledger(means, held, self._grip, listened=listened)

    @property
    def adrift(self) -> bool:
        """Whether the database went away under it."""
        return self._ledger.adrift

    def give_back(self) -> None:
        """Stop as soon as may be, and leave the run to another process. What is not written yet is done again there."""
        self._giving_back = True
        self._interrupt()

    async def events(self) -> AsyncGenerator[Event, None]:
        """The run's events from where its rows stand."""
        try:
            # Within the `try`: a listener who leaves on the first event leaves a cancelled row too.
            yield Started(self._held.id)
            async with aclosing(self._drive()) as driven:
                async for event in driven:
                    yield event
        except LeaseLost:
            self._over = True
            yield Failed(_OVERTAKEN, "ours")
        except _GiveBack:
            await self._release()
            yield Failed(_GIVEN_BACK if self._means.recorded else _ENDS_HERE, "ours")
        except ProviderFault as fault:
            async for event in self._fail(str(fault), "ours" if fault.verdict.whose == "ours" else "provider"):
                yield event
        except Exception as fault:
            # A fault of ours is an ending like any other. Where the database is away nothing can be written: the lease
            # runs out, and whoever finds the run goes on from its rows. Nobody listens, or it would be adrift.
            _log.error("a turn broke: %s; run %s\n%s", type(fault).__name__, self._held.id, where(fault))
            if out_of_reach(fault):
                self._over = True
                yield Failed(_AWAY, "ours")
            else:
                async for event in self._fail(f"something broke here ({type(fault).__name__}); ask again", "ours"):
                    yield event
        finally:
            try:
                if not self._over:
                    await self._leave()
            finally:
                # Also where the leaving itself is broken off: a run that nobody lets go of is renewed for ever.
                self._deadline.close()
                self._means.keeper.let_go(self._grip)

    async def _drive(self) -> AsyncGenerator[Event, None]:
        # The first holder of a run finds no steps; whoever takes it over goes on from what is written.
        if self._held.fence > 1:
            await self._ledger.read()
        while True:
            self._run = replace(self._run, cancelled=self._grip.cancelled)
            if self._grip.lost:
                raise LeaseLost(f"run {self._held.id} is held by another process")
            if self._giving_back:
                raise _GiveBack
            known = self._ledger.known
            decision = decide(self._run, known, self._clock() + self._offset_s)
            if isinstance(decision, Finish):
                async for event in self._finish(decision.ending, known):
                    yield event
                return
            if self._ledger.unwritten is not None:
                await self._ledger.write(self._ledger.unwritten)
                continue
            if self._until_s is not None and self._clock() > self._until_s:
                raise _GiveBack
            with suppress(_Interrupted):
                match decision:
                    case AskModel():
                        async with aclosing(self._ask()) as asked:
                            async for delta in asked:
                                yield delta
                    case CallTool(call):
                        async with aclosing(self._call(call)) as called:
                            async for event in called:
                                yield event
                    case SayUnknown(call, n):
                        await self._ledger.close(Step(n, "tool", text=unknown(call).text, call_id=call.id))

    async def _ask(self) -> AsyncGenerator[Delta, None]:
        """Ask the line once: its words as they come; then there is a step to write down."""
        told, steps = self._told, self._ledger.steps
        asking = await self._asking(steps)
        text, whole = "", None
        try:
            async with aclosing(asking):
                while (chunk := await self._waiting(asking.next())) is not None:
                    if isinstance(chunk, Chosen):
                        told.chosen = chunk
                    elif isinstance(chunk, Words):
                        await self._ledger.sure()
                        if told.first_s is None:
                            told.first_s = self._clock()
                        text += chunk.text
                        told.said += chunk.text
                        yield Delta(chunk.text)
                        if self._grip.cancelled:
                            break
                    else:
                        whole = chunk
            self._reach("answered")
        finally:
            # What was said was paid for, whoever broke it off; a run that is given back says all of it again elsewhere.
            if text or whole is not None:
                self._ledger.unwritten = model_step(
                    len(steps), text, whole, asked_chars=asking.chars, chosen=told.chosen
                )

    async def _asking(self, steps: tuple[Step, ...]) -> Asking:
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            return ahead
        if self._remembered is None:
            self._remembered = await self._before()
        return Asking(
            self._line,
            self._bot,
            self._house,
            self._held.ask,
            steps=steps,
            offer=self._offer,
            remembered=self._remembered,
            hurried=self._listened,
            free=not self._means.recorded,
        )

    async def _call(self, call: Call) -> AsyncGenerator[Event, None]:
        """Call one tool: written as begun first, where it must not happen twice."""
        n, ask = len(self._ledger.steps), self._held.ask
        box = self._offer.box(self._ledger.steps)
        tool = box.get(call.name)
        once = tool is not None and not tool.repeats
        if once:
            await self._ledger.write(Step(n, "tool", call_id=call.id, open=True))
            if self._ledger.adrift:
                await self._ledger.close(Step(n, "tool", text=_NOT_CALLED, call_id=call.id))
                return
            self._reach("about_to_call")
            if self._grip.cancelled:
                await self._ledger.close(Step(n, "tool", text="error: cancelled before it was called", call_id=call.id))
                return
        if tool is not None and tool.busy:
            yield Busy(tool.busy)
        await self._ledger.sure()
        # The step's number, not the call's id: some models give one id to every call.
        handed = Handed(self._held.id, str(n), self._bot.slug, ask.surface, ask.room, ask.language, self._means.desk)
        answered = await self._waiting(box.call(call, handed))
        self._reach("called")
        step = Step(n, "tool", text=answered.text, call_id=call.id)
        if once:
            await self._ledger.close(step)
        else:
            self._ledger.unwritten = step
        for event in answered.events:
            yield event

    async def _before(self) -> tuple[str, ...]:
        """What is remembered of them; nothing where it cannot be read."""
        memories = self._means.memories
        if memories is None or self._ledger.adrift:
            return ()
        try:
            return await self._waiting(memories.before(self._bot, self._held.ask))
        except Exception as fault:
            self._ledger.go_adrift(fault)
            return ()

    async def _waiting(self, what: Awaitable[T]) -> T:
        """Wait for somebody outside, but no longer than the run has, nor past a cancel. Raises `_Interrupted`."""
        broken_off = self._grip.cancelled or self._grip.lost or self._giving_back
        left_s = 0.0 if broken_off else time_left_s(self._run, self._clock() + self._offset_s)
        try:
            return await self._deadline.wait(what, left_s)
        except TimeoutError:
            if self._deadline.rang:
                raise _Interrupted from None
            raise

    def _interrupt(self) -> None:
        self._deadline.hurry()

    async def _finish(self, ending: Ending, steps: tuple[Step, ...]) -> AsyncGenerator[Event, None]:
        for delta in self._words(ending):
            await self._ledger.sure()
            yield delta
        await self._end("cancelled" if ending == "cancelled" else "done", ending)
        usage = used(steps)
        yield self._trace(len(steps), usage)
        yield Done(ending, usage)

    async def _fail(self, message: str, whose: str) -> AsyncGenerator[Event, None]:
        """The room hears the ending; whoever asked gets the provider's own sentence."""
        try:
            for delta in self._words("failed"):
                await self._ledger.sure()
                yield delta
            await self._end("failed", None, reason=message)
        except LeaseLost:
            message, whose = _OVERTAKEN, "ours"
        yield Failed(message, "ours" if whose == "ours" else "provider")

    def _words(self, ending: str) -> list[Delta]:
        words = self._bot.endings.get(ending, "") if ending != "answered" else ""
        if not words:
            return []
        said = self._told.said.strip()
        # A sentence that was broken off is ended first, or the two would be spoken as one.
        joint = "" if not said else " " if said[-1] in ".!?…:;" else "… "
        return [Delta(joint + words)]

    async def _leave(self) -> None:
        """Whoever was listening has gone: the row says so. Where the process stops, another one goes on instead."""
        with suppress(LeaseLost):
            if self._giving_back:
                await self._release()
            else:
                await self._end("cancelled", "cancelled")

    async def _release(self) -> None:
        self._over = True
        await self._ledger.release()

    async def _end(self, state: State, ending: Ending | None, *, reason: str | None = None) -> None:
        self._over = True
        await self._ledger.end(state, ending, reason=reason)

    def _trace(self, steps: int, usage: Usage) -> Trace:
        told, now_s = self._told, self._clock()
        return Trace(
            run=self._held.id,
            bot=self._bot.slug,
            provider=told.chosen.provider,
            model=told.chosen.model,
            prompt_version=prompt.version(self._bot, self._house, self._offer),
            first_token_ms=None if told.first_s is None else (told.first_s - told.began_s) * 1000,
            total_ms=(now_s - told.began_s) * 1000,
            steps=steps,
            usage=usage,
            skipped=told.chosen.skipped,
            recorded=self._ledger.recorded,
        )
