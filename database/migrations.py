"""A room's tables brought to their newest form by alembic, from files that ship in the room's own package.

It is no command line and writes no migration. The one rule: each room has its own version table in the one database,
so that rooms move on their own; and of processes that start together one moves it and the others find it done.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, MetaData, text

from database.errors import DatabaseTooNew

_SCRIPTS = Path(__file__).parent / "scripts"


@dataclass(frozen=True, slots=True)
class Migrations:
    """`folder` of revision files; the `tables` as they are at its head; `name` of the room's version table."""

    folder: Path
    tables: MetaData
    name: str


def bring_up(connection: Connection, migrations: Migrations, revision: str = "head") -> None:
    """Run what is missing, inside the transaction of `connection`. Raises `DatabaseTooNew`."""
    # Imported where it is used: a command line that opens no database does not wait for it.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    if connection.dialect.name == "postgresql":
        # SQLite's transaction is the only writer already; here the name is the lock.
        key = zlib.crc32(migrations.name.encode())
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.set_main_option("version_locations", str(migrations.folder).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    config.attributes.update(connection=connection, migrations=migrations)
    try:
        command.upgrade(config, revision)
    except CommandError as fault:
        if "locate revision" not in str(fault):
            raise
        raise DatabaseTooNew(
            f"a later release wrote {migrations.name!r} in this database; install that release, or name another "
            "database in FIRSTWORD_DATABASE_URL"
        ) from fault
