"""The core: bots, the rows, and the line of providers, put together.

Knows nothing of HTTP, sound or pages. The one rule: `run_turn` is the only way to an answer, and its stream ends with
exactly one `Done` or one `Failed`.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path

from agents_core import prompt
from agents_core.errors import AskRefused, UnknownBot
from agents_core.events import Ask, Event
from agents_core.library import Bots
from agents_core.providers.base import Provider
from agents_core.providers.line import Line, Patience
from agents_core.providers.local import LocalProvider
from agents_core.store import Held, Record, Store
from agents_core.turn import Turn

# How often runs are looked for whose process died. Nothing waits for them but their record.
SWEEP_S = 30.0


def _new_id() -> str:
    return uuid.uuid4().hex


class Core:
    """Open it with `Core.open`, and close it."""

    def __init__(
        self,
        bots: Bots,
        store: Store,
        line: Line,
        providers: Sequence[Provider],
        *,
        clock: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self.bots = bots
        self._store, self._line, self._providers = store, line, tuple(providers)
        self._clock, self._new_id = clock, new_id
        # Never used before: a process that comes back under an old name would keep its own dead runs alive.
        self._owner = new_id()
        self._draining = False
        self._sweeping: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        *,
        content: Path,
        database_url: str,
        providers: Sequence[Provider] = (),
        live: bool = False,
        patience: Patience | None = None,
        lease_s: float = 15.0,
        sweep_s: float = SWEEP_S,
        clock: Callable[[], float] = time.monotonic,
        new_id: Callable[[], str] = _new_id,
    ) -> Core:
        """Read the content and make ready. `live` lets providers that cost money be asked; `sweep_s` 0 sweeps nothing.

        Raises `ContentRefused` where no bot can be served. Nothing is started or connected to before it is needed.
        """
        bots = await asyncio.to_thread(Bots, content, clock=clock)
        line = Line(providers, live=live, stand_in=bots.house.stand_in, patience=patience, clock=clock)
        core = cls(bots, Store(database_url, lease_s=lease_s), line, providers, clock=clock, new_id=new_id)
        if sweep_s > 0:
            core._sweeping = asyncio.create_task(core._keep_sweeping(sweep_s))
        return core

    async def run_turn(self, ask: Ask) -> AsyncGenerator[Event, None]:
        """Answer `ask`. The run is a row, held by this process, before `Started` is given.

        Closing the iterator cancels: the model's connection is closed and the row says `cancelled`. Raises
        `UnknownBot` or `AskRefused` before the first event.
        """
        await self.bots.fresh()
        bot = self.bots.get(ask.bot)
        if bot is None:
            raise UnknownBot(f"there is no bot {ask.bot!r}")
        if ask.surface not in bot.surfaces:
            raise AskRefused(f"{bot.name} is not on the surface {ask.surface!r}")
        if "anyone" not in bot.audience and not ask.asker:
            raise AskRefused(f"{bot.name} answers people who have signed in")
        if self._draining:
            raise AskRefused("the server is stopping; ask again in a moment")
        held = await self._store.begin(self._new_id(), ask, self._owner)
        assert held is not None  # noqa: S101  (an owner was given)
        async with aclosing(self._turn(held)) as events:
            async for event in events:
                yield event

    async def cancel(self, run: str) -> bool:
        """Cancel a run, whoever holds it. False where it is over already."""
        return await self._store.cancel(run)

    async def record(self, run: str) -> Record | None:
        """What became of a run."""
        return await self._store.record(run)

    async def warm(self) -> None:
        """Start what answers locally and let it read what is fixed of each spoken bot's prompt.

        It can be asked meanwhile. Two seconds and, on two cores, a fifth of a second for each exchange.
        """
        for provider in self._providers:
            if isinstance(provider, LocalProvider):
                spoken = [bot for bot in self.bots.values() if bot.voice]
                fixed = [prompt.fixed(bot, self.bots.house, provider.profile) for bot in spoken]
                await provider.warm([prefix for prefixes in fixed for prefix in prefixes])

    async def sweep(self) -> int:
        """Finish every run whose holder fell silent. Nobody is listening; the answer is kept. Returns how many."""
        finished = 0
        while not self._draining and (held := await self._store.claim(self._owner)):
            async with aclosing(self._turn(held)) as events:
                async for _ in events:
                    pass
            finished += 1
        return finished

    async def close(self) -> None:
        """Claim nothing more, end the local model, close the database."""
        self._draining = True
        if self._sweeping:
            self._sweeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._sweeping
        await self._line.close()
        await self._store.close()

    def _turn(self, held: Held) -> AsyncGenerator[Event, None]:
        bot = self.bots[held.ask.bot]
        return Turn(self._store, self._line, bot, self.bots.house, held, clock=self._clock).events()

    async def _keep_sweeping(self, every_s: float) -> None:
        while True:
            await asyncio.sleep(every_s)
            await self.sweep()
