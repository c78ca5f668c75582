"""Holding on: one task a process keeps every lease that the process holds, and notices what others did to its runs.

Not the turns, which it only tells. The one rule: a holder is sure of its run only as long as its last renewal is
younger than the lease by its own clock; a process that was frozen, or whose database is away, is sure of nothing.

One statement a beat renews all, however many conversations there are, and between two beats one that only reads looks
for cancels. Ten runs or five hundred cost the database the same number of transactions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from agents_core.errors import LeaseLost
from agents_core.runs import Runs, out_of_reach
from agents_core.store import Held

# How often a cancel from another process is looked for. It ends an answer that nobody wants; a person who talks over
# one is heard by the process that speaks it, and waits for none of this.
WATCH_S = 0.5
_LEAST_S = 0.01


class Grip:
    """One held run. `told` is called when it is cancelled or lost; both stay so.

    A `patient` one is lost only where the rows say so, and not already where nobody can be asked.
    """

    def __init__(self, keeper: Keeper, held: Held, told: Callable[[], None], *, patient: bool = False) -> None:
        self.held, self.patient = held, patient
        self.cancelled, self.lost = held.cancelled, False
        self._keeper, self._told = keeper, told
        self._renewed_s = keeper.clock()

    def confirmed(self, asked_s: float) -> None:
        """The database said that the run was ours, when it was asked at `asked_s`."""
        self._renewed_s = asked_s

    def is_sure(self) -> bool:
        """Whether nobody else can have taken it."""
        return not self.lost and self._keeper.clock() - self._renewed_s < self._keeper.lease_s

    async def make_sure(self) -> None:
        """Ask the database where we are not sure. Raises `LeaseLost`; a patient one may be no surer afterwards."""
        if not self.lost and not self.is_sure():
            await self._keeper.renew()
        if self.lost:
            raise LeaseLost(f"run {self.held.id} is held by another process")

    def change(self, *, cancelled: bool = False, lost: bool = False) -> None:
        """Note what happened to the run, and tell whoever takes its steps."""
        if (cancelled and not self.cancelled) or (lost and not self.lost):
            self.cancelled, self.lost = self.cancelled or cancelled, self.lost or lost
            self._told()


class Keeper:
    """The grips of one process, whose name is `owner`."""

    def __init__(self, store: Runs, owner: str, *, clock: Callable[[], float], watch_s: float = WATCH_S) -> None:
        self.lease_s = store.lease_s
        self.clock = clock
        self._store, self._owner, self._watch_s = store, owner, watch_s
        self._grips: dict[str, Grip] = {}
        self._beat: asyncio.Task[None] | None = None

    def hold(self, held: Held, told: Callable[[], None], *, patient: bool = False) -> Grip:
        """Keep the lease of `held` until `let_go`."""
        grip = self._grips[held.id] = Grip(self, held, told, patient=patient)
        if self._beat is None or self._beat.done():
            self._beat = asyncio.create_task(self._keep())
        return grip

    def let_go(self, grip: Grip) -> None:
        """The run is over, or somebody else's."""
        if self._grips.get(grip.held.id) is grip:
            del self._grips[grip.held.id]

    def cancel(self, run: str) -> None:
        """Where the run is held here, tell it at once instead of at the next look."""
        if grip := self._grips.get(run):
            grip.change(cancelled=True)

    async def renew(self) -> None:
        """Renew every lease held here."""
        await self._see(renew=True)

    async def close(self) -> None:
        """Hold nothing more."""
        self._grips.clear()
        if self._beat:
            self._beat.cancel()
            with suppress(asyncio.CancelledError):
                await self._beat

    async def _keep(self) -> None:
        """Ends by itself where nothing is held: an idle process asks the database for nothing."""
        renew_every_s = self.lease_s / 3
        renewed_s = self.clock()
        while self._grips:
            await asyncio.sleep(max(_LEAST_S, min(self._watch_s, renew_every_s)))
            due = self.clock() - renewed_s >= renew_every_s
            if due:
                renewed_s = self.clock()
            if self._grips:
                await self._see(renew=due)

    async def _see(self, *, renew: bool) -> None:
        """What the rows say of each run. A database that is away is asked again at the next beat."""
        asked_s = self.clock()
        grips = dict(self._grips)
        look = self._store.renew_all if renew else self._store.watch
        try:
            seen = await look(self._owner, grips)
        except Exception as fault:
            if not out_of_reach(fault):
                raise
            seen = None
        for run, grip in grips.items():
            if self._grips.get(run) is not grip:
                continue  # it ended meanwhile, and its row is nobody's
            fence, cancelled = seen.get(run, (-1, False)) if seen is not None else (grip.held.fence, False)
            unsure = seen is None and not grip.patient and not grip.is_sure()
            if fence != grip.held.fence or unsure:
                grip.change(lost=True)
            elif renew and seen is not None:
                grip.confirmed(asked_s)
            if cancelled:
                grip.change(cancelled=True)
