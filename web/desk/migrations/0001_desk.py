"""Drafts, what was published, conversations that people let be read, and how soon first words were."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "desk_drafts",
        sa.Column("bot", sa.String(80), primary_key=True),
        sa.Column("owner", sa.String(200), primary_key=True),
        sa.Column("changes", sa.Text, nullable=False),
        sa.Column("was", sa.Text, nullable=False),
        sa.Column("at_s", sa.Float(53), nullable=False),
    )
    op.create_table(
        "desk_published",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("bot", sa.String(80), nullable=False),
        sa.Column("owner", sa.String(200), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("before", sa.LargeBinary, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("keys", sa.Text, nullable=False),
        sa.Column("undone", sa.Integer, nullable=False),
        sa.Column("at_s", sa.Float(53), nullable=False),
    )
    op.create_index("desk_published_of", "desk_published", ["bot", "id"])
    op.create_table(
        "desk_shared",
        sa.Column("thread", sa.String(64), primary_key=True),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("bot", sa.String(80), nullable=False),
        sa.Column("at_s", sa.Float(53), nullable=False),
    )
    op.create_table(
        "desk_first_words",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("bot", sa.String(80), nullable=False),
        sa.Column("ms", sa.Float(53), nullable=False),
        sa.Column("at_s", sa.Float(53), nullable=False),
    )
    op.create_index("desk_first_words_at", "desk_first_words", ["at_s"])
