"""Runs without the database: held in the memory of this process while nothing can be written down.

Not a second store: no run outlives the process, no other process finishes one, and none can be cancelled by its id;
whoever listens ends it by leaving. The one rule: nothing is done here that only a row makes safe. So there is no money
(it could not be counted), no limit per person (the same), and no tool that must not happen twice (it could not be
written down first).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from agents_core.desk import Known
from agents_core.events import Ask
from agents_core.loop import Step
from agents_core.store import Held


class Unwritten:
    """The runs of this process that are no rows, with `runs.Runs`' verbs; and the desk of their tools."""

    # Nobody else can take one over, so the holder is always sure of it.
    lease_s = math.inf

    def __init__(self, known: Known, *, clock: Callable[[], float]) -> None:
        self._known, self._clock = known, clock
        self._asks: dict[str, Ask] = {}

    def begin(self, run: str, ask: Ask, owner: str) -> Held:
        """Hold a run. Its times are this process's seconds."""
        self._asks[run] = ask
        now_s = self._clock()
        return Held(run, ask, owner, 1, False, now_s, now_s, reserved=False)

    async def renew(self, held: Held, step: Step | None = None) -> bool:
        """The turn itself knows its steps, and nobody can have cancelled."""
        return False

    async def close_step(self, held: Held, step: Step) -> bool:
        """As `renew`."""
        return False

    async def finish(self, held: Held, *_state: object, **_what: object) -> None:
        """Nothing is kept of it."""
        self._asks.pop(held.id, None)

    async def release(self, held: Held) -> None:
        """There is nobody to give it to: it ends here."""
        self._asks.pop(held.id, None)

    async def steps(self, run: str) -> tuple[Step, ...]:
        """Nothing can be gone on from."""
        return ()

    async def renew_all(self, owner: str, runs: Collection[str]) -> dict[str, tuple[int, bool]]:
        """All of them are held, and none is cancelled."""
        return dict.fromkeys(runs, (1, False))

    async def watch(self, owner: str, runs: Collection[str]) -> dict[str, tuple[int, bool]]:
        """The same."""
        return dict.fromkeys(runs, (1, False))

    async def about(self, run: str) -> Mapping[str, Any] | None:
        """See `tools.Desk.about`: whom a run is about stands on its ask here."""
        ask = self._asks.get(run)
        return await self._known.about(ask.subject) if ask and ask.subject else None

    async def raise_ticket(self, run: str, call: str, title: str, text: str) -> str:
        """Raises: a ticket that nobody can write down is none."""
        raise RuntimeError("no ticket can be written at the moment")
