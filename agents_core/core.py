"""The core: bots, the rows, and the line of providers, put together.

Knows nothing of HTTP, sound or pages. The one rule: `run_turn` is the only way to an answer that somebody listens to,
and its stream ends with exactly one `Done` or one `Failed`.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path

from agents_core import prompt
from agents_core.asking import Asking, may_be_ahead
from agents_core.audience import Held as Words
from agents_core.audience import may
from agents_core.beginning import Beginning
from agents_core.bots import Bot
from agents_core.desk import MIGRATIONS, RowsDesk, Site
from agents_core.embedding import Embedder
from agents_core.errors import AskRefused, Uncounted, UnknownBot
from agents_core.events import Ask, Done, Event, nothing_said
from agents_core.keeper import Keeper
from agents_core.library import Bots, FromFiles
from agents_core.means import Means
from agents_core.offer import Offer
from agents_core.owed import Owed
from agents_core.points import Reach, nothing
from agents_core.providers.base import Provider
from agents_core.providers.line import Line, OnBreaker, Patience
from agents_core.providers.local import LocalProvider
from agents_core.recall import Memories
from agents_core.reckoning import lower
from agents_core.remembering import Remembering
from agents_core.rows import MIGRATIONS as STORE_MIGRATIONS
from agents_core.store import Held, Record, Store
from agents_core.tally import Tally, tally
from agents_core.turn import Turn
from agents_core.unwritten import Unwritten
from agents_core.worker import Worker

# How long a stopping process waits for those who listen to hear that another one goes on.
_GIVING_BACK_S = 2.0
# A run that has ended so many processes ends no more of them. Giving it back in good order counts too.
MAX_ATTEMPTS = 20


def _new_id() -> str:
    return uuid.uuid4().hex


class Core:
    """Open it with `Core.open`, and close it."""

    def __init__(
        self,
        bots: Bots,
        means: Means,
        providers: Sequence[Provider],
        owner: str,
        people: Site,
        store: Store,
        memories: Memories,
        desk: RowsDesk,
        *,
        new_id: Callable[[], str],
    ) -> None:
        self.bots = bots
        self._means, self._store, self._keeper, self.memories = means, store, means.keeper, memories
        # The same without the database, for as long as it is away.
        self._unwritten = Unwritten(people, clock=means.clock)
        keeper = Keeper(self._unwritten, owner, clock=means.clock)
        self._without = replace(
            means, store=self._unwritten, keeper=keeper, desk=self._unwritten, memories=None, recorded=False
        )
        self._beginning = Beginning(store, means.owed, owner)
        self._providers, self._owner, self._people, self._new_id = tuple(providers), owner, people, new_id
        self.desk = desk
        self._remembering = Remembering(memories)
        # An answer that cannot cost anything keeps nobody's second question waiting.
        self._may_cost = any(each.profile.prompt_price or each.profile.completion_price for each in providers)
        self._buys = any(each.costs for each in providers)
        self._turns: set[Turn] = set()
        self._turn_ended = asyncio.Event()
        self._draining = False
        self.worker: Worker | None = None

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
        worker: bool = True,
        people: Site | None = None,
        embedder: Embedder | None = None,
        clock: Callable[[], float] = time.monotonic,
        new_id: Callable[[], str] = _new_id,
        reach: Reach = nothing,
        private_hosts: Collection[str] = (),
    ) -> Core:
        """Read the content, bring the tables up to date, and make ready.

        `live` lets providers that cost money be asked. `worker` finishes in the background what other processes left,
        and what was handed in. `people` says who somebody is (else the site's `people.toml`), `embedder` makes the
        vectors of bots that recall. `private_hosts` may be asked by tools although they are in the owner's own network.
        Raises `ContentRefused` where no bot can be served, `database.DatabaseError`
        where the database cannot be used.
        """
        bots = await asyncio.to_thread(Bots, content, clock=clock, private_hosts=frozenset(private_hosts))
        line = Line(providers, live=live, stand_in=bots.house.stand_in, patience=patience, clock=clock)
        store = Store(database_url, lease_s=lease_s, reach=reach)
        # Never used before: a process that comes back under an old name would keep its own dead runs alive.
        owner = new_id()
        keeper = Keeper(store, owner, clock=clock)
        known = people or FromFiles(bots)
        desk = RowsDesk(store.database, known)
        memories = Memories(store.database, embedder)

        async def mend() -> None:
            await store.database.bring_up(STORE_MIGRATIONS)
            await store.database.bring_up(MIGRATIONS)

        means = Means(store, keeper, line, desk, memories, clock, Owed(mend), reach)
        core = cls(bots, means, providers, owner, known, store, memories, desk, new_id=new_id)
        try:
            await store.open()
            await store.database.bring_up(MIGRATIONS)
        except BaseException:
            await store.close()
            raise
        if worker:
            core.worker = Worker(core.claim)
            core.worker.start()
        return core

    async def run_turn(self, ask: Ask) -> AsyncGenerator[Event, None]:
        """Answer `ask`. The run is a row, held by this process, before `Started` is given.

        Where the database is away the run is held in memory instead, and its trace says `recorded: False`: only
        providers that cost nothing are asked, no tool is offered that must not happen twice, nothing is remembered of
        it, no other process finishes it, `record` and `cancel` do not know it, and a bot with limits per person raises
        `Uncounted`. A database that goes away later lets the answer go on to its end, which is written when it is back.

        Closing the iterator cancels: the model's connection is closed and the row says `cancelled`. Raises
        `UnknownBot`, `AskRefused`, `OverLimit` or `Uncounted` before the first event.
        """
        bot, words = await self._admitted(ask)
        offer = self.bots.offer(bot, words)
        run, means = self._new_id(), self._means
        ahead = self._ahead(bot, ask, offer)
        try:
            if ahead is not None:
                await ahead.off()
                self._go_on()
            held = await self._beginning.row(run, self._begin(ask, bot, self._owner, run=run))
            if held is None:
                if bot.per:
                    raise Uncounted(bot.name)
                held, means = self._unwritten.begin(self._new_id(), ask, self._owner), self._without
                offer = offer.repeatable()
                if ahead is not None and not ahead.offer.is_repeatable:
                    # It was asked with tools that are not there without a row: it is asked anew, and not both at once.
                    await ahead.aclose()
                    ahead = None
            async with aclosing(self._turn(bot, held, means, offer, ahead=ahead)) as events:
                async for event in events:
                    yield event
        finally:
            if ahead is not None:
                await ahead.aclose()

    async def hand_in(self, ask: Ask) -> str:
        """Write a run down for whichever worker is free first; nobody listens, the answer is kept. Gives its id.

        Raises as `run_turn` does.
        """
        bot, _ = await self._admitted(ask)
        run = self._new_id()
        await self._begin(ask, bot, None, run=run)
        if self.worker:
            self.worker.nudge()
        return run

    async def cancel(self, run: str) -> bool:
        """Cancel a run, whoever holds it: at once where this process does, else at its next look. False where it is
        over already, and of one that is no row."""
        cancelled = await self._store.cancel(run)
        if cancelled:
            self._keeper.cancel(run)
        return cancelled

    async def record(self, run: str) -> Record | None:
        """What became of a run."""
        return await self._store.record(run)

    async def spent(self, person: str, bot: str) -> Mapping[str, int]:
        """What a person has spent and reserved with a bot, in millionths, in each window up to this moment."""
        return await self._store.spent(person, bot)

    @property
    def resting(self) -> dict[str, bool]:
        """Of each provider by name whether it is left alone at this moment, because it failed too often."""
        return self._means.line.resting

    def on_breaker(self, told: OnBreaker) -> None:
        """Tell `told` of each provider, by name, that failed too often (None), or answers again (seconds since)."""
        self._means.line.on_breaker = told

    async def tally(self, since_s: float) -> Mapping[str, Tally]:
        """What each bot's answers came to since then (Unix seconds)."""
        return await tally(self._store.database, since_s)

    @property
    def providers(self) -> tuple[Provider, ...]:
        """Who thinks, in order."""
        return self._providers

    async def warm(self) -> None:
        """Start what answers locally and let it read what is fixed of each spoken bot's prompt.

        It can be asked meanwhile. Two seconds and, on two cores, a third of a second for each exchange.
        """
        for provider in self._providers:
            if isinstance(provider, LocalProvider):
                spoken = [bot for bot in self.bots.values() if bot.voice]
                fixed = [prompt.fixed(bot, self.bots.house, provider.profile) for bot in spoken]
                await provider.warm([prefix for prefixes in fixed for prefix in prefixes])

    async def claim(self, budget_s: float | None) -> AsyncGenerator[Event, None] | None:
        """Take over a run that nobody holds, for at most about `budget_s`. None where there is none, or we stop.

        None too while a run of ours is without its end in the rows: it would be the one that is found.
        """
        if self._draining or self._means.owed.away or any(turn.adrift for turn in self._turns):
            return None
        held = await self._store.claim(self._owner)
        if held is None:
            return None
        bot = self.bots.get(held.ask.bot)
        if bot is None:
            await self._store.finish(held, "failed", reason=f"there is no bot {held.ask.bot!r} any more")
            return nothing_said()
        if held.attempt > MAX_ATTEMPTS:
            await self._store.finish(held, "failed", reason=f"{MAX_ATTEMPTS} processes began it and none ended it")
            return nothing_said()
        offer = self.bots.offer(bot, await self._people.held(held.ask.asker))
        return self._turn(bot, held, self._means, offer, budget_s, listened=False)

    async def sweep(self) -> int:
        """Finish, one after the other, every run that nobody holds. Returns how many."""
        finished = 0
        while (events := await self.claim(None)) is not None:
            async with aclosing(events):
                async for _ in events:
                    pass
            finished += 1
        return finished

    async def close(self) -> None:
        """Claim nothing more, give back what is unfinished, end the local model, close the database."""
        self._draining = True
        if self.worker:
            await self.worker.drain()
        for turn in tuple(self._turns):
            turn.give_back()
        with suppress(TimeoutError):
            # Whoever listens takes the last event; one who does not is not waited for, and the lease runs out.
            async with asyncio.timeout(_GIVING_BACK_S):
                while self._turns:
                    self._turn_ended.clear()
                    await self._turn_ended.wait()
        if self.worker:
            await self.worker.close()
        await self._remembering.close()
        await self._beginning.close()
        await self._means.owed.close()
        await self._keeper.close()
        await self._without.keeper.close()
        await self._means.line.close()
        await self._store.close()

    async def _admitted(self, ask: Ask) -> tuple[Bot, Words]:
        """The bot that answers, and the words that the asker holds. They are asked for once, and before there is a row:
        a site that cannot say who somebody is leaves none behind."""
        await self.bots.fresh()
        bot = self.bots.get(ask.bot)
        if bot is None:
            raise UnknownBot(f"there is no bot {ask.bot!r}")
        if ask.surface not in bot.surfaces:
            raise AskRefused(f"{bot.name} is not on the surface {ask.surface!r}")
        words = await self._people.held(ask.asker)
        if not may(bot.audience, words):
            whom = "people who have signed in" if "authenticated" in bot.audience else "other people"
            raise AskRefused(f"{bot.name} answers {whom}")
        if not may(bot.serves, words if ask.subject == ask.asker else await self._people.held(ask.subject)):
            raise AskRefused(f"{bot.name} is not to be asked about this person")
        self._go_on()
        return bot, words

    def _go_on(self) -> None:
        """Raises `AskRefused` where this process begins nothing more."""
        if self._draining:
            raise AskRefused("the server is stopping; ask again in a moment")

    async def _begin(self, ask: Ask, bot: Bot, owner: str | None, *, run: str) -> Held | None:
        """Write the run down, with what it may cost reserved."""
        wanted = lower(bot.ceilings, ask.ceilings).spend if self._may_cost and not ask.script else 0
        return await self._store.begin(run, ask, owner, per=bot.per, wanted=wanted)

    def _ahead(self, bot: Bot, ask: Ask, offer: Offer) -> Asking | None:
        """The run's first asking, begun before its row is written, where that may be."""
        if self._buys or self._means.owed.away or not may_be_ahead(bot, ask):
            return None
        asking = Asking(self._means.line, bot, self.bots.house, ask, offer=offer)
        asking.begin()
        return asking

    async def _turn(
        self,
        bot: Bot,
        held: Held,
        means: Means,
        offer: Offer,
        budget_s: float | None = None,
        *,
        listened: bool = True,
        ahead: Asking | None = None,
    ) -> AsyncGenerator[Event, None]:
        turn = Turn(means, bot, self.bots.house, held, offer=offer, budget_s=budget_s, listened=listened, ahead=ahead)
        self._turns.add(turn)
        try:
            async with aclosing(turn.events()) as events:
                async for event in events:
                    if isinstance(event, Done) and event.ending == "answered" and means.recorded:
                        self._remembering.keep(bot, held.ask, held.id)
                    yield event
        finally:
            self._turns.discard(turn)
            self._turn_ended.set()
