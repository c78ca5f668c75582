"""Kept conversations over HTTP: whose they are, a page at a time, forgotten; and a database that is away."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI, Request

from database import Database
from firstword.testing.postgres import Postgres
from voice.kept import Kept
from web import Asker, create_threads


@dataclass
class Drawer:
    """The routes, with whoever the header `who` names signed in."""

    kept: Kept
    client: httpx2.AsyncClient

    async def ask(self, method: str, path: str, who: str = "ada") -> httpx2.Response:
        return await self.client.request(method, path, headers={"who": who})

    async def say(self, *lines: str, subject: str = "ada", bot: str = "guide") -> str:
        talk = self.kept.begin(subject, bot)
        for n, line in enumerate(lines):
            talk.said(f"{talk.thread}-{n}", "assistant" if n % 2 else "user", line)
        await self.kept.scribe.written()
        return talk.thread


@contextlib.asynccontextmanager
async def opened(url: str) -> AsyncIterator[Drawer]:
    async def who(request: Request) -> Asker | None:
        name, _, bot = request.headers["who"].partition("@")
        return Asker(name, bot or None) if name else None

    kept = Kept(Database(url))
    await kept.open()
    app = FastAPI()
    app.include_router(create_threads(kept, who))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://here") as client:
        yield Drawer(kept, client)
    await kept.close()


@pytest.fixture
async def drawer(tmp_path: Path) -> AsyncIterator[Drawer]:
    async with opened(f"sqlite:///{tmp_path / 'here.db'}") as there:
        yield there


async def test_a_person_lists_reads_and_forgets_their_own(drawer: Drawer) -> None:
    thread = await drawer.say("What is it?", "It is noon.")
    listed = await drawer.ask("GET", "/app/threads")
    assert [(one["id"], one["bot"], one["title"]) for one in listed.json()["threads"]] == [
        (thread, "guide", "What is it?")
    ]
    assert listed.headers["cache-control"] == "no-store"
    read = (await drawer.ask("GET", f"/app/threads/{thread}")).json()
    assert [(line["role"], line["text"]) for line in read["lines"]] == [
        ("user", "What is it?"), ("assistant", "It is noon."),
    ]  # fmt: skip
    assert (await drawer.ask("DELETE", f"/app/threads/{thread}")).status_code == 204
    assert (await drawer.ask("GET", f"/app/threads/{thread}")).status_code == 404
    assert (await drawer.ask("GET", "/app/threads")).json()["threads"] == []


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_not_yours_and_not_there_are_one_answer(drawer: Drawer, method: str) -> None:
    thread = await drawer.say("Mine alone.")
    answers = [
        await drawer.ask(method, f"/app/threads/{thread}", "bo"),
        await drawer.ask(method, "/app/threads/thread_of_nobody", "bo"),
        await drawer.ask(method, f"/app/threads/{thread}", "ada@host"),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    assert (await drawer.ask("GET", f"/app/threads/{thread}")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/app/threads"), ("GET", "/app/threads/any"), ("DELETE", "/app/threads/any")]
)
async def test_a_stranger_is_told_to_sign_in(drawer: Drawer, method: str, path: str) -> None:
    assert (await drawer.ask(method, path, "")).status_code == 401


async def test_pages_follow_one_another_without_a_gap(drawer: Drawer) -> None:
    threads = [await drawer.say(f"Question {n}") for n in range(7)]
    seen: list[str] = []
    following: str | None = ""
    while following is not None:
        page = (await drawer.ask("GET", f"/app/threads?limit=3&before={following}")).json()
        seen += [one["id"] for one in page["threads"]]
        following = page["next"]
    assert seen == threads[::-1]


@pytest.mark.parametrize("before", ["nonsense", "1.5~", "x~y", "~y"])
async def test_a_cursor_of_nobody_is_refused_in_words(drawer: Drawer, before: str) -> None:
    refused = await drawer.ask("GET", f"/app/threads?before={before}")
    assert refused.status_code == 400
    assert "before" in refused.json()["error"]["message"]


async def test_a_bots_page_lists_its_own_and_a_grant_no_other(drawer: Drawer) -> None:
    guide, host = await drawer.say("One."), await drawer.say("Two.", bot="host")

    async def listed(path: str, who: str = "ada") -> list[str]:
        return [one["id"] for one in (await drawer.ask("GET", path, who)).json()["threads"]]

    assert await listed("/app/threads?bot=guide") == [guide]
    assert await listed("/app/threads", "ada@host") == [host]
    assert await listed("/app/threads?bot=guide", "ada@host") == []


async def test_a_database_that_is_away_is_said_and_comes_back(postgres: Postgres) -> None:
    postgres.start()
    async with opened(postgres.fresh()) as drawer:
        thread = await drawer.say("Still there?")
        postgres.kill()
        for method, path in (("GET", "/app/threads"), ("GET", f"/app/threads/{thread}"), ("DELETE", "/app/threads/x")):
            away = await drawer.ask(method, path)
            assert (away.status_code, away.json()["error"]["code"]) == (503, "thread_away")
        postgres.start()
        assert (await drawer.ask("GET", f"/app/threads/{thread}")).status_code == 200
