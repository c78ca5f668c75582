"""What happened in one run, and how much of it is in the rows.

Not the acting, which is the turn's. The one rule: it is in the rows before the next thing begins. Where the database
goes away under a run that somebody listens to (it is *adrift*), what happened is written in one piece with the end
instead, when the database is back, if the run is still ours then.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from agents_core.events import Ending
from agents_core.foreign import letters
from agents_core.keeper import Grip
from agents_core.loop import Step
from agents_core.means import Means
from agents_core.runs import out_of_reach
from agents_core.store import Held, State

_log = logging.getLogger(__name__)


class Ledger:
    """The steps of a run that `grip` holds. `unwritten` is the last one, while it is in no row yet."""

    def __init__(self, means: Means, held: Held, grip: Grip, *, listened: bool) -> None:
        self._store, self._owed, self._clock, self._reach = means.store, means.owed, means.clock, means.reach
        self._held, self._grip, self._listened = held, grip, listened
        self.steps: tuple[Step, ...] = ()
        self.unwritten: Step | None = None
        self.recorded, self.adrift = means.recorded, False
        # The first step that is in no row, once adrift.
        self._missing_n = 0

    @property
    def known(self) -> tuple[Step, ...]:
        """Everything that happened, written or not."""
        return self.steps if self.unwritten is None else (*self.steps, self.unwritten)

    async def read(self) -> None:
        """Begin with what others wrote."""
        self.steps = await self._store.steps(self._held.id)

    async def write(self, step: Step) -> None:
        """Write a step, in the transaction that renews. It is written even where whoever listens leaves meanwhile."""
        steps = (*self.steps, step)
        if self.adrift:
            self.steps, self.unwritten = steps, None
        else:
            await self._written(asyncio.ensure_future(self._store.renew(self._held, step)), steps)

    async def close(self, step: Step) -> None:
        """Write the answer of a call into the row that says it was begun."""
        steps = (*self.steps[: step.n], step)
        if self.adrift:
            self.steps, self.unwritten, self._missing_n = steps, None, min(self._missing_n, step.n)
        else:
            await self._written(asyncio.ensure_future(self._store.close_step(self._held, step)), steps)

    async def sure(self) -> None:
        """That the run is ours, as far as anybody can be asked. Raises `LeaseLost`."""
        if self._grip.lost or not (self.adrift or self._grip.is_sure()):
            await self._grip.make_sure()
            if not self._grip.is_sure():
                self._set_adrift(len(self.steps))

    def go_adrift(self, fault: Exception) -> None:
        """Go on without the database. Raises `fault` where it is another one, or nobody listens."""
        self._go_adrift(fault, len(self.steps))

    async def release(self) -> None:
        """Give the run back as its rows stand. Where they cannot be reached, its lease runs out."""
        try:
            await self._store.release(self._held)
        except Exception as fault:
            self.go_adrift(fault)

    async def end(self, state: State, ending: Ending | None, *, reason: str | None = None) -> None:
        """Write the end with what is not written yet, whatever happens to whoever is waiting for it.

        Where somebody listened and the database is away it is owed instead: the answer was given.
        """
        steps = self.known
        finish = partial(
            self._store.finish,
            self._held,
            state,
            ending=ending,
            answer=letters("".join(step.text for step in steps if step.kind == "model")),
            reason=reason,
            spent=sum(step.spent for step in steps),
        )
        if not self.adrift:
            try:
                await finish(steps=() if self.unwritten is None else (self.unwritten,))
                return
            except Exception as fault:
                self.go_adrift(fault)
        self._owed.add(partial(finish, steps=steps[self._missing_n :], late=True))

    async def _written(self, writing: asyncio.Future[bool], steps: tuple[Step, ...]) -> None:
        asked_s = self._clock()
        try:
            cancelled = await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait({writing})
            if not writing.cancelled() and writing.exception() is None:
                self.steps, self.unwritten = steps, None
            raise
        except Exception as fault:
            self._go_adrift(fault, steps[-1].n)
            self.steps, self.unwritten = steps, None
            return
        self.steps, self.unwritten = steps, None
        self._grip.confirmed(asked_s)
        self._grip.change(cancelled=cancelled)
        self._reach("step_written")

    def _go_adrift(self, fault: Exception, n: int) -> None:
        if not (self._listened and out_of_reach(fault)):
            raise fault
        self._set_adrift(n)

    def _set_adrift(self, n: int) -> None:
        if not self.adrift:
            _log.warning("the database went away; run %s goes on to its end unwritten", self._held.id)
            self.recorded, self.adrift, self._missing_n = False, True, n
