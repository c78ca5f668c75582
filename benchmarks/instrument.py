"""The instrument: what every benchmark is run with, and the one head that every result has.

It measures nothing itself. The one rule: no figure leaves without the machine, the models and how busy it was at its
head, and a result that a busy machine spoilt says so.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from benchmarks.noise import QUIET_PERCENT, Watch, verdict

# What stands first in every result, in this order.
HEAD = (
    "bench",
    "at",
    "machine",
    "threads",
    "models",
    "sums",
    "versions",
    "load_1min",
    "foreign_cpu_percent",
    "quotable",
    "verdict",
    "repeats",
    "quick",
    "took_s",
)


def run(measure: Callable[[], dict[str, Any]], *, repeats: int = 1, quick: bool = False) -> dict[str, Any]:
    """Measure once, and give the result with its head. `repeats` is how often `measure` repeats itself inside."""
    at, began_s = datetime.now(UTC), time.monotonic()
    with Watch() as watch:
        found = measure()
    told = {
        "at": at.isoformat(timespec="seconds"),
        "foreign_cpu_percent": watch.foreign,
        "quotable": watch.foreign is not None and watch.foreign <= QUIET_PERCENT,
        "verdict": verdict(watch.foreign),
        "repeats": repeats,
        "quick": quick,
        "took_s": round(time.monotonic() - began_s, 1),
    }
    whole = {**found, **told}
    return {name: whole[name] for name in HEAD if name in whole} | {
        name: value for name, value in whole.items() if name not in HEAD
    }


def rounds(measure: Callable[[], dict[str, Any]], repeats: int) -> dict[str, Any]:
    """For a benchmark that does not repeat itself: every figure is the median of `repeats` rounds.

    `between_rounds` holds, with more than one, the least and the most of each.
    """
    measured = [measure() for _ in range(repeats)]
    if repeats == 1:
        return measured[0]
    merged: dict[str, Any] = _median(measured)
    return {**merged, "between_rounds": _between(measured)}


def _median(values: Sequence[Any]) -> Any:
    first = values[0]
    if isinstance(first, Mapping):
        return {name: _median([value[name] for value in values]) for name in first if all(name in v for v in values)}
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return round(statistics.median(values), 4)
    return first


def _between(values: Sequence[Any]) -> Any:
    first = values[0]
    if isinstance(first, Mapping):
        parts = {name: _between([value[name] for value in values]) for name in first if all(name in v for v in values)}
        return {name: part for name, part in parts.items() if part not in ({}, None)}
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return [min(values), max(values)]
    return None


def footer(result: Mapping[str, Any]) -> str:
    """The last lines of every table: the machine, the moment, and whether it may be quoted."""
    machine = result["machine"]
    rounds_ = f", {result['repeats']} rounds" if result["repeats"] > 1 else ""
    return (
        f"{machine['processor']}, {machine['cores']} cores, {result['threads']} threads an engine, {result['at'][:10]}"
        f"{rounds_}, {result['took_s']:.0f} s\n{result['verdict']}"
    )
