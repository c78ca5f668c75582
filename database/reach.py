"""A database within reach: reads and writes as transactions, on SQLite and on PostgreSQL alike.

It knows no table. The one rule: a transaction that may write begins as a writer. SQLAlchemy's async SQLite at its
defaults begins late and hands the same row to two tasks without an error (465 claims for 200 rows, measured);
`isolation_level=None` with `BEGIN IMMEDIATE` closes that for every transaction here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, NoSuchModuleError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from database.errors import DatabaseRefused
from database.migrations import Migrations, bring_up

# SQLite waits this long for another writer before it says "locked". A write here takes about a millisecond.
BUSY_MS = 5000
# PostgreSQL: to be let in, and for one statement. A conversation waits for neither; its lines are queued.
_CONNECT_S = 5.0
_STATEMENT_S = 15.0
# PostgreSQL's classes: connection, read-only, conflict, resources, not ready, operator, system (manual, appendix A).
_STATES_AWAY = ("08", "25006", "40", "53", "55", "57", "58")
# SQLite's result codes, with whatever they carry after them: sqlite.org/rescode.html.
_NAMES_AWAY = tuple(
    f"SQLITE_{name}" for name in ("BUSY", "LOCKED", "IOERR", "CANTOPEN", "FULL", "READONLY", "PROTOCOL")
)
# Nobody lets us in, there is no such database, we may not; and a file that is none, or is broken.
_STATES_SHUT = ("28", "3D", "42501")
_NAMES_SHUT = ("SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_AUTH", "SQLITE_PERM")
T = TypeVar("T")
_DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg", "postgres": "postgresql+asyncpg"}


class Database:
    """The database at `url` (SQLAlchemy's form; `sqlite://` and `postgresql://` get their async driver).

    Nothing is connected until it is used. Raises `DatabaseRefused` where the URL can never be.
    """

    def __init__(self, url: str) -> None:
        self.url = _url(url)
        self.engine = _sqlite(self.url) if self.url.get_backend_name() == "sqlite" else _server(self.url)
        self._reading = self.engine.execution_options(reads=True)
        is_file = self.url.get_backend_name() == "sqlite" and not _in_memory(self.url)
        self._thread = _Thread(self.url) if is_file else None

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self.engine.dialect.name

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """One transaction that may write; it is there whole or not at all."""
        async with self.engine.begin() as connection:
            yield connection

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """One transaction that only reads, and waits for no writer."""
        async with self._reading.begin() as connection:
            yield connection

    async def act(self, work: Callable[[Connection], T], *, reads: bool = False) -> T:
        """Do `work` as one transaction, there whole or not at all, and give what it returns.

        On an SQLite file all of it is one visit to a thread kept for it; statement by statement each would be two hops
        between threads (a turn's rows: 2.0 ms so, 0.9 ms this way, measured). What was begun is finished even where
        whoever waits is cancelled, so that nobody has to guess whether it was written.
        """
        doing = asyncio.ensure_future(self._act(work, reads))
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            await asyncio.wait({doing})
            raise

    async def _act(self, work: Callable[[Connection], T], reads: bool) -> T:
        if self._thread is not None:
            return await self._thread.act(work, reads)
        async with self.read() if reads else self.write() as connection:
            return await connection.run_sync(work)

    async def bring_up(self, migrations: Migrations) -> None:
        """Bring a room's tables to the newest form, once, however many processes start at the same moment.

        Raises `DatabaseTooNew`, and `DatabaseRefused` where nobody answers or lets us in.
        """
        try:
            async with self.write() as connection:
                await connection.run_sync(bring_up, migrations)
        except Exception as fault:
            if not (is_away(fault) or _says(fault, _STATES_SHUT, _NAMES_SHUT)):
                raise
            raise DatabaseRefused(f"the database at {self} cannot be used: {_first_line(fault)}") from fault

    async def close(self) -> None:
        """Close every connection. Safe to call twice."""
        await self.engine.dispose()
        if self._thread is not None:
            await self._thread.close()

    def __str__(self) -> str:
        return self.url.render_as_string(hide_password=True)


class _Thread:
    """An SQLite file's transactions, one after the other on a thread of their own: SQLite has one writer anyway."""

    def __init__(self, url: URL) -> None:
        self._engine = create_engine(
            url.set(drivername="sqlite+pysqlite"), pool_size=1, pool_reset_on_return=None, hide_parameters=True
        )
        _listen(self._engine, str(url.database))
        self._reading = self._engine.execution_options(reads=True)
        self._worker = ThreadPoolExecutor(1, "database")

    async def act(self, work: Callable[[Connection], T], reads: bool) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._one, work, reads)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._worker.shutdown)
        self._engine.dispose()

    def _one(self, work: Callable[[Connection], T], reads: bool) -> T:
        with (self._reading if reads else self._engine).begin() as connection:
            return work(connection)


