"""The two tables: threads, and the lines in them.

Definitions only. The one rule: what is here and what `migrations/` arrives at are the same; a test compares them.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text, UniqueConstraint

from database import Migrations

_TABLES = MetaData()

# A forgotten thread keeps its row for a day, without a word in it, so that a conversation that is still going on
# cannot bring it back.
THREADS = Table(
    "threads",
    _TABLES,
    Column("id", String(64), primary_key=True),
    Column("subject", String(200), nullable=False),
    Column("bot", String(80), nullable=False),
    Column("title", String(80), nullable=False),
    Column("began_s", Float(53), nullable=False),
    Column("said_s", Float(53), nullable=False),
    Column("forgotten_s", Float(53)),
    Index("threads_newest", "subject", "said_s", "id"),
)
LINES = Table(
    "lines",
    _TABLES,
    Column("thread", String(64), ForeignKey("threads.id", ondelete="CASCADE"), primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("item", String(64), nullable=False),
    Column("role", String(12), nullable=False),
    Column("text", Text, nullable=False),
    Column("said_s", Float(53), nullable=False),
    UniqueConstraint("thread", "item", name="lines_item"),
)
MIGRATIONS = Migrations(Path(__file__).parent / "migrations", _TABLES, "voice_version")
