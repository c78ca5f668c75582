"""Where a turn keeps what happened: the few verbs that it and its keeper need.

Not the statements (`store`) and not the memory (`unwritten`), which both do as this says. The one rule: every write
carries the holder's token, and one that is not the holder's to make raises `LeaseLost`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from sqlalchemy.exc import DatabaseError as RefusedByDatabase

from agents_core.events import Ending
from agents_core.loop import Step
from agents_core.store import Held, State
from database import DatabaseError, is_away


class Runs(Protocol):
    """See `Store`, which does each of these as one transaction."""

    lease_s: float

    async def renew(self, held: Held, step: Step | None = None) -> bool: ...
    async def close_step(self, held: Held, step: Step) -> bool: ...
    async def finish(
        self,
        held: Held,
        state: State,
        *,
        ending: Ending | None = None,
        answer: str = "",
        reason: str | None = None,
        steps: tuple[Step, ...] = (),
        late: bool = False,
        spent: int = 0,
    ) -> None: ...
    async def release(self, held: Held) -> None: ...
    async def steps(self, run: str) -> tuple[Step, ...]: ...
    async def renew_all(self, owner: str, runs: Collection[str]) -> dict[str, tuple[int, bool]]: ...
    async def watch(self, owner: str, runs: Collection[str]) -> dict[str, tuple[int, bool]]: ...


def out_of_reach(fault: BaseException) -> bool:
    """Whether a conversation is to go on without the database after `fault`.

    More than `database.is_away`: a file that was removed is made again empty, and then it is the tables that are
    missing.
    """
    return is_away(fault) or isinstance(fault, DatabaseError) or _no_table(fault)


def _no_table(fault: BaseException) -> bool:
    if not isinstance(fault, RefusedByDatabase):
        return False
    # PostgreSQL's undefined_table; SQLite has no code of its own for it.
    return getattr(fault.orig, "sqlstate", None) == "42P01" or "no such table" in str(fault.orig)
