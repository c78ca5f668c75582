"""A database within reach, on SQLite and on PostgreSQL: transactions, two claimants, faults that pass and that stay."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from sqlalchemy import Column, Connection, Integer, MetaData, String, Table, insert, inspect, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

import database
from database import Database, DatabaseRefused, DatabaseTooNew, Migrations, is_away
from database.migrations import bring_up
from firstword.testing.postgres import Postgres

BEFORE = '''"""Boxes."""
import sqlalchemy as sa
from alembic import op
revision, down_revision = "0001", None
def upgrade():
    op.create_table("boxes", sa.Column("id", sa.Integer, primary_key=True))
    op.execute("INSERT INTO boxes (id) VALUES (7)")
'''
AFTER = '''"""A box has a name."""
import sqlalchemy as sa
from alembic import op
revision, down_revision = "0002", "0001"
def upgrade():
    with op.batch_alter_table("boxes") as boxes:
        boxes.add_column(sa.Column("name", sa.String(20), nullable=False, server_default="nameless"))
'''
TABLES = MetaData()
BOXES = Table("boxes", TABLES, Column("id", Integer, primary_key=True), Column("name", String(20), nullable=False))


@pytest.fixture
def boxes(tmp_path: Path) -> Migrations:
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "0001_boxes.py").write_text(BEFORE)
    (folder / "0002_name.py").write_text(AFTER)
    return Migrations(folder, TABLES, "boxes_version")


def test_the_room_offers_these_names() -> None:
    assert sorted(database.__all__) == [
        "Database", "DatabaseError", "DatabaseRefused", "DatabaseTooNew", "Migrations", "is_away",
    ]  # fmt: skip


async def test_an_empty_database_and_an_older_one_both_end_at_head(database_url: str, boxes: Migrations) -> None:
    there = Database(database_url)
    async with there.write() as connection:
        await connection.run_sync(bring_up, boxes, "0001")
    await there.bring_up(boxes)
    async with there.read() as connection:
        assert (await connection.execute(select(BOXES))).all() == [(7, "nameless")]
    await there.bring_up(boxes)
    await there.close()


async def test_processes_that_start_together_find_it_done_once(database_url: str, boxes: Migrations) -> None:
    several = [Database(database_url) for _ in range(4)]
    await asyncio.gather(*(one.bring_up(boxes) for one in several))
    async with several[0].read() as connection:
        assert (await connection.execute(select(BOXES.c.id))).scalars().all() == [7]
    for one in several:
        await one.close()


async def test_a_later_releases_database_is_refused_in_words(database_url: str, boxes: Migrations) -> None:
    there = Database(database_url)
    await there.bring_up(boxes)
    async with there.write() as connection:
        await connection.execute(text("UPDATE boxes_version SET version_num = '0099'"))
    with pytest.raises(DatabaseTooNew, match="later release"):
        await there.bring_up(boxes)
    await there.close()


async def test_a_migration_that_breaks_leaves_nothing_behind(database_url: str, boxes: Migrations) -> None:
    (boxes.folder / "0003_breaks.py").write_text(
        'from alembic import op\nrevision, down_revision = "0003", "0002"\n'
        'def upgrade():\n    op.execute("INSERT INTO boxes (id) VALUES (8)")\n    op.execute("NO SUCH THING")\n'
    )
    there = Database(database_url)
    with pytest.raises(DBAPIError):
        await there.bring_up(boxes)
    async with there.read() as connection:
        assert await connection.run_sync(lambda db: inspect(db).get_table_names()) == []
    await there.close()


async def test_no_two_tasks_take_the_same_row(database_url: str, boxes: Migrations) -> None:
    there = Database(database_url)
    await there.bring_up(boxes)
    async with there.write() as connection:
        await connection.execute(insert(BOXES), [{"id": n, "name": "free"} for n in range(100, 160)])
    taken: list[int] = []
    locked = " FOR UPDATE SKIP LOCKED" if there.dialect == "postgresql" else ""

    async def take() -> None:
        while True:
            async with there.write() as connection:
                free = text(f"SELECT id FROM boxes WHERE name = 'free' LIMIT 1{locked}")
                row = (await connection.execute(free)).one_or_none()
                if row is None:
                    return
                await connection.execute(text("UPDATE boxes SET name = 'taken' WHERE id = :id"), {"id": row.id})
            taken.append(row.id)

    await asyncio.gather(*(take() for _ in range(4)))
    assert sorted(taken) == list(range(100, 160))
    await there.close()


async def test_a_reader_does_not_wait_for_a_writer(database_url: str, boxes: Migrations) -> None:
    there = Database(database_url)
    await there.bring_up(boxes)
    async with there.write() as writer:
        await writer.execute(insert(BOXES).values(id=9, name="half done"))
        async with there.read() as reader:
            assert (await reader.execute(select(BOXES.c.id))).scalars().all() == [7]
    await there.close()


async def test_a_killed_server_is_away_and_is_there_again_after_its_start(postgres: Postgres) -> None:
    postgres.start()
    there = Database(postgres.fresh())

    async def ask() -> int | None:
        async with there.read() as connection:
            return (await connection.execute(text("SELECT 1"))).scalar()

    assert await ask() == 1
    postgres.kill()
    fault: Exception | None = None
    try:
        await ask()
    except Exception as raised:
        fault = raised
    assert fault is not None
    assert is_away(fault)
    postgres.start()
    assert await ask() == 1
    await there.close()


async def test_a_statement_that_can_never_work_is_not_taken_for_a_database_away(database_url: str) -> None:
    there = Database(database_url)
    async with there.write() as connection:
        await connection.execute(text("CREATE TABLE one (id INTEGER PRIMARY KEY)"))
        await connection.execute(text("INSERT INTO one (id) VALUES (1)"))
    with pytest.raises(DBAPIError) as fault:
        async with there.write() as connection:
            await connection.execute(text("INSERT INTO one (id) VALUES (1)"))
    assert not is_away(fault.value)
    await there.close()


async def test_a_removed_file_is_noticed_and_nothing_is_written_into_the_void(
    tmp_path: Path, boxes: Migrations
) -> None:
    there = Database(f"sqlite:///{tmp_path / 'folder' / 'here.db'}")
    await there.bring_up(boxes)
    shutil.rmtree(tmp_path / "folder")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DBAPIError, match="no such table"):
        async with there.write() as connection:
            await connection.execute(insert(BOXES).values(id=1, name="lost"))
    await there.bring_up(boxes)
    async with there.write() as connection:
        await connection.execute(insert(BOXES).values(id=1, name="kept"))
    assert (tmp_path / "folder" / "here.db").exists()
    await there.close()


async def test_a_locked_file_is_away_and_there_again(
    tmp_path: Path, boxes: Migrations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("database.reach.BUSY_MS", 1)
    url = f"sqlite:///{tmp_path / 'here.db'}"
    there, other = Database(url), Database(url)
    await there.bring_up(boxes)
    async with other.write():
        with pytest.raises(DBAPIError) as fault:
            async with there.write():
                pass
    assert is_away(fault.value)
    async with there.write() as connection:
        await connection.execute(insert(BOXES).values(id=1, name="kept"))
    await there.close()
    await other.close()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nonsense", "the database URL is none"),
        ("mysql://root@localhost/x", "use SQLite or PostgreSQL"),
        ("postgresql+nodriver://x@/y", "firstword\\[postgres\\]"),
    ],
    ids=["no-url", "another-database", "no-driver"],
)
def test_a_url_that_opens_nothing_is_refused_in_words(url: str, says: str) -> None:
    with pytest.raises(DatabaseRefused, match=says):
        Database(url)


async def test_nobody_there_is_said_without_the_password(tmp_path: Path, boxes: Migrations) -> None:
    there = Database(f"postgres://ada:pa55word@/none?host={tmp_path}")
    with pytest.raises(DatabaseRefused, match="cannot be used") as fault:
        await there.bring_up(boxes)
    assert "pa55word" not in str(fault.value)
    await there.close()


async def test_a_file_that_is_no_database_and_a_folder_that_cannot_be_are_said_in_words(
    tmp_path: Path, boxes: Migrations
) -> None:
    file = tmp_path / "notes.db"
    file.write_text("shopping: bread, butter\n" * 100)
    there = Database(f"sqlite:///{file}")
    with pytest.raises(DatabaseRefused, match=r"notes\.db cannot be used: file is not a database"):
        await there.bring_up(boxes)
    await there.close()
    with pytest.raises(DatabaseRefused, match=r"folder .*notes\.db cannot be made"):
        Database(f"sqlite:///{file}/firstword.db")


async def test_a_server_without_our_database_or_our_name_says_so_in_words(
    postgres: Postgres, boxes: Migrations
) -> None:
    postgres.start()
    url = make_url(postgres.fresh())
    for wrong, says in (({"database": "no_such"}, '"no_such" does not exist'), ({"username": "nobody"}, "nobody")):
        there = Database(url.set(**wrong).render_as_string(hide_password=False))
        with pytest.raises(DatabaseRefused, match=says):
            await there.bring_up(boxes)
        await there.close()


def test_plain_urls_get_their_async_driver(tmp_path: Path) -> None:
    assert Database(f"sqlite:///{tmp_path / 'a.db'}").url.drivername == "sqlite+aiosqlite"
    assert Database("postgres://ada@localhost/x").url.drivername == "postgresql+asyncpg"


async def test_a_fault_does_not_repeat_what_was_to_be_written(database_url: str, boxes: Migrations) -> None:
    there = Database(database_url)
    await there.bring_up(boxes)
    row = {"id": 7, "name": "what somebody said"}

    async def writes() -> None:
        async with there.write() as connection:
            await connection.execute(insert(BOXES), row)

    for write in (writes, lambda: there.act(lambda db: db.execute(insert(BOXES), row))):
        with pytest.raises(DBAPIError) as caught:
            await write()
        assert "somebody" not in str(caught.value)
    await there.close()


async def test_work_that_was_begun_is_finished_though_nobody_waits_for_it(database_url: str, boxes: Migrations) -> None:
    there = Database(database_url)
    await there.bring_up(boxes)
    doing = asyncio.create_task(there.act(lambda db: db.execute(insert(BOXES), {"id": 8, "name": "kept"}).rowcount))
    await asyncio.sleep(0)
    doing.cancel()
    await asyncio.wait({doing})
    assert doing.cancelled()
    names = await there.act(lambda db: db.execute(select(BOXES.c.name)).scalars().all(), reads=True)
    assert names == ["nameless", "kept"]
    await there.close()


async def test_work_that_raises_leaves_nothing_behind(database_url: str, boxes: Migrations) -> None:
    there = Database(database_url)
    await there.bring_up(boxes)

    def half(db: Connection) -> None:
        db.execute(insert(BOXES), {"id": 8, "name": "half"})
        raise ValueError("the other half")

    with pytest.raises(ValueError, match="other half"):
        await there.act(half)
    assert len(await there.act(lambda db: db.execute(select(BOXES)).all(), reads=True)) == 1
    await there.close()
