"""How busy the machine was with anything else while something was measured.

It looks at the kernel's counters, before and after; it quiets nothing. The one rule: a result that a busy machine
spoilt is written all the same, and says so in words.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from types import TracebackType

import psutil

# More of the machine than this in other hands, and a figure is not quoted: on two cores it is a fifth of one.
QUIET_PERCENT = 10.0
_IDLE = ("idle", "iowait")
# Linux counts these in `user` and `nice` as well.
_COUNTED = ("guest", "guest_nice")


@dataclass(frozen=True, slots=True)
class Spent:
    """Core-seconds: what all cores did, and what this process and its children did of it."""

    all_s: float
    busy_s: float
    own_s: float


def spent() -> Spent:
    """The counters at this moment."""
    times = psutil.cpu_times()._asdict()
    all_s = sum(seconds for name, seconds in times.items() if name not in _COUNTED)
    return Spent(all_s, all_s - sum(times.get(name, 0.0) for name in _IDLE), _own_s())


def foreign_percent(before: Spent, after: Spent) -> float | None:
    """The share of all cores that others used between two moments, in percent; None where no time went by.

    What a hypervisor took away counts as others'.
    """
    whole = after.all_s - before.all_s
    if whole <= 0:
        return None
    foreign = (after.busy_s - before.busy_s) - (after.own_s - before.own_s)
    return round(min(100.0, max(0.0, 100 * foreign / whole)), 1)


def verdict(foreign: float | None) -> str:
    """Whether figures may be quoted, in words."""
    if foreign is None:
        return "Not to be quoted: it was over before the machine could be looked at."
    if foreign > QUIET_PERCENT:
        return (
            f"Not to be quoted: others used {foreign:g} % of this machine meanwhile, and over {QUIET_PERCENT:g} % a "
            "time says more about them. Ratios inside this run hold; measure again when it is quiet."
        )
    return f"Quiet: others used {foreign:g} % of this machine meanwhile."


class Watch:
    """Watches the block it is around: `foreign` is there when it has ended."""

    def __init__(self) -> None:
        self.foreign: float | None = None
        self._before: Spent | None = None

    def __enter__(self) -> Watch:
        self._before = spent()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            self.foreign = foreign_percent(self._before, spent())


def _own_s() -> float:
    """This process's seconds, its children's, and those of children that have ended."""
    here = psutil.Process(os.getpid())
    total = 0.0
    for process in (here, *here.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.Error:  # it has ended meanwhile, and is counted with its parent's children
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total
