"""The tables of runs, and every statement that touches them.

No behaviour: `store` runs these. The one rule: each write after a claim names owner and fence in its WHERE, and takes
its time from the database, never from a worker.

A claim is ONE statement. Select-then-update through SQLAlchemy's async SQLite at its defaults hands the same row to two
workers without an error (465 claims for 200 rows, measured).
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import BigInteger, Column, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text, text

from agents_core.limits import WINDOWS
from database import Migrations

# Written beside each run, so that a later release can read an older release's rows.
SCHEMA = 1

TABLES = MetaData()
# Runs that somebody has to do: never begun, or in somebody's hands.
_OPEN = text("state IN ('todo', 'doing')")
RUNS = Table(
    "runs",
    TABLES,
    Column("id", String(40), primary_key=True),
    Column("schema_version", Integer, nullable=False),
    Column("bot", String(80), nullable=False),
    Column("room", String(200), nullable=False),
    Column("asker", String(200), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("ask", Text, nullable=False),
    Column("state", String(12), nullable=False),
    Column("ending", String(20)),
    Column("answer", Text),
    Column("reason", Text),
    Column("owner", String(40)),
    Column("fence", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("lease_until_s", Float, nullable=False),
    Column("cancel", Integer, nullable=False),
    Column("created_s", Float, nullable=False),
    # Only what is open is in it: a claim costs the same after ten million answers as after ten.
    Index("runs_open", "lease_until_s", sqlite_where=_OPEN, postgresql_where=_OPEN),
)
STEPS = Table(
    "steps",
    TABLES,
    # (run, n) is the key: no process can write the same step twice.
    Column("run", String(40), ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("at_s", Float, nullable=False),
    Column("open", Integer, nullable=False, server_default="0"),
    Column("what", Text, nullable=False),
)
# What each run may cost, until it ends; from then on what it did cost. Outlives the run's own row.
SPEND = Table(
    "spend",
    TABLES,
    Column("run", String(40), primary_key=True),
    Column("person", String(200), nullable=False),
    Column("bot", String(80), nullable=False),
    Column("at_s", Float, nullable=False),
    Column("micro", BigInteger, nullable=False),
    Column("settled", Integer, nullable=False),
    Index("spend_by", "person", "bot", "at_s"),
)
MIGRATIONS = Migrations(Path(__file__).parent / "migrations", TABLES, "core_version")

# The database's clock in seconds. SQLite gets its fractions from julianday: unixepoch('subsec') wants 3.42.
NOW = {
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
    "postgresql": "CAST(extract(epoch from clock_timestamp()) AS double precision)",
}
_SKIP_LOCKED = {"sqlite": "", "postgresql": "FOR UPDATE SKIP LOCKED"}
# Asks of one person to one bot are counted one after the other. SQLite has one writer anyway.
_ALONE = {
    "sqlite": "SELECT {now} AS now_s",
    "postgresql": """
SELECT {now} AS now_s FROM (SELECT pg_advisory_xact_lock(hashtextextended(:person || '/' || :bot, 0))) AS locked
""",
}
_MINE = "id = :id AND owner = :owner AND fence = :fence AND state = 'doing'"

_SUM = (
    "COALESCE(SUM(CASE WHEN at_s > CAST(:now_s AS double precision) - {seconds} THEN micro ELSE 0 END), 0) AS {window}"
)

STATEMENTS = {
    # What a person has reserved and spent with a bot, in each window that ends at :now_s.
    "spent": """
SELECT {sums} FROM spend
WHERE person = :person AND bot = :bot AND at_s > CAST(:now_s AS double precision) - {longest}
""",
    "alone": "{alone}",
    "reserve": """
INSERT INTO spend (run, person, bot, at_s, micro, settled) VALUES (:run, :person, :bot, :now_s, :micro, 0)
""",
    # What it did cost, in place of what it might have.
    "settle": "UPDATE spend SET micro = :micro, settled = 1 WHERE run = :run",
    # Write a run down. Born held, its fence is 1 and its lease runs; born free, both are 0.
    "begin": """
