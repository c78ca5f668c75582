"""One database behind one URL: SQLite and PostgreSQL, opened rightly, brought up to date. See README.md."""

from database.errors import DatabaseError, DatabaseRefused, DatabaseTooNew
from database.migrations import Migrations
from database.reach import Database, is_away

__all__ = ["Database", "DatabaseError", "DatabaseRefused", "DatabaseTooNew", "Migrations", "is_away"]
