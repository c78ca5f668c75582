"""What alembic runs for each upgrade: on the connection it is given, in the transaction that is open already."""

from __future__ import annotations

from alembic import context

_given = context.config.attributes
context.configure(
    connection=_given["connection"],
    target_metadata=_given["migrations"].tables,
    version_table=_given["migrations"].name,
    # SQLite alters a table by copying it.
    render_as_batch=True,
    transactional_ddl=True,
)
context.run_migrations()
