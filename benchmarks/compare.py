"""`firstword bench compare A B`: what got slower between two results of one benchmark, by name.

It reads results and measures nothing. Where several stages moved, the one is named that waited for no other and moved
most in proportion: what contains it grows by as many milliseconds and a smaller share. The one rule: a stage has moved
only where the difference is beyond the noise of both runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.errors import BenchRefused
from benchmarks.instrument import HEAD
from benchmarks.noise import QUIET_PERCENT

# What is the sum of stages, or waits for them: slower because of one, never the reason.
WHOLES = ("first_word_ms", "end_ms", "turn_ms", "page_silence_ms")
# What may stand still for another stage: an end of turn is not decided before the words of the turn are known.
WAITS_FOR: Mapping[str, tuple[str, ...]] = {"eot_wait_ms": ("words_ms",)}
# Under this nobody hears a difference, whatever its share.
_LEAST_MS = 1.0
_LEAST_SHARE = 0.05
# Where a result gives one figure and not how far the measurements lay apart.
_BLIND_SHARE = 0.1
# The standard error of a median of n normal values is 1.253 σ/√n, and their quartiles lie 1.349 σ apart.
_ERROR_OF_MEDIAN = 1.253 / 1.349
# How many standard errors are noise: 3 of the difference's own.
_SURE = 3.0
# The way of working that is ours, beside those it is compared with inside a run.
_OURS = ("ours", "streamed_ms", "door")

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """A median in milliseconds, and its standard error; None where the result does not say."""

    p50_ms: float
    error_ms: float | None


@dataclass(frozen=True, slots=True)
class Move:
    """One stage in both results. `noise_ms`: what a difference must exceed to be one."""

    path: Path
    before_ms: float
    after_ms: float
    noise_ms: float

    @property
    def more_ms(self) -> float:
        """Milliseconds added; negative where it got faster."""
        return self.after_ms - self.before_ms

    @property
    def ratio(self) -> float:
        """After over before."""
        return self.after_ms / self.before_ms if self.before_ms else math.inf

    @property
    def moved(self) -> Literal["slower", "faster", "same"]:
        """Beyond the noise, or not."""
        if abs(self.more_ms) <= max(self.noise_ms, _LEAST_MS, _LEAST_SHARE * self.before_ms):
            return "same"
        return "slower" if self.more_ms > 0 else "faster"

    @property
    def is_whole(self) -> bool:
        """It contains other stages."""
        return self.path[-1] in WHOLES

    @property
    def is_ours(self) -> bool:
        """It is of our way of working."""
        return any(part in _OURS for part in self.path)

    @property
    def name(self) -> str:
        """The stage in words: `words (script, ours)`."""
        where = ", ".join(
            part for part in self.path[:-1] if part not in {"brains", "ways", "parts", "engines", "databases"}
        )
        leaf = self.path[-1].removesuffix("_ms").replace("_", " ")
        return f"{leaf} ({where})" if where else leaf


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What moved from one result to the other. Raises `BenchRefused` for results of different benchmarks."""
    if before["bench"] != after["bench"]:
        raise BenchRefused(f"these are of different benchmarks, {before['bench']} and {after['bench']}")
    moves = moves_between(before, after)
    if not moves:
        raise BenchRefused("the two results have no stage in common")
    return {
        "bench": before["bench"],
        "slowest": slowest(moves),
        "caveats": caveats(before, after),
        "moves": [
            {
                "stage": move.name,
                "path": list(move.path),
                "before_ms": move.before_ms,
                "after_ms": move.after_ms,
                "ratio": round(move.ratio, 3) if math.isfinite(move.ratio) else None,
                "noise_ms": round(move.noise_ms, 1),
                "moved": move.moved,
            }
            for move in moves
        ],
        "said": headline(moves),
    }


def moves_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Move]:
    """Every stage that both have."""
    old, new = dict(stages(before)), dict(stages(after))
    return [
        Move(path, stage.p50_ms, new[path].p50_ms, _noise_ms(stage, new[path]))
        for path, stage in old.items()
        if path in new
    ]


