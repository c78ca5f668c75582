"""One asking of the line, for one turn: what was asked, and what comes back.

Not the line, which says who is asked. It may be begun before anybody reads it: where an answer costs nothing, the model
reads the question while the run's row is being written, and a person waits for the longer of the two, not for both. The
rule: nothing of an answer is given before its run is a row (or known not to become one); what was begun and is not read
is closed.
"""

from __future__ import annotations

import asyncio

from agents_core import prompt
from agents_core.bots import Bot
from agents_core.events import Ask
from agents_core.loop import AskModel, Run, Step, decide
from agents_core.offer import Offer
from agents_core.providers.base import Chunk, Profile, Question
from agents_core.providers.line import Chosen, Line
from agents_core.recall import REMEMBERS
from agents_core.reckoning import lower
from agents_core.words import House

# So many turns of the loop take a question out on a kept connection: its own task, the task in which aiohttp writes its
# body, and the loop's own writing.
_TURNS = 3


def may_be_ahead(bot: Bot, ask: Ask) -> bool:
    """Whether the model may be asked before the run is a row: nothing can refuse the run any more, it does begin with
    the model, and nothing is looked up for the question first."""
    if bot.per or ask.script or bot.memory in REMEMBERS:
        return False
    return isinstance(decide(Run(lower(bot.ceilings, ask.ceilings), 0.0), (), 0.0), AskModel)


class Asking:
    """See `Line.ask`. Read it with `next`, and `aclose` it."""

    def __init__(
        self,
        line: Line,
        bot: Bot,
        house: House,
        ask: Ask,
        *,
        steps: tuple[Step, ...] = (),
        offer: Offer,
        remembered: tuple[str, ...] = (),
        hurried: bool = True,
        free: bool = False,
    ) -> None:
        self.offer = offer
        """What it was asked with."""
        self.chars = 0
        """How long the question was, as the provider that answers was asked it."""

        def make(of: Profile) -> Question:
            given = prompt.question(bot, house, ask, steps, of, offer, remembered)
            self.chars = sum(len(str(message["content"])) for message in given.messages)
            return given

        self._said = line.ask(make, script=bool(ask.script), model=bot.model, hurried=hurried, free=free)
        self._first: asyncio.Task[Chosen | Chunk | None] | None = None

    def begin(self) -> None:
        """Ask now, before the first `next`."""
        self._first = asyncio.create_task(self._read())

    async def off(self) -> None:
        """Let what was begun go out before anything else is done: what is done in the same moment is done before the
        loop writes, and the model begins that much later. It waits for nothing."""
        for _ in range(_TURNS):
            await asyncio.sleep(0)

    async def next(self) -> Chosen | Chunk | None:
        """The next of it, None at its end. Raises `ProviderFault`."""
        if self._first is None:
            return await self._read()
        first, self._first = self._first, None
        return await first

    async def aclose(self) -> None:
        """Stop the model, if it is not done. Safe to call twice."""
        if self._first is not None:
            self._first.cancel()
            await asyncio.gather(self._first, return_exceptions=True)
            self._first = None
        await self._said.aclose()

    async def _read(self) -> Chosen | Chunk | None:
        return await anext(self._said, None)
