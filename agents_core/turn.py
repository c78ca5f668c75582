"""The acting: one held run, taken step by step to its end.

Not the deciding: `loop.decide` says what is next, and this carries it out. The rules: what happened is a row before the
next thing begins; the stream ends with exactly one `Done` or `Failed`; whoever lost the lease writes nothing more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace

from agents_core import prompt
from agents_core.bots import Bot
from agents_core.compile import House
from agents_core.errors import LeaseLost, ProviderFault
from agents_core.events import Ceilings, Delta, Done, Ending, Event, Failed, Started, Trace, Usage
from agents_core.loop import AskModel, Call, CallTool, Finish, Run, Step, decide
from agents_core.providers.base import Profile, Question, Whole, Words
from agents_core.providers.line import Chosen, Line
from agents_core.store import Held, State, Store

# A provider that reports no usage is counted by its characters: English runs at about four to a token.
_CHARS_PER_TOKEN = 4
_OVERTAKEN = "another process took this answer over; ask again"


@dataclass(slots=True)
class _Told:
    """What the trace will say."""

    began_s: float
    first_s: float | None = None
    provider: str = ""
    model: str = ""
    skipped: tuple[str, ...] = ()
    said: str = ""


class Turn:
    """One held run. `events` may be read once; closing it early cancels the run."""

    def __init__(
        self, store: Store, line: Line, bot: Bot, house: House, held: Held, *, clock: Callable[[], float]
    ) -> None:
        self._store, self._line, self._bot, self._house, self._held = store, line, bot, house, held
        self._clock = clock
        self._run = Run(lower(bot.ceilings, held.ask.ceilings), held.began_s, held.cancelled)
        # The database's seconds, carried on by our own clock: two machines' clocks are never compared.
        self._offset_s = held.now_s - clock()
        self._told = _Told(clock())
        self._over = False
        self._lost = False

    async def events(self) -> AsyncGenerator[Event, None]:
        """The run's events from where its rows stand."""
        beat = asyncio.create_task(self._hold_on())
        try:
            # Within the `try`: a listener who leaves on the first event leaves a cancelled row too.
            yield Started(self._held.id)
            async with aclosing(self._drive()) as driven:
                async for event in driven:
                    yield event
        except LeaseLost:
            self._over = True
            yield Failed(_OVERTAKEN, "ours")
        except ProviderFault as fault:
            async for event in self._fail(str(fault), "ours" if fault.verdict.whose == "ours" else "provider"):
                yield event
        finally:
            beat.cancel()
            with suppress(asyncio.CancelledError):
                await beat
            if not self._over:
                # Whoever was listening has gone. The row says so, and the model is closed with its stream.
                await self._end("cancelled", "cancelled")

    async def _drive(self) -> AsyncGenerator[Event, None]:
        # The first holder of a run finds no steps; whoever takes it over goes on from what is written.
        steps = await self._store.steps(self._held.id) if self._held.fence > 1 else ()
        written = len(steps)
        while True:
            decision = decide(self._run, steps, self._clock() + self._offset_s)
            if isinstance(decision, Finish):
                async for event in self._finish(decision.ending, steps, steps[-1] if written < len(steps) else None):
                    yield event
                return
            if written < len(steps):
                if await self._store.renew(self._held, steps[-1]):
                    self._run = replace(self._run, cancelled=True)
                written = len(steps)
                continue
            match decision:
                case CallTool(call):
                    step = _no_such_tool(len(steps), call)
                case AskModel():
                    step = Step(len(steps), "model")
                    async with aclosing(self._ask(steps)) as asked:
                        async for said in asked:
                            if isinstance(said, Step):
                                step = said
                            else:
                                yield said
            steps = (*steps, step)

    async def _ask(self, steps: tuple[Step, ...]) -> AsyncGenerator[Delta | Step, None]:
        """Ask the line once: its words as they come, then the step to write down."""
        ask, told = self._held.ask, self._told
        text, asked, profile = "", 0, Profile()

        def make(of: Profile) -> Question:
            nonlocal asked
            given = prompt.question(self._bot, self._house, ask, steps, of)
            asked = sum(len(str(message["content"])) for message in given.messages)
            return given

        whole = Whole()
        async with aclosing(self._line.ask(make, script=bool(ask.script), model=self._bot.model)) as said:
            async for chunk in said:
                if self._lost:
                    raise LeaseLost(f"run {self._held.id} is held by another process")
                if isinstance(chunk, Chosen):
                    told.provider, told.model, told.skipped = chunk.provider, chunk.model, chunk.skipped
                    profile = chunk.profile
                elif isinstance(chunk, Words):
                    if told.first_s is None:
                        told.first_s = self._clock()
                    text += chunk.text
                    told.said += chunk.text
                    yield Delta(chunk.text)
                    if self._run.cancelled:
                        break
                else:
                    whole = chunk
        usage = whole.usage or Usage(asked // _CHARS_PER_TOKEN, len(text) // _CHARS_PER_TOKEN, estimated=True)
        yield Step(
            len(steps),
            "model",
            text=text,
            calls=whole.calls,
            provider=told.provider,
            model=whole.model or told.model,
            spent=cost(usage, profile),
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            estimated=usage.estimated,
            skipped=told.skipped,
        )

    async def _finish(
        self, ending: Ending, steps: tuple[Step, ...], unwritten: Step | None
    ) -> AsyncGenerator[Event, None]:
        for delta in self._words(ending):
            yield delta
        await self._end("cancelled" if ending == "cancelled" else "done", ending, step=unwritten)
        usage = _usage(steps)
        yield self._trace(len(steps), usage)
        yield Done(ending, usage)

    async def _fail(self, message: str, whose: str) -> AsyncGenerator[Event, None]:
        """The room hears the ending; whoever asked gets the provider's own sentence."""
        for delta in self._words("failed"):
            yield delta
        try:
            await self._end("failed", None, reason=message)
        except LeaseLost:
            message, whose = _OVERTAKEN, "ours"
        yield Failed(message, "ours" if whose == "ours" else "provider")

    def _words(self, ending: str) -> list[Delta]:
        words = self._bot.endings.get(ending, "") if ending != "answered" else ""
        if not words:
            return []
        return [Delta(f" {words}" if self._told.said.strip() else words)]

    async def _end(
        self, state: State, ending: Ending | None, *, reason: str | None = None, step: Step | None = None
    ) -> None:
        """Write the end, whatever happens to whoever is waiting for it."""
        self._over = True
        finish = self._store.finish(self._held, state, ending=ending, answer=self._told.said, reason=reason, step=step)
        writing = asyncio.ensure_future(finish)
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            with suppress(LeaseLost):
                await writing
            raise
        except LeaseLost:
            if state != "cancelled":
                raise

    async def _hold_on(self) -> None:
        """Renew every third of the lease, and notice a cancel or a loss."""
        while True:
            await asyncio.sleep(self._store.lease_s / 3)
            try:
                if await self._store.renew(self._held):
                    self._run = replace(self._run, cancelled=True)
            except LeaseLost:
                self._lost = True
                return

    def _trace(self, steps: int, usage: Usage) -> Trace:
        told, now_s = self._told, self._clock()
        return Trace(
            run=self._held.id,
            bot=self._bot.slug,
            provider=told.provider,
            model=told.model,
            prompt_version=prompt.version(self._bot, self._house),
            first_token_ms=None if told.first_s is None else (told.first_s - told.began_s) * 1000,
            total_ms=(now_s - told.began_s) * 1000,
            steps=steps,
            usage=usage,
            skipped=told.skipped,
        )


def lower(bot: Ceilings, grant: Ceilings) -> Ceilings:
    """The smaller of the bot's own ceilings and the grant's, each by itself."""
    return Ceilings(min(bot.steps, grant.steps), min(bot.spend, grant.spend), min(bot.minutes, grant.minutes))


def cost(usage: Usage, profile: Profile) -> int:
    """What `usage` cost, in millionths, rounded up: against what answered, not what was asked for."""
    thousandths = usage.prompt_tokens * profile.prompt_price + usage.completion_tokens * profile.completion_price
    return -(-thousandths // 1000)


def _usage(steps: tuple[Step, ...]) -> Usage:
    return Usage(
        sum(step.prompt_tokens for step in steps),
        sum(step.completion_tokens for step in steps),
        any(step.estimated for step in steps),
    )


def _no_such_tool(n: int, call: Call) -> Step:
    """A bad call is an error for the model to read. No tool is offered, so every call is one."""
    return Step(n, "tool", text=f"error: there is no tool named {call.name!r}; answer without it", call_id=call.id)