def stages(result: Mapping[str, Any]) -> Iterator[tuple[Path, Stage]]:
    """Every length of time in a result: what has a median, and single figures whose name ends in `_ms`."""
    yield from _stages({name: value for name, value in result.items() if name not in (*HEAD, "between_rounds")}, ())


def _stages(value: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Stage]]:
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            if "p50" not in inner:
                yield from _stages(inner, (*path, name))
            elif inner["p50"] is not None and name.endswith(("_ms", "direct", "door")):
                yield (*path, name), Stage(float(inner["p50"]), _error_ms(inner))
        elif name.endswith("_ms") and isinstance(inner, int | float):
            yield (*path, name), Stage(float(inner), None)


def _error_ms(spread: Mapping[str, Any]) -> float | None:
    if not spread.get("n") or spread.get("p25") is None:
        return None
    return _ERROR_OF_MEDIAN * float(spread["p75"] - spread["p25"]) / math.sqrt(spread["n"])


def _noise_ms(old: Stage, new: Stage) -> float:
    if old.error_ms is None or new.error_ms is None:
        return _BLIND_SHARE * old.p50_ms
    return _SURE * math.hypot(old.error_ms, new.error_ms)


def slowest(moves: Sequence[Move]) -> str | None:
    """The stage that got slower, as the result names it: of our way where the result has one; None where none did."""
    ours = [move for move in moves if move.is_ours] or list(moves)
    slower = [move for move in ours if move.moved == "slower"]
    names = {move.path[-1] for move in slower}
    parts = [move for move in slower if not move.is_whole and not names.intersection(WAITS_FOR.get(move.path[-1], ()))]
    worst = max(parts or slower, key=lambda move: move.ratio, default=None)
    return worst.path[-1] if worst else None


def headline(moves: Sequence[Move]) -> str:
    """One sentence: which stage got slower, and by how much."""
    named = slowest(moves)
    if named is None:
        faster = [move for move in moves if move.moved == "faster"]
        return f"Nothing got slower; {len(faster)} of {len(moves)} stages got faster, beyond the noise of both runs."
    ours = [move for move in moves if move.is_ours] or list(moves)
    of_it = [move for move in ours if move.path[-1] == named and move.moved == "slower"]
    told = "; ".join(
        f"{move.name}: {move.before_ms:g} to {move.after_ms:g} ms, {move.ratio - 1:+.0%}" for move in of_it
    )
    alone = "" if not of_it[0].is_whole else " No single stage accounts for it."
    return f"Slower: {told}.{alone}"


def caveats(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Why the two may not be comparable, a sentence each."""
    found = []
    for name, result in (("the first", before), ("the second", after)):
        if not result.get("quotable"):
            foreign = result.get("foreign_cpu_percent")
            busy = f"others used {foreign:g} %" if foreign is not None else "nobody looked how much others used"
            found.append(f"{name} was taken on a busy machine ({busy}; {QUIET_PERCENT:g} % is the most)")
    for what in ("machine", "threads", "models", "sums", "versions"):
        old, new = before.get(what), after.get(what)
        if old is not None and new is not None and old != new:
            found.append(f"they differ in {what}: {_differences(old, new)}")
    return found


def _differences(old: Any, new: Any) -> str:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        return ", ".join(f"{name} {old.get(name)} and {new.get(name)}" for name in names)
    return f"{old} and {new}"


def table(compared: Mapping[str, Any]) -> str:
    """The comparison for a terminal: what moved first, then the rest in a line."""
    rows = [f"{'stage':58}{'before':>9}{'after':>9}{'ratio':>8}{'noise':>8}"]
    moved = [move for move in compared["moves"] if move["moved"] != "same"]
    rows += [
        f"{move['stage'][:57]:58}{move['before_ms']:>9g}{move['after_ms']:>9g}{move['ratio'] or 0:>8.2f}"
        f"{move['noise_ms']:>8g}  {move['moved']}"
        for move in sorted(moved, key=lambda one: -(one["ratio"] or math.inf))
    ]
    still = len(compared["moves"]) - len(moved)
    return "\n".join(
        [
            *(rows if moved else []),
            f"{still} stages are where they were, within the noise of the two runs",
            *(f"Beware: {caveat}." for caveat in compared["caveats"]),
            compared["said"],
        ]
    )
