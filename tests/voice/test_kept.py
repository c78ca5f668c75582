"""Kept conversations on SQLite and on PostgreSQL: whose they are, what is listed, what stands of a line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, text

from database import Database
from firstword.testing.clock import VirtualClock
from voice.errors import ThreadNotThere
from voice.kept import MIGRATIONS, Kept, KeptLine
from voice.kept.lines import TITLE_CHARS, plain, title_of


@pytest.fixture
async def kept(database_url: str) -> AsyncIterator[Kept]:
    clock = VirtualClock()

    def now() -> float:
        return clock.forward(1.0)

    names = iter(f"t{n}" for n in range(1_000))
    there = Kept(Database(database_url), now=now, new_id=lambda: next(names))
    await there.open()
    yield there
    await there.close()


def said(lines: list[KeptLine]) -> list[tuple[str, str]]:
    return [(line.role, line.text) for line in lines]


async def test_models_and_migrations_agree(database_url: str) -> None:
    there = Database(database_url)
    await there.bring_up(MIGRATIONS)

    def differences(connection: Connection) -> list[object]:
        def ours(_object: object, name: str | None, type_: str, *_rest: object) -> bool:
            return type_ != "table" or name in MIGRATIONS.tables.tables

        options = {"include_object": ours, "version_table": MIGRATIONS.name, "compare_type": True}
        context = MigrationContext.configure(connection, opts=options)
        return list(compare_metadata(context, MIGRATIONS.tables))

    async with there.read() as connection:
        assert await connection.run_sync(differences) == []
    await there.close()


async def test_a_line_is_in_the_database_as_it_is_said(kept: Kept) -> None:
    talk = kept.begin("ada", "guide")
    talk.said("i1", "user", "What is the first word?")
    await kept.scribe.written()
    assert said((await kept.read("ada", "t0"))[1]) == [("user", "What is the first word?")]
    talk.said("i2", "assistant", "The only one anybody waits for.")
    await kept.scribe.written()
    assert len((await kept.read("ada", "t0"))[1]) == 2


async def test_what_was_heard_takes_the_place_of_what_was_said(kept: Kept) -> None:
    talk = kept.begin("ada", "guide")
    talk.said("i1", "user", "Go on.")
    talk.said("i2", "assistant", "A very long answer that nobody heard to its end.")
    await kept.scribe.written()
    talk.said("i3", "user", "Stop.")
    talk.said("i2", "assistant", "A very long —")
    await kept.scribe.written()
    assert said((await kept.read("ada", "t0"))[1]) == [
        ("user", "Go on."), ("assistant", "A very long —"), ("user", "Stop."),
    ]  # fmt: skip


async def test_an_answer_of_which_nothing_was_heard_is_no_line(kept: Kept) -> None:
    talk = kept.begin("ada", "guide")
    talk.said("i1", "user", "Go on.")
    talk.said("i2", "assistant", "Never heard.")
    await kept.scribe.written()
    talk.said("i2", "assistant", "")
    await kept.scribe.written()
    assert said((await kept.read("ada", "t0"))[1]) == [("user", "Go on.")]


async def test_a_thread_nobody_spoke_in_is_never_listed(kept: Kept) -> None:
    talk = kept.begin("ada", "guide")
    talk.said("i1", "assistant", "Ask me anything.")
    talk.said("i2", "user", " \0 ")
    await kept.scribe.written()
    assert await kept.threads("ada") == []
    talk.said("i3", "user", "Who are you?")
    await kept.scribe.written()
    assert [thread.title for thread in await kept.threads("ada")] == ["Who are you?"]
    assert said((await kept.read("ada", "t0"))[1])[0] == ("assistant", "Ask me anything.")


async def test_threads_are_listed_newest_first_a_page_at_a_time(kept: Kept) -> None:
    talks = [kept.begin("ada", "guide" if n % 2 else "host") for n in range(7)]
    for n, talk in enumerate(talks):
        talk.said(f"i{n}", "user", f"Question {n}")
    talks[2].said("again", "user", "One more.")
    await kept.scribe.written()
    listed = await kept.threads("ada", limit=4)
    assert [thread.id for thread in listed] == ["t2", "t6", "t5", "t4"]
    rest = await kept.threads("ada", before=(listed[-1].said_s, listed[-1].id))
    assert [thread.id for thread in rest] == ["t3", "t1", "t0"]
    assert [thread.id for thread in await kept.threads("ada", "guide")] == ["t5", "t3", "t1"]
    assert await kept.threads("bo") == []


async def test_not_yours_and_not_there_are_the_same_answer(kept: Kept) -> None:
    kept.begin("ada", "guide").said("i1", "user", "Mine alone.")
    await kept.scribe.written()
    answers = []
    for subject, bot, thread in [("bo", "guide", "t0"), ("ada", "guide", "t99"), ("ada", "host", "t0")]:
        with pytest.raises(ThreadNotThere) as refused:
            await kept.go_on(subject, bot, thread)
        answers.append(str(refused.value))
    for thread in ("t0", "t99"):
        with pytest.raises(ThreadNotThere) as refused:
            await kept.forget("bo", thread)
        answers.append(str(refused.value))
    assert len(set(answers)) == 1
    assert len((await kept.read("ada", "t0"))[1]) == 1


async def test_a_line_goes_into_nobody_elses_thread(kept: Kept) -> None:
    kept.begin("ada", "guide").said("i1", "user", "Mine alone.")
    await kept.scribe.written()
    kept.go_on_unread("bo", "guide", "t0").said("i2", "user", "Mine too?")
    kept.go_on_unread("ada", "host", "t0").said("i3", "user", "To another bot?")
    await kept.scribe.written()
    assert said((await kept.read("ada", "t0"))[1]) == [("user", "Mine alone.")]
    assert await kept.threads("bo") == []


async def test_a_conversation_goes_on_where_it_was_left(kept: Kept) -> None:
    kept.begin("ada", "guide").said("i1", "user", "First.")
    await kept.scribe.written()
    talk, lines = await kept.go_on("ada", "guide", "t0")
    assert said(lines) == [("user", "First.")]
    talk.said("i2", "user", "Second.")
    assert said((await kept.read("ada", "t0"))[1]) == [("user", "First."), ("user", "Second.")]
    assert [thread.title for thread in await kept.threads("ada")] == ["First."]


async def test_a_line_told_again_is_not_there_twice(kept: Kept) -> None:
    talk = kept.begin("ada", "guide")
    talk.said("i1", "user", "First.")
    await kept.scribe.written()
    again = kept.go_on_unread("ada", "guide", "t0")
    again.said("i1", "user", "First.")
    again.said("i2", "user", "Second.")
    await kept.scribe.written()
    assert said((await kept.read("ada", "t0"))[1]) == [("user", "First."), ("user", "Second.")]


async def test_two_sessions_in_one_thread_lose_no_line(kept: Kept) -> None:
    kept.begin("ada", "guide").said("i0", "user", "First.")
    other = Kept(kept._database)
    other.scribe.start()
    here, there = kept.go_on_unread("ada", "guide", "t0"), other.go_on_unread("ada", "guide", "t0")
    for n in range(20):
        here.said(f"a{n}", "user", f"here {n}")
        there.said(f"b{n}", "user", f"there {n}")
        await asyncio.sleep(0)
    await asyncio.gather(kept.scribe.written(), other.scribe.written())
    lines = [line for _, line in said((await kept.read("ada", "t0"))[1])]
    assert [line for line in lines if line.startswith("here")] == [f"here {n}" for n in range(20)]
    assert [line for line in lines if line.startswith("there")] == [f"there {n}" for n in range(20)]
    await other.scribe.close()


async def test_forgotten_is_forgotten_even_while_it_is_going_on(kept: Kept, database_url: str) -> None:
    talk = kept.begin("ada", "guide")
    talk.said("i1", "user", "A secret.")
    await kept.forget("ada", "t0")
    talk.said("i2", "user", "More of it.")
    await kept.scribe.written()
    with pytest.raises(ThreadNotThere):
        await kept.read("ada", "t0")
    assert await kept.threads("ada") == []
    there = Database(database_url)
    async with there.read() as db:
        assert (await db.execute(text("SELECT text FROM lines"))).all() == []
        assert (await db.execute(text("SELECT title FROM threads"))).scalars().all() == [""]
    await there.close()


async def test_what_a_client_sends_is_kept_whatever_it_is(kept: Kept) -> None:
    talk = kept.begin("ada", "guide")
    odd = ["\0nul\0", "half \ud800 a pair", "x" * 100_000, "' ; DROP TABLE lines; --", "🎧" * 400, "\n\n one \n two"]
    for n, line in enumerate(odd):
        talk.said(f"i{n}" * 40, "user", line)
    await kept.scribe.written()
    lines = (await kept.read("ada", "t0"))[1]
    assert len(lines) == len(odd)
    assert lines[0].text == "nul"
    assert lines[3].text == odd[3]


@pytest.mark.parametrize(
    ("first", "title"),
    [
        ("What is it?", "What is it?"),
        ("  one\n two\t three ", "one two three"),
        ("word " * 40, "word " * 15 + "word…"),
        ("長" * 200, "長" * 79 + "…"),
        ("\0\n ", ""),
    ],
    ids=["short", "lines", "long", "one-word", "blank"],
)
def test_a_title_is_the_first_thing_they_said_trimmed_to_a_line(first: str, title: str) -> None:
    assert title_of(first) == title


@given(st.text())
def test_any_title_is_one_line_that_fits(first: str) -> None:
    title = title_of(first)
    assert len(title) <= TITLE_CHARS
    assert title == " ".join(title.split())
    assert plain(title) == title


async def test_a_database_of_an_older_release_gets_the_tables(database_url: str, kept: Kept) -> None:
    """The older release knew no threads: its own tables stay as they are."""
    there = Database(database_url)
    async with there.write() as db:
        await db.execute(text("DROP TABLE lines"))
        await db.execute(text("DROP TABLE threads"))
        await db.execute(text("DROP TABLE voice_version"))
        await db.execute(text("CREATE TABLE runs (id VARCHAR(40) PRIMARY KEY)"))
        await db.execute(text("INSERT INTO runs VALUES ('r1')"))
    await there.bring_up(MIGRATIONS)
    async with there.read() as db:
        assert (await db.execute(text("SELECT id FROM runs"))).scalars().all() == ["r1"]
        assert (await db.execute(text("SELECT version_num FROM voice_version"))).scalars().all() == ["0001"]
    await there.close()
