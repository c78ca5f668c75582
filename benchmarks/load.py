"""`firstword bench load`: conversations at once, until the first one's sound runs dry.

One server whose lanes go by deadline, one whose lanes go by arrival; both are asked the same by as many people, in
turns. People begin at even distances, ask, and hear the whole answer. The one rule: it is over at the first underrun,
seen by the server or heard by a person.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import psutil

from benchmarks.child import child_server
from benchmarks.machine import head
from benchmarks.questions import QUESTIONS, Question, Spoken, record
from benchmarks.spread import spread
from firstword.house import signer_for
from firstword.settings import Settings
from firstword.talk import Conversation, Turn, converse
from firstword.voices import engine_for

# How many at once, one after another; the goal is `GOAL` without an underrun, and with a first word under twice one's.
STEPS = (1, 2, 4, 8, 12, 16)
GOAL = 8
LANES = ("deadline", "arrival")
# Somebody hears a gap of this length.
_GAP_MS = 40.0
_ASKED = tuple(question for question in QUESTIONS if not question.pause_ms)[:4]
_WARM = Question("Hello there.")
# The distance between two who begin: a turn's length over the people, so that their turns lie evenly.
_TURN_S = 6.0


async def measure(
    settings: Settings, *, repeats: int, quick: bool, orders: Sequence[str] = LANES, told: Callable[[str], None]
) -> dict[str, Any]:
    """Each number of `STEPS` at once before a server for each order of the lanes, until it has had an underrun.

    `quick`: one person alone, and nobody is warm.
    """
    warm, *recordings = record(engine_for(settings), [_WARM, *(_ASKED[:1] if quick else _ASKED)])
    first = None if quick else warm
    found: dict[str, list[dict[str, Any]]] = {order: [] for order in orders}
    async with contextlib.AsyncExitStack() as opened:
        servers = {order: await opened.enter_async_context(_server(order)) for order in orders}
        for people in STEPS[:1] if quick else STEPS:
            for order, (base_url, process) in servers.items():
                if found[order] and found[order][-1]["underruns"]:
                    continue
                told(f"{people} at once, lanes by {order}")
                found[order].append(await _at_once(settings, base_url, process, people, first, recordings * repeats))
    return {
        "bench": "load",
        **head(
            threads=settings.engine_threads, models={"listen": settings.listen_model, "voice": settings.voice_model}
        ),
        "brain": "script",
        "questions": len(recordings) * repeats,
        "goal": GOAL,
        "lanes": {order: {**verdict(rows), "steps": rows} for order, rows in found.items()},
    }


@contextlib.asynccontextmanager
async def _server(order: str) -> AsyncIterator[tuple[str, psutil.Process]]:
    here = psutil.Process(os.getpid())
    before = {child.pid for child in here.children()}
    told = {"script_only": "true", "lanes": order, "sessions": "64", "sessions_per_person": "64"}
    async with child_server(told) as base_url:
        (process,) = (child for child in here.children() if child.pid not in before)
        yield base_url, process


async def _at_once(
    settings: Settings,
    base_url: str,
    process: psutil.Process,
    people: int,
    warm: Spoken | None,
    recordings: Sequence[Spoken],
) -> dict[str, Any]:
    signer = signer_for(settings)
    quiet_bytes = process.memory_info().rss
    async with contextlib.AsyncExitStack() as opened:
        talking = [
            await opened.enter_async_context(
                converse(base_url, signer.mint(bot="guide", subject="owner", room=f"bench-{n}"))
            )
            for n in range(people)
        ]
        for conversation in talking:
            if warm is not None:
                await conversation.ask(warm.pcm, only_beginning=True)
        began, used = asyncio.get_running_loop().time(), _cpu_s(process)
        asked = [
            _ask_all(conversation, recordings, _TURN_S * n / people, first=n) for n, conversation in enumerate(talking)
        ]
        turns = [turn for one in await asyncio.gather(*asked) for turn in one]
        took_s = asyncio.get_running_loop().time() - began
        cores = (_cpu_s(process) - used) / took_s
        loud_bytes = process.memory_info().rss
    return {
        **summary(people, turns),
        "server_cores": round(cores, 2),
        "mib_each": _mib_each(quiet_bytes, loud_bytes, people),
    }


async def _ask_all(
    conversation: Conversation, recordings: Sequence[Spoken], after_s: float, *, first: int
) -> list[Turn]:
    """Every question, beginning with another one than the neighbour, each answer to its end."""
    await asyncio.sleep(after_s)
    return [await conversation.ask(recordings[(first + n) % len(recordings)].pcm) for n in range(len(recordings))]


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _mib_each(before: int, after: int, people: int) -> float:
    return round(max(0, after - before) / people / 2**20, 2)


def summary(people: int, turns: Sequence[Turn]) -> dict[str, Any]:
    """What came of one number of people. An answer has an underrun where the server says so, or a gap was heard."""
    return {
        "conversations": people,
        "turns": len(turns),
        "unanswered": sum(turn.first_word_ms is None for turn in turns),
        "first_word_ms": spread([turn.first_word_ms for turn in turns if turn.first_word_ms is not None]),
        "late_ms": spread([turn.late_ms for turn in turns]),
        "underruns": sum(turn.trace.get("underruns", 0) > 0 or turn.late_ms > _GAP_MS for turn in turns),
    }


def verdict(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How many at once went without an underrun, and the first word at the goal against that of one alone."""
    clean = [row["conversations"] for row in rows if not row["underruns"] and not row["unanswered"]]
    alone = rows[0]["first_word_ms"]["p95"]
    at = next((row for row in rows if row["conversations"] == GOAL), rows[-1])
    p95 = at["first_word_ms"]["p95"]
    return {
        "most_without_underrun": max(clean, default=0),
        "at_goal": {
            "conversations": at["conversations"],
            "underruns": at["underruns"],
            "first_word_ms": at["first_word_ms"],
            "p95_ratio": round(p95 / alone, 3) if p95 and alone else None,
        },
    }


def table(result: Mapping[str, Any]) -> str:
    """The result for a terminal."""
    lines = [
        f"{'lanes by':10}{'at once':>8}{'turns':>7}{'p50 ms':>9}{'p95 ms':>9}{'gaps':>6}{'late p95':>10}{'cores':>7}"
        f"{'MiB each':>10}"
    ]
    for order, found in result["lanes"].items():
        for row in found["steps"]:
            first = row["first_word_ms"]
            lines.append(
                f"{order:10}{row['conversations']:>8}{row['turns']:>7}{first['p50'] or '-':>9}{first['p95'] or '-':>9}"
                f"{row['underruns']:>6}{row['late_ms']['p95'] or 0:>10}{row['server_cores']:>7}{row['mib_each']:>10}"
            )
    for order, found in result["lanes"].items():
        at = found["at_goal"]
        lines.append(
            f"by {order}: {found['most_without_underrun']} at once without an underrun; first word p95 with "
            f"{at['conversations']} over one alone: {at['p95_ratio']}"
        )
    return "\n".join(lines)
