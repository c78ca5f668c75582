"""The loop's own overhead: what a turn costs beside the model, in milliseconds, and how soon its first event is there.

No model is asked: an answer of five words comes from a script in the same process, so everything measured is ours: the
run's row, the decision, the step's row, the end. The one rule: the clock starts where somebody asks and stops at what
they are given, never inside.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents_core import Ask, Core, Delta, ScriptProvider
from benchmarks.core_kill import kill
from benchmarks.machine import head
from firstword.testing.postgres import Postgres, find_postgres

TURNS = 500
# The first turns fill caches that a server has full.
_WARM = 20
_BOT = "---\nname: Guide\nsurfaces: [voice]\n---\nYou are the guide.\n"
# Conversations that are answered in the same moment by one process.
_AT_ONCE = 16
_NAMES = ("first_event_ms", "first_word_ms", "turn_ms")


def summary(turns: Mapping[str, Sequence[tuple[float, float, float]]], per_s: Mapping[str, float]) -> dict[str, Any]:
    """p50 and p95 of each figure by database, in hundredths of a millisecond; `turns` are seconds, as `_NAMES` says.

    `per_s` is how many turns one process gets through a second, sixteen at once.
    """
    found: dict[str, Any] = {}
    for database, measured in turns.items():
        found[database] = {"turns": len(measured)}
        for at, name in enumerate(_NAMES):
            values = sorted(turn[at] * 1000 for turn in measured)
            p50, p95 = values[len(values) // 2], values[min(len(values) - 1, len(values) * 95 // 100)]
            found[database][name] = {"p50": round(p50, 2), "p95": round(p95, 2)}
        found[database]["turns_per_s"] = round(per_s[database])
    return found


def measure(*, killing: bool = False, quick: bool = False) -> dict[str, Any]:
    """One object with the machine at its head: the overhead, or what is left after the killing."""
    machine = head(threads=1, models={})
    if killing:
        return {**machine, "bench": "core --kill", **(kill(runs=8, postgres=False) if quick else kill())}
    return {**machine, "bench": "core", "databases": summary(*_overhead(20 if quick else TURNS, postgres=not quick))}


def table(result: Mapping[str, Any]) -> str:
    """The same for people."""
    lines = []
    for database, found in result["databases"].items():
        if "turns" in found:
            figures = [f"{name[:-3].replace('_', ' ')} {found[name]['p50']:.2f} ms" for name in _NAMES]
            lines.append(
                f"{database}: {', '.join(figures)} (p50 of {found['turns']} turns); "
                f"{found['turns_per_s']} turns a second, {_AT_ONCE} at once"
            )
        else:
            lines.append(
                f"{database}: {found['done']} of {found['runs']} runs done through {found['kills']} kills, "
                f"{found['steps']} steps, {found['duplicates']} twice, {found['missing']} missing, "
                f"{found['called_twice']} calls repeated, {found['unknown']} said to be unknown"
            )
    return "\n".join(lines)


def _overhead(turns: int, *, postgres: bool) -> tuple[dict[str, list[tuple[float, float, float]]], dict[str, float]]:
    with tempfile.TemporaryDirectory(prefix="fw-core-") as folder:
        found = {"sqlite": asyncio.run(_turns(Path(folder), f"sqlite+aiosqlite:///{folder}/core.db", turns))}
        programs = find_postgres()
        if postgres and programs is not None:
            # One that waits for the disk at each commit, as a real one does.
            server = Postgres(programs, durable=True)
            try:
                server.start()
                found["postgresql"] = asyncio.run(_turns(Path(folder), server.fresh(), turns))
            finally:
                server.remove()
    return {name: one for name, (one, _) in found.items()}, {name: per_s for name, (_, per_s) in found.items()}


async def _turns(folder: Path, url: str, turns: int) -> tuple[list[tuple[float, float, float]], float]:
    (folder / "bots").mkdir(exist_ok=True)
    (folder / "bots" / "guide.md").write_text(_BOT, encoding="utf-8")
    core = await Core.open(content=folder, database_url=url, providers=[ScriptProvider()], worker=False)
    ask = Ask("guide", "Hello?", "ann", "ann", "r1", script=("One two three four five.",))

    async def several() -> None:
        for _ in range(turns // _AT_ONCE + 1):
            await _turn(core, ask)

    try:
        one_by_one = [await _turn(core, ask) for _ in range(turns + _WARM)][_WARM:]
        began_s = time.perf_counter()
        await asyncio.gather(*(several() for _ in range(_AT_ONCE)))
        per_s = _AT_ONCE * (turns // _AT_ONCE + 1) / (time.perf_counter() - began_s)
        return one_by_one, per_s
    finally:
        await core.close()


async def _turn(core: Core, ask: Ask) -> tuple[float, float, float]:
    began_s = time.perf_counter()
    first_event_s = first_word_s = 0.0
    async for event in core.run_turn(ask):
        first_event_s = first_event_s or time.perf_counter() - began_s
        if isinstance(event, Delta):
            first_word_s = first_word_s or time.perf_counter() - began_s
    return first_event_s, first_word_s, time.perf_counter() - began_s
