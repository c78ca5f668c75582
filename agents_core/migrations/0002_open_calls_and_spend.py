"""Calls that are begun before they are answered, what people spend, and an index of what is open only."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0002", "0001"

_OPEN = sa.text("state IN ('todo', 'doing')")


def upgrade() -> None:
    op.add_column("steps", sa.Column("open", sa.Integer, nullable=False, server_default="0"))
    op.drop_index("ix_runs_state", "runs", if_exists=True)
    op.create_index("runs_open", "runs", ["lease_until_s"], sqlite_where=_OPEN, postgresql_where=_OPEN)
    op.create_table(
        "spend",
        sa.Column("run", sa.String(40), primary_key=True),
        sa.Column("person", sa.String(200), nullable=False),
        sa.Column("bot", sa.String(80), nullable=False),
        sa.Column("at_s", sa.Float, nullable=False),
        sa.Column("micro", sa.BigInteger, nullable=False),
        sa.Column("settled", sa.Integer, nullable=False),
    )
    op.create_index("spend_by", "spend", ["person", "bot", "at_s"])
