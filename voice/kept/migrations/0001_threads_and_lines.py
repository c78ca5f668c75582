"""Threads and lines."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "threads",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("bot", sa.String(80), nullable=False),
        sa.Column("title", sa.String(80), nullable=False),
        sa.Column("began_s", sa.Float(53), nullable=False),
        sa.Column("said_s", sa.Float(53), nullable=False),
        sa.Column("forgotten_s", sa.Float(53)),
    )
    op.create_index("threads_newest", "threads", ["subject", "said_s", "id"])
    op.create_table(
        "lines",
        sa.Column("thread", sa.String(64), sa.ForeignKey("threads.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("item", sa.String(64), nullable=False),
        sa.Column("role", sa.String(12), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("said_s", sa.Float(53), nullable=False),
        sa.UniqueConstraint("thread", "item", name="lines_item"),
    )
