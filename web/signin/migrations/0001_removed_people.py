"""People who were removed."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "removed_people",
        sa.Column("subject", sa.String(200), primary_key=True),
        sa.Column("removed_s", sa.Float(53), nullable=False),
    )
