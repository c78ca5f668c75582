"""What can go wrong before a database is usable.

DatabaseError
├── DatabaseRefused    the URL cannot be used: its shape, its driver, or nobody there; the message says what to do
└── DatabaseTooNew     a later release wrote this database
"""

from __future__ import annotations


class DatabaseError(Exception):
    """The message says what happened and what to do. A password in a URL never appears in it."""


class DatabaseRefused(DatabaseError):
    """This URL opens nothing here."""


class DatabaseTooNew(DatabaseError):
    """The tables are of a later release than this program."""