def is_away(fault: BaseException) -> bool:
    """Whether `fault` is the database being away, locked or full, so that the same statement may work later."""
    if isinstance(fault, OSError | asyncio.TimeoutError):
        return True
    if isinstance(fault, DBAPIError) and fault.connection_invalidated:
        return True
    return _says(fault, _STATES_AWAY, _NAMES_AWAY)


def _says(fault: BaseException, states: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Whether a fault of a database carries one of PostgreSQL's states, or SQLite's names, that begin so."""
    # A server that does not let us in says so in asyncpg's own words, which SQLAlchemy does not wrap.
    cause = fault.orig if isinstance(fault, DBAPIError) else fault
    state, name = str(getattr(cause, "sqlstate", None) or ""), str(getattr(cause, "sqlite_errorname", ""))
    return state.startswith(states) or name.startswith(names)


def _url(given: str) -> URL:
    try:
        url = make_url(given)
    except ArgumentError as fault:
        raise DatabaseRefused(
            "the database URL is none; write sqlite:////folder/firstword.db or postgresql://user:password@host/name"
        ) from fault
    if url.drivername in _DRIVERS:
        url = url.set(drivername=_DRIVERS[url.drivername])
    if url.get_backend_name() not in _DRIVERS:
        raise DatabaseRefused(f"{url.drivername!r} is no database used here; use SQLite or PostgreSQL")
    return url


def _server(url: URL) -> AsyncEngine:
    try:
        # A pooled connection may be older than the server's last restart: it is tried before it is used.
        # Hidden parameters: what somebody said would be in the words of a fault, and so in the log.
        options: dict[str, Any] = {"pool_pre_ping": True, "hide_parameters": True}
        if url.drivername == _DRIVERS["postgresql"]:
            options["connect_args"] = {"timeout": _CONNECT_S, "command_timeout": _STATEMENT_S}
        return create_async_engine(url, **options)
    except (ModuleNotFoundError, NoSuchModuleError) as fault:
        raise DatabaseRefused(
            f"{url.drivername} needs a driver that is not installed: pip install 'firstword[postgres]'"
        ) from fault


def _sqlite(url: URL) -> AsyncEngine:
    # Every transaction here ends itself, so giving a connection back need not roll back once more.
    options: dict[str, Any] = {
        "poolclass": AsyncAdaptedQueuePool,
        "pool_reset_on_return": None,
        "hide_parameters": True,
    }
    if _in_memory(url):
        # Each connection would have a database of its own.
        options |= {"pool_size": 1, "max_overflow": 0}
    else:
        folder = Path(str(url.database)).parent
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as fault:
            raise DatabaseRefused(f"the database's folder {folder} cannot be made: {fault.strerror}") from fault
    engine = create_async_engine(url, **options)
    _listen(engine.sync_engine, str(url.database or ""))
    return engine


def _in_memory(url: URL) -> bool:
    return url.database in (None, "", ":memory:")


def _listen(engine: Engine, file: str) -> None:
    @event.listens_for(engine, "connect")
    def _connect(connection: Any, record: Any) -> None:
        # The driver's own transaction handling would send a plain BEGIN late; ours begins as what it is.
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in (f"busy_timeout={BUSY_MS}", "journal_mode=WAL", "foreign_keys=ON", "synchronous=NORMAL"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()
        record.info["file"] = _file_id(file)

    @event.listens_for(engine, "checkout")
    def _checkout(_connection: object, record: Any, _proxy: object) -> None:
        # A file that was removed or put back from a copy: what is written to the old one would be lost in silence.
        if record.info.get("file") != _file_id(file):
            raise DisconnectionError("the database file is another one")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        reads = connection.get_execution_options().get("reads", False)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _file_id(path: str) -> tuple[int, int] | None:
    try:
        told = os.stat(path)  # noqa: PTH116 - on the way of every transaction
    except OSError:
        return None
    return told.st_dev, told.st_ino


def _first_line(fault: BaseException) -> str:
    return str(getattr(fault, "orig", None) or fault).strip().split("\n", 1)[0] or type(fault).__name__