INSERT INTO runs (id, schema_version, bot, room, asker, subject, ask, state, owner, fence, attempt, lease_until_s,
                  cancel, created_s)
VALUES (:id, :schema_version, :bot, :room, :asker, :subject, :ask, :state, :owner, CAST(:held AS INTEGER),
        CAST(:held AS INTEGER),
        CASE WHEN CAST(:held AS INTEGER) = 1 THEN {now} + :lease_s ELSE 0 END, 0, {now})
RETURNING created_s
""",
    # Take the oldest run that nobody holds: never begun, let go, or its holder fell silent.
    "claim": """
UPDATE runs SET state = 'doing', owner = :owner, fence = fence + 1, attempt = attempt + 1,
       lease_until_s = {now} + :lease_s
WHERE id = (SELECT id FROM runs WHERE state IN ('todo', 'doing') AND lease_until_s < {now}
            ORDER BY created_s, id LIMIT 1 {skip_locked})
RETURNING id, ask, fence, attempt, cancel, created_s, {now} AS now_s
""",
    # Hold on to a run: the holder's own, whose fence is the newest. Says whether somebody cancelled it meanwhile.
    "renew": """
UPDATE runs SET lease_until_s = {now} + :lease_s WHERE {mine}
RETURNING cancel, {now} AS now_s
""",
    # The same for all that one process holds.
    "renew_all": """
UPDATE runs SET lease_until_s = {now} + :lease_s WHERE id IN :ids AND owner = :owner AND state = 'doing'
RETURNING id, fence, cancel
""",
    # Look, without writing, at what one process holds.
    "watch": "SELECT id, fence, cancel FROM runs WHERE id IN :ids AND owner = :owner AND state = 'doing'",
    "step": "INSERT INTO steps (run, n, at_s, open, what) VALUES (:run, :n, :at_s, :open, :what)",
    # The answer of a call that was begun: the same row, once.
    "close_step": "UPDATE steps SET open = 0, what = :what WHERE run = :run AND n = :n AND open = 1",
    # End a run. The same guard: a holder that was overtaken ends nothing.
    "finish": """
UPDATE runs SET state = :state, ending = :ending, answer = :answer, reason = :reason, owner = NULL, lease_until_s = 0
WHERE {mine}
RETURNING {now} AS now_s
""",
    # Give a run back unfinished, for anybody.
    "release": "UPDATE runs SET state = 'todo', owner = NULL, lease_until_s = 0 WHERE {mine}",
    # Take away what is over and old, a little at a time; its steps go with it.
    "forget_runs": """
DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE state NOT IN ('todo', 'doing')
                              AND created_s < {now} - CAST(:older_s AS double precision) LIMIT 500)
""",
    # What was spent is forgotten only where no window can ask for it any more.
    "forget_spend": "DELETE FROM spend WHERE at_s < {now} - {longest}",
    # Anybody may ask for a cancel; the holder sees it when it looks. A run that nobody holds is over at once.
    "cancel": """
UPDATE runs SET cancel = 1, state = CASE WHEN state = 'todo' THEN 'cancelled' ELSE state END,
       ending = CASE WHEN state = 'todo' THEN 'cancelled' ELSE ending END
WHERE id = :id AND state IN ('todo', 'doing')
RETURNING state
""",
}


def statements(dialect: str) -> dict[str, str]:
    """Every statement in the words of `dialect` (`sqlite`, `postgresql`)."""
    words = {"now": NOW[dialect], "skip_locked": _SKIP_LOCKED[dialect]}
    words["alone"] = _ALONE[dialect].format(**words)
    words["mine"] = _MINE
    words["sums"] = ", ".join(_SUM.format(seconds=seconds, window=window) for window, seconds in WINDOWS.items())
    words["longest"] = str(max(WINDOWS.values()))
    return {name: statement.format(**words) for name, statement in STATEMENTS.items()}
