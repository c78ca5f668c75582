"""One worker process of the kill benchmark: the real core, with a model and tools that take a moment.

Not a model: it asks for two tools and then answers, so that a run is four steps. The one rule: what must not happen
twice is written to a file outside the database as it happens, so that nobody has to take the database's word for it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_core import Ask, Core, Profile, Question, Whole, Words
from agents_core.loop import Call
from agents_core.offer import Offer
from agents_core.points import Reach, nothing
from agents_core.tools import Answered, Handed, Tool
from agents_core.worker import Worker

BOT = "---\nname: Worker\nsurfaces: [support]\n---\nYou work.\n"
STEPS = 4


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker is started with. `stamps` is the file of what happened; each step takes `step_s`."""

    database_url: str
    content: Path
    stamps: Path
    lease_s: float
    step_s: float
    at_once: int = 4


class TwoToolsThenWords:
    """Asks for `look` and `stamp` at once, then says a sentence."""

    name = model = "two-tools"
    costs = False
    keys = 1
    profile = Profile()

    def __init__(self, step_s: float) -> None:
        self._step_s = step_s

    async def ask(self, question: Question) -> AsyncGenerator[Words | Whole, None]:
        await asyncio.sleep(self._step_s)
        if question.turn == 0:
            yield Whole((Call("1", "look", "{}"), Call("2", "stamp", "{}")))
            return
        yield Words("Looked, ")
        yield Words("and stamped.")
        yield Whole()

    async def close(self) -> None:
        """Nothing is open."""


def tools(job: Job) -> tuple[Tool, Tool]:
    """`look`, which may be repeated, and `stamp`, which may not."""

    async def look(_handed: Handed, _arguments: Mapping[str, Any]) -> Answered:
        await asyncio.sleep(job.step_s)
        return Answered("It is there.")

    async def stamp(handed: Handed, _arguments: Mapping[str, Any]) -> Answered:
        with job.stamps.open("ab", buffering=0) as file:
            file.write(f"{handed.run}\n".encode())
        await asyncio.sleep(job.step_s)
        return Answered("It is stamped.")

    return Tool("look", "Look.", look), Tool("stamp", "Stamp.", stamp, repeats=False)


async def open_core(job: Job, *, reach: Reach = nothing) -> Core:
    """The real core with these tools."""
    core = await Core.open(
        content=job.content,
        database_url=job.database_url,
        providers=[TwoToolsThenWords(job.step_s)],
        lease_s=job.lease_s,
        worker=False,
        reach=reach,
    )
    core.bots.offer = lambda _bot, _held: Offer(tools(job))  # type: ignore[method-assign, assignment]
    return core


async def _work(job: Job) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    core = await open_core(job)
    core.worker = Worker(core.claim, at_once=job.at_once, idle_s=job.lease_s / 4)
    core.worker.start()
    await stop.wait()
    await core.close()


def work(job: Job) -> None:
    """Work until SIGTERM: finish what is under way, claim nothing more."""
    asyncio.run(_work(job))


def work_until_it_dies(job: Job, point: str, ask: Ask | None = None) -> None:
    """Answer `ask`, or what is there to be claimed, and be gone, as by SIGKILL, the first time `point` is reached."""

    def reach(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    async def die() -> None:
        core = await open_core(job, reach=reach)
        if ask is not None:
            async for _ in core.run_turn(ask):
                pass
        await core.sweep()
        await core.close()

    asyncio.run(die())
