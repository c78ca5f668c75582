"""`firstword bench door`: what the door costs, between an upstream that speaks at an even pace and a client.

The same client asks the upstream itself and through the door, in turns; the door is the real one with the real core
and a database, in a process of its own. The one rule: the difference of the two in one run is the door's.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import uvicorn

from benchmarks import door_strain
from benchmarks.door_leaving import EndlessModel, leaving
from benchmarks.machine import head
from benchmarks.spread import spread
from benchmarks.streams import FIRST_S, STEP_S, WORDS, Timed, ask, upstream

SECRET = "a-secret-for-the-benchmark-of-the-door-alone"  # noqa: S105 - signs the grants of one run
# Streams at once, and how often each asks.
_LOADS = {1: 20, 8: 6, 64: 3}
_QUICK = {1: 2}
_ANSWER_S = FIRST_S + WORDS * STEP_S
_BOT = "---\nname: Even\nsurfaces: [voice]\nvoice:\n  language: en\n---\nYou answer.\n"


def measure(*, quick: bool = False, strain: bool = False) -> dict[str, Any]:
    """Ask at each load with and without the door; with `strain` also refused grants and slow clients."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder), quick=quick, strain=strain))


async def _measure(folder: Path, *, quick: bool, strain: bool) -> dict[str, Any]:
    from grant import Signer

    signer = Signer(SECRET)
    keys = [signer.mint(bot="even", subject=f"person-{n}", room="bench") for n in range(64)]
    source, model = await upstream(), EndlessModel()
    endless = await model.serve()
    loads = _QUICK if quick else _LOADS
    _write_content(folder)
    try:
        async with _door_to(_url(source), folder) as door_url:
            await asyncio.gather(*(ask(door_url, key, rounds=1) for key in keys[: min(8, max(loads))]))
            result: dict[str, Any] = {
                "bench": "door",
                **head(threads=1, models={"brain": "an upstream at an even pace"}),
                "upstream": {"first_ms": FIRST_S * 1000, "words_per_s": 1 / STEP_S, "words": WORDS},
                "streams": {},
            }
            for streams, rounds in loads.items():
                direct = await _at_once(_url(source), keys, streams, rounds)
                through = await _at_once(door_url, keys, streams, rounds)
                result["streams"][str(streams)] = summary(direct, through)
            if strain:
                result["refusals"] = door_strain.refusals(SECRET, quick=quick)
                result["slow_clients"] = await door_strain.slow_clients(door_url, keys[0], quick=quick)
        if strain:
            async with _door_to(_url(endless), folder) as door_url:
                result["leaving"] = await leaving(door_url, keys[0], model, quick=quick)
        return result
    finally:
        source.close()
        endless.close()


def _url(server: asyncio.Server) -> str:
    return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@contextlib.asynccontextmanager
async def _door_to(upstream_url: str, folder: Path) -> AsyncIterator[str]:
    """A door in a process of its own, with `upstream_url` behind it; gives its address."""
    processes = multiprocessing.get_context("spawn")
    near, far = processes.Pipe()
    server = processes.Process(target=_serve, args=(str(folder), upstream_url, far), daemon=True)
    server.start()
    try:
        yield await asyncio.to_thread(near.recv)
    finally:
        near.send("stop")
        await asyncio.to_thread(server.join, 10)


async def _at_once(url: str, keys: Sequence[str], streams: int, rounds: int) -> list[Timed]:
    """`streams` that began at even distances, as people do."""
    asked = [ask(url, keys[n], rounds=rounds, after_s=_ANSWER_S * n / streams) for n in range(streams)]
    return [one for answers in await asyncio.gather(*asked) for one in answers]


def summary(direct: Sequence[Timed], through: Sequence[Timed]) -> dict[str, Any]:
    """The first word with and without the door, what the door adds, and the share of the upstream's pace it keeps."""
    first = {
        "direct": spread([one.first_s * 1000 for one in direct]),
        "door": spread([one.first_s * 1000 for one in through]),
    }
    pace = [sorted(one.words_per_s for one in ways)[len(ways) // 2] for ways in (direct, through)]
    return {
        "answers": len(through),
        "first_word_ms": first,
        "ttfb_overhead_ms": {
            "p50": round(first["door"]["p50"] - first["direct"]["p50"], 2),
            "p95": round(first["door"]["p95"] - first["direct"]["p95"], 2),
        },
        "words_per_s_ratio": round(pace[1] / pace[0], 3),
    }


def table(result: Mapping[str, Any]) -> str:
    """The result as a table for a terminal."""
    lines = [f"{'streams':>8}{'direct p50':>12}{'door p50':>10}{'added p50':>11}{'added p95':>11}{'pace kept':>11}"]
    for streams, one in result["streams"].items():
        first, added = one["first_word_ms"], one["ttfb_overhead_ms"]
        lines.append(
            f"{streams:>8}{first['direct']['p50']:>12}{first['door']['p50']:>10}{added['p50']:>11}{added['p95']:>11}"
            f"{one['words_per_s_ratio']:>11}"
        )
    lines += door_strain.lines(result)
    lines.append("milliseconds")
    return "\n".join(lines)


def _write_content(folder: Path) -> None:
    (folder / "bots").mkdir()
    (folder / "bots" / "even.md").write_text(_BOT)


def _serve(folder: str, upstream_url: str, door: Connection) -> None:
    """The door in a process of its own: says where it is, and ends when it is sent something."""
    # On the loop that uvicorn chooses, as `firstword serve` does.
    with asyncio.Runner(loop_factory=uvicorn.Config("").get_loop_factory()) as runner:
        runner.run(_serve_until(Path(folder), upstream_url, door))


async def _serve_until(folder: Path, upstream_url: str, door: Connection) -> None:
    from agents_core import Core, OpenAIProvider
    from firstword.serving import serving
    from grant import Signer, StraightApp
    from llm_door import create_door, keep

    provider = OpenAIProvider(f"{upstream_url}/v1", "even", costs=False, trust_env=False)
    database_url = f"sqlite+aiosqlite:///{folder / 'door.db'}"
    core = await Core.open(content=folder, database_url=database_url, providers=[provider], worker=False)
    signer = Signer(SECRET)
    app = StraightApp()
    app.include_router(create_door(core, signer))
    try:
        async with serving(lambda _url: keep(app, signer)) as door_url:
            door.send(door_url)
            await asyncio.to_thread(door.recv)
    finally:
        await core.close()
