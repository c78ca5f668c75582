"""What a bot's answers came to: counted by how they ended, and what they cost, whether or not the bot has limits."""

from __future__ import annotations

import json

from sqlalchemy import insert

from agents_core import rows
from agents_core.rows import RUNS, STEPS
from agents_core.tally import Tally, tally
from database import Database

RUN = {"schema_version": 1, "room": "r", "asker": "ada", "subject": "ada", "ask": "{}", "fence": 1, "attempt": 1}


async def test_answers_are_counted_by_their_ends_and_their_money(database_url: str) -> None:
    database = Database(database_url)
    await database.bring_up(rows.MIGRATIONS)
    runs = [
        ("a", "guide", "done", "answered", 100.0, (20, 30)),
        ("b", "guide", "done", "answered", 100.0, (0,)),
        ("c", "guide", "cancelled", "cancelled", 100.0, (5,)),
        ("d", "guide", "failed", None, 100.0, ()),
        ("e", "guide", "doing", None, 100.0, ()),
        ("f", "guide", "done", "answered", 1.0, (900,)),
        ("g", "host", "done", "answered", 100.0, ()),
    ]
    async with database.write() as db:
        for id_, bot, state, ending, at_s, spent in runs:
            row = {**RUN, "id": id_, "bot": bot, "state": state, "ending": ending, "lease_until_s": 0.0, "cancel": 0}
            await db.execute(insert(RUNS).values(**row, created_s=at_s))
            for n, micro in enumerate(spent):
                what = json.dumps({"kind": "model", "spent": micro})
                await db.execute(insert(STEPS).values(run=id_, n=n, at_s=at_s, open=0, what=what))
    found = await tally(database, 50.0)
    await database.close()
    assert found == {
        "guide": Tally({"answered": 2, "cancelled": 1, "failed": 1}, 55),
        "host": Tally({"answered": 1}),
    }
