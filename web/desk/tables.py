"""The desk's tables: drafts, what was published, what people let be read, how soon first words were.

Definitions only. The one rule: what is here and what `migrations/` arrives at are the same; a test compares them.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text

from database import Migrations

_TABLES = MetaData()
# `changes` is fields to values, `was` what each of them said when it was first changed; both JSON.
DRAFTS = Table(
    "desk_drafts",
    _TABLES,
    Column("bot", String(80), primary_key=True),
    Column("owner", String(200), primary_key=True),
    Column("changes", Text, nullable=False),
    Column("was", Text, nullable=False),
    Column("at_s", Float(53), nullable=False),
)
# The file as it was before, and the digest of what it became: undoing puts one back where the other still stands.
PUBLISHED = Table(
    "desk_published",
    _TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("bot", String(80), nullable=False),
    Column("owner", String(200), nullable=False),
    Column("name", String(80), nullable=False),
    Column("before", LargeBinary, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("keys", Text, nullable=False),
    Column("undone", Integer, nullable=False),
    Column("at_s", Float(53), nullable=False),
    Index("desk_published_of", "bot", "id"),
)
SHARED = Table(
    "desk_shared",
    _TABLES,
    Column("thread", String(64), primary_key=True),
    Column("subject", String(200), nullable=False),
    Column("bot", String(80), nullable=False),
    Column("at_s", Float(53), nullable=False),
)
FIRST_WORDS = Table(
    "desk_first_words",
    _TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("bot", String(80), nullable=False),
    Column("ms", Float(53), nullable=False),
    Column("at_s", Float(53), nullable=False),
    Index("desk_first_words_at", "at_s"),
)
MIGRATIONS = Migrations(Path(__file__).parent / "migrations", _TABLES, "owners_desk_version")
