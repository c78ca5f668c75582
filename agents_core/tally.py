"""What a bot's answers came to since some time: how many, how they ended, what they cost.

Counted where it is written; it reads no words. The one rule: money is what the steps say was spent, whether or not the
bot has limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, text

from database import Database

_ENDINGS = """
SELECT bot, COALESCE(ending, state) AS how, COUNT(*) AS times FROM runs
WHERE created_s > :since_s AND state NOT IN ('todo', 'doing') GROUP BY bot, COALESCE(ending, state)
"""
_SPENT = """
SELECT runs.bot AS bot, SUM({spent}) AS micro FROM steps JOIN runs ON runs.id = steps.run
WHERE runs.created_s > :since_s GROUP BY runs.bot
"""
_OF_A_STEP = {
    "sqlite": "COALESCE(json_extract(steps.what, '$.spent'), 0)",
    "postgresql": "COALESCE((CAST(steps.what AS json) ->> 'spent')::bigint, 0)",
}


@dataclass(slots=True)
class Tally:
    """Answers by how they ended, and what they cost together, in millionths."""

    endings: dict[str, int] = field(default_factory=dict)
    micro: int = 0


async def tally(database: Database, since_s: float) -> Mapping[str, Tally]:
    """By bot, of the runs begun after `since_s` (Unix seconds) and over."""

    def work(db: Connection) -> dict[str, Tally]:
        found: dict[str, Tally] = {}
        for bot, how, times in db.execute(text(_ENDINGS), {"since_s": since_s}):
            found.setdefault(bot, Tally()).endings[how] = int(times)
        spent = text(_SPENT.format(spent=_OF_A_STEP[database.dialect]))
        for bot, micro in db.execute(spent, {"since_s": since_s}):
            found.setdefault(bot, Tally()).micro = int(micro or 0)
        return found

    return await database.act(work, reads=True)
