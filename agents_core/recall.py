"""What a bot remembers of a person beyond the conversation.

Not the conversation, which comes with each question. `person` reads what the same subject asked this bot before;
`person+recall` also writes: what was said, to whom, as a vector, and gives back what is near the question. The rules:
it is the subject's, never the asker's; only this writes it; theirs to read and to forget, and what is forgotten is
gone from the next answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import text

from agents_core.bots import Bot
from agents_core.embedding import WIDTH, Embedder, Vector
from agents_core.events import Ask
from agents_core.rows import NOW
from database import Database

# A nearest neighbour is always something, so there is a floor. Measured on 14 questions to 10 sayings: what answered a
# question was at 0.30 or above (one at 0.25), what had nothing to do with it at 0.26 or below.
FLOOR = 0.28
# What a bot's file says where earlier conversations are looked up before it answers.
REMEMBERS = ("person", "person+recall")
# More would push the question out of a small window, and a listener hears one answer.
MOST_RECALLED = 4
MOST_ASKED = 8
# One person's rows with one bot; the oldest go. Ranking them all takes a millisecond.
MOST_KEPT = 1000
# "Yes, please." says nothing worth keeping; and a question says what somebody wants, which is read off their runs.
_WORDS = 3
_SAID_CHARS = 500
# Both databases count rows in 64 bits with a sign, and refuse a number beyond with a fault of their own.
_LARGEST_ID = 2**63 - 1
# The same thing said again takes the place of the first.
_SAME = 0.95

# The last questions of a subject to a bot, in other rooms than this one, since they last forgot everything.
_ASKED = """
SELECT ask FROM runs WHERE subject = :person AND bot = :bot AND room <> :room
       AND created_s > COALESCE((SELECT MAX(at_s) FROM forgotten WHERE person = :person AND bot = :bot), 0)
ORDER BY created_s DESC LIMIT :most
"""
# Everything kept of one person with one bot. Filtered here, before anything is ranked.
_KEPT = "SELECT id, said, model, vector, at_s FROM memories WHERE person = :person AND bot = :bot ORDER BY id"
_KEEP = """
INSERT INTO memories (person, bot, run, said, model, vector, at_s)
VALUES (:person, :bot, :run, :said, :model, :vector, {now}) ON CONFLICT (run) DO NOTHING
"""
_OLDEST = """
DELETE FROM memories WHERE person = :person AND bot = :bot AND id NOT IN
       (SELECT id FROM memories WHERE person = :person AND bot = :bot ORDER BY id DESC LIMIT :most)
"""
_FORGET = "DELETE FROM memories WHERE person = :person AND bot = :bot AND id = :id"
_FORGET_ALL = "DELETE FROM memories WHERE person = :person AND bot = :bot"
_FORGOT = "INSERT INTO forgotten (person, bot, at_s) VALUES (:person, :bot, {now})"


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing that is remembered, as its owner reads it."""

    id: int
    said: str
    at_s: float


class Memories:
    """What is remembered of people. Without `embedder` nothing is recalled or kept."""

    def __init__(self, database: Database, embedder: Embedder | None = None) -> None:
        self._database, self._embedder = database, embedder
        now = NOW[database.dialect]
        self._keep, self._forgot = text(_KEEP.format(now=now)), text(_FORGOT.format(now=now))

    async def before(self, bot: Bot, ask: Ask) -> tuple[str, ...]:
        """What the subject said before this conversation and is worth saying again, oldest first."""
        if bot.memory not in REMEMBERS or not ask.subject:
            return ()
        asked = await self._asked(bot, ask)
        if bot.memory == "person":
            return asked
        near = await self._near(bot, ask)
        return tuple(dict.fromkeys((*near, *asked[-MOST_RECALLED:])))

    async def keep(self, bot: Bot, ask: Ask, run: str) -> None:
        """Remember what was said in a run that was answered, where the bot's file says so."""
        said = " ".join(ask.text.split())[:_SAID_CHARS]
        if bot.memory != "person+recall" or not ask.subject or self._embedder is None:
            return
        if len(re.findall(r"\w+", said)) < _WORDS or said.startswith("/") or said.endswith("?"):
            return
        vector = await self._embedder.embed(said)
        row = {"person": ask.subject, "bot": bot.slug}
        async with self._database.write() as db:
            for old in (await db.execute(text(_KEPT), row)).all():
                if old.model == self._embedder.name and float(_vector(old.vector) @ vector) >= _SAME:
                    await db.execute(text(_FORGET), {**row, "id": old.id})
            kept = {**row, "run": run, "said": said, "model": self._embedder.name, "vector": vector.tobytes()}
            await db.execute(self._keep, kept)
            await db.execute(text(_OLDEST), {**row, "most": MOST_KEPT})

    async def of(self, person: str, bot: str) -> list[Memory]:
        """What is kept of a person with a bot, newest first, for themselves to read."""
        async with self._database.read() as db:
            rows = (await db.execute(text(_KEPT), {"person": person, "bot": bot})).all()
        return [Memory(row.id, row.said, row.at_s) for row in reversed(rows)]

    async def forget(self, person: str, bot: str, id_: int) -> bool:
        """Forget one thing. False where it is none of theirs, and for a number that no row can have."""
        if not 0 < id_ <= _LARGEST_ID:
            return False
        async with self._database.write() as db:
            found = await db.execute(text(_FORGET), {"person": person, "bot": bot, "id": id_})
            return found.rowcount == 1

    async def forget_all(self, person: str, bot: str) -> int:
        """Forget everything, earlier questions too. Gives how many things were kept."""
        row = {"person": person, "bot": bot}
        async with self._database.write() as db:
            gone = (await db.execute(text(_FORGET_ALL), row)).rowcount
            await db.execute(self._forgot, row)
        return gone

    async def _asked(self, bot: Bot, ask: Ask) -> tuple[str, ...]:
        row = {"person": ask.subject, "bot": bot.slug, "room": ask.room, "most": MOST_ASKED}
        async with self._database.read() as db:
            rows = (await db.execute(text(_ASKED), row)).scalars().all()
        said = (str(json.loads(row).get("text", "")) for row in reversed(rows))
        return tuple(dict.fromkeys(" ".join(one.split())[:_SAID_CHARS] for one in said if one.strip()))

    async def _near(self, bot: Bot, ask: Ask) -> tuple[str, ...]:
        if self._embedder is None:
            return ()
        async with self._database.read() as db:
            rows = (await db.execute(text(_KEPT), {"person": ask.subject, "bot": bot.slug})).all()
        mine = [row for row in rows if row.model == self._embedder.name and len(row.vector) == WIDTH * 4]
        if not mine:
            return ()
        asked = await self._embedder.embed(ask.text)
        return tuple(mine[n].said for n in nearest(asked, [_vector(row.vector) for row in mine]))


def nearest(asked: Vector, kept: Sequence[Vector], *, most: int = MOST_RECALLED, floor: float = FLOOR) -> list[int]:
    """Which of the kept vectors are near enough, at most `most` of them, in the order they were kept."""
    scores = np.stack(kept) @ asked
    best = [int(n) for n in np.argsort(-scores, kind="stable")[:most] if scores[n] >= floor]
    return sorted(best)


def _vector(raw: bytes) -> Vector:
    return np.frombuffer(raw, dtype=np.float32)
