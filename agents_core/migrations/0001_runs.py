"""Runs and their steps. A database that was made before versions were counted has these tables already."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0001", None


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("schema_version", sa.Integer, nullable=False),
        sa.Column("bot", sa.String(80), nullable=False),
        sa.Column("room", sa.String(200), nullable=False),
        sa.Column("asker", sa.String(200), nullable=False),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("ask", sa.Text, nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("ending", sa.String(20)),
        sa.Column("answer", sa.Text),
        sa.Column("reason", sa.Text),
        sa.Column("owner", sa.String(40)),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("lease_until_s", sa.Float, nullable=False),
        sa.Column("cancel", sa.Integer, nullable=False),
        sa.Column("created_s", sa.Float, nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "steps",
        sa.Column("run", sa.String(40), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True),
        sa.Column("at_s", sa.Float, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
        if_not_exists=True,
    )
