"""Conversations of the last 30 days by bot: counts, first words, endings, spend; and what people let be read.

The one rule: what was said is read only of a conversation that its own person has opened to the owner, for as long as
they leave it open.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from agents_core import Tally
from database import Database, is_away
from voice import ThreadNotThere
from voice.kept import Kept
from web.desk.parts import DeskParts
from web.desk.tables import FIRST_WORDS, SHARED

DAYS = 30
_DAY_S = 86_400.0
# Newest first; an owner reads a page of them.
_MOST_SHARED = 100
_log = logging.getLogger("firstword.web")


class Talks:
    """What is counted and what is shared, in `database`. `now` gives Unix seconds."""

    def __init__(self, database: Database, kept: Kept, *, now: Callable[[], float] = time.time) -> None:
        self._database, self._kept, self._now = database, kept, now

    async def first_word(self, bot: str, ms: float) -> None:
        """Keep how soon an answer was. Away, it is not kept: nobody waits for a figure."""

        def work(db: Connection) -> None:
            now_s = self._now()
            db.execute(insert(FIRST_WORDS).values(bot=bot[:80], ms=ms, at_s=now_s))
            db.execute(delete(FIRST_WORDS).where(FIRST_WORDS.c.at_s < now_s - DAYS * _DAY_S))

        try:
            await self._database.act(work)
        except Exception as fault:
            if not is_away(fault):
                raise
            _log.debug("a first word was not kept (%s)", type(fault).__name__)

    async def share(self, subject: str, thread: str, *, shared: bool) -> None:
        """Open somebody's conversation to the owner, or shut it again. Raises `ThreadNotThere` and `ThreadAway`."""
        found, _ = await self._kept.read(subject, thread)

        def work(db: Connection) -> None:
            db.execute(delete(SHARED).where(SHARED.c.thread == thread))
            if shared:
                row = {"thread": thread, "subject": subject, "bot": found.bot, "at_s": self._now()}
                db.execute(insert(SHARED).values(**row))

        await self._database.act(work)

    async def shared_by(self, subject: str) -> list[str]:
        """The conversations that a person has opened."""
        asked = select(SHARED.c.thread).where(SHARED.c.subject == subject)
        return await self._database.act(lambda db: [str(one) for one in db.scalars(asked)], reads=True)

    async def of(self, parts: DeskParts, slugs: list[str]) -> list[dict[str, Any]]:
        """A row for each bot. Raises `ThreadAway`."""
        since_s = self._now() - DAYS * _DAY_S
        runs, threads = await parts.tally(since_s), await self._kept.counted(since_s)
        soon = await self._first_words(since_s)
        open_ = await self._shared()
        rows = []
        for slug in dict.fromkeys([*slugs, *sorted(threads), *sorted(runs)]):
            told = runs.get(slug, Tally())
            times = soon.get(slug, [])
            rows.append(
                {
                    "slug": slug,
                    "conversations": threads.get(slug, 0),
                    "answers": sum(told.endings.values()),
                    "endings": told.endings,
                    "spent": told.micro / 1_000_000,
                    "first_word_ms": {"median": _at(times, 0.5), "p95": _at(times, 0.95), "times": len(times)},
                    "shared": [each for each in open_ if each["bot"] == slug],
                }
            )
        return rows

    async def read(self, thread: str) -> dict[str, Any]:
        """A conversation that was opened to the owner. Raises `ThreadNotThere` and `ThreadAway`."""
        asked = select(SHARED.c.subject).where(SHARED.c.thread == thread)
        subject = await self._database.act(lambda db: db.scalars(asked).one_or_none(), reads=True)
        if subject is None:
            raise ThreadNotThere
        found, lines = await self._kept.read(subject, thread)
        return {
            "thread": found.id,
            "bot": found.bot,
            "title": found.title,
            "said_s": found.said_s,
            "lines": [asdict(line) for line in lines],
        }

    async def _first_words(self, since_s: float) -> dict[str, list[float]]:
        asked = select(FIRST_WORDS.c.bot, FIRST_WORDS.c.ms).where(FIRST_WORDS.c.at_s > since_s)

        def work(db: Connection) -> dict[str, list[float]]:
            found: dict[str, list[float]] = {}
            for bot, ms in db.execute(asked.order_by(FIRST_WORDS.c.ms)):
                found.setdefault(bot, []).append(ms)
            return found

        return await self._database.act(work, reads=True)

    async def _shared(self) -> list[dict[str, Any]]:
        asked = select(SHARED).order_by(SHARED.c.at_s.desc()).limit(_MOST_SHARED)
        rows = await self._database.act(lambda db: db.execute(asked).all(), reads=True)
        told = []
        for row in rows:
            try:
                found, _ = await self._kept.read(row.subject, row.thread)
            except ThreadNotThere:
                continue  # forgotten since
            told.append({"thread": found.id, "bot": found.bot, "title": found.title, "said_s": found.said_s})
        return told


def _at(times: list[float], share: float) -> float | None:
    """The time below which `share` of the sorted times are."""
    return times[min(len(times) - 1, int(share * len(times)))] if times else None
