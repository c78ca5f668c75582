"""Keeping what was said in an answer that was given, beside the listener's way.

Not the memories, which say what is kept and how. The one rule: nobody waits for it but the closing of this process, and
what cannot be kept is a line in the log without what was said.
"""

from __future__ import annotations

import asyncio
import logging

from agents_core.bots import Bot
from agents_core.events import Ask
from agents_core.recall import Memories
from agents_core.runs import out_of_reach

_log = logging.getLogger(__name__)


class Remembering:
    """What one process is keeping in `memories` at the moment."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories
        self._under_way: set[asyncio.Task[None]] = set()

    def keep(self, bot: Bot, ask: Ask, run: str) -> None:
        """Keep what was said in `run`, where the bot's file says so."""
        task = asyncio.create_task(self._memories.keep(bot, ask, run))
        self._under_way.add(task)
        task.add_done_callback(self._over)

    async def close(self) -> None:
        """Wait for what is under way."""
        await asyncio.gather(*self._under_way, return_exceptions=True)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        fault = None if task.cancelled() else task.exception()
        if fault is not None:
            why = "the database is away" if out_of_reach(fault) else type(fault).__name__
            _log.warning("something said was not remembered: %s", why)
