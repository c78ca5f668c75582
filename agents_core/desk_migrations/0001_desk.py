"""Tickets, what people said to bots that remember, and since when it is forgotten."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0001", None


def upgrade() -> None:
    op.create_table(
        "tickets",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("run", sa.String(40), nullable=False),
        sa.Column("call", sa.String(120), nullable=False),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("bot", sa.String(80), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("at_s", sa.Float, nullable=False),
        sa.UniqueConstraint("run", "call", name="tickets_once"),
    )
    op.create_index("tickets_of", "tickets", ["subject"])
    op.create_table(
        "memories",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("person", sa.String(200), nullable=False),
        sa.Column("bot", sa.String(80), nullable=False),
        sa.Column("run", sa.String(40), nullable=False),
        sa.Column("said", sa.Text, nullable=False),
        sa.Column("model", sa.String(80), nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
        sa.Column("at_s", sa.Float, nullable=False),
        sa.UniqueConstraint("run", name="memories_once"),
    )
    op.create_index("memories_of", "memories", ["person", "bot"])
    op.create_table(
        "forgotten",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("person", sa.String(200), nullable=False),
        sa.Column("bot", sa.String(80), nullable=False),
        sa.Column("at_s", sa.Float, nullable=False),
    )
    op.create_index("forgotten_by", "forgotten", ["person", "bot"])
    # Earlier questions of one person to one bot are looked for by these.
    op.create_index("runs_about", "runs", ["subject", "bot", "created_s"])
