"""What every turn of one process is taken with. Values only; the turn uses them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agents_core.keeper import Keeper
from agents_core.owed import Owed
from agents_core.points import Reach, nothing
from agents_core.providers.line import Line
from agents_core.recall import Memories
from agents_core.runs import Runs
from agents_core.tools import Desk


@dataclass(frozen=True, slots=True)
class Means:
    """`store` with its `keeper`; `memories` is None, and `recorded` False, where the runs are in memory alone."""

    store: Runs
    keeper: Keeper
    line: Line
    desk: Desk
    memories: Memories | None
    clock: Callable[[], float]
    owed: Owed
    reach: Reach = nothing
    recorded: bool = True
