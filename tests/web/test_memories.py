"""What is remembered over HTTP: each person's own, for the bot that was named, and never written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI, Request
from sqlalchemy import insert

from agents_core import desk, rows
from agents_core.recall import Memories
from database import Database
from web import Asker, create_memories

Client = httpx2.AsyncClient


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    """Ada has two things with the guide and one with the host; whoever the header `who` names asks."""
    database = Database(f"sqlite:///{tmp_path / 'here.db'}")
    for migrations in (rows.MIGRATIONS, desk.MIGRATIONS):
        await database.bring_up(migrations)
    told = [("guide", "I have two dogs."), ("guide", "I live in Lisbon."), ("host", "A table for six.")]
    async with database.write() as db:
        for n, (bot, said) in enumerate(told):
            row = {"person": "ada", "bot": bot, "run": f"r{n}", "said": said, "model": "none", "vector": b""}
            await db.execute(insert(desk.TABLES.tables["memories"]).values(**row, at_s=float(n)))

    async def who(request: Request) -> Asker | None:
        name, _, bot = request.headers["who"].partition("@")
        return Asker(name, bot or None) if name else None

    app = FastAPI()
    app.include_router(create_memories(Memories(database), who))
    async with Client(transport=httpx2.ASGITransport(app=app), base_url="http://here") as opened:
        yield opened
    await database.close()


async def said(client: Client, bot: str, who: str = "ada") -> list[str]:
    reply = await client.get("/app/memories", params={"bot": bot}, headers={"who": who})
    assert reply.headers["cache-control"] == "no-store"
    return [one["said"] for one in reply.json()["memories"]]


async def test_newest_first_and_of_that_bot_alone(client: Client) -> None:
    assert await said(client, "guide") == ["I live in Lisbon.", "I have two dogs."]
    assert await said(client, "host") == ["A table for six."]
    assert await said(client, "guide", "bo") == []
    assert await said(client, "guide", "ada@host") == []


async def test_one_is_forgotten_by_whose_it_is_and_by_nobody_else(client: Client) -> None:
    listed = await client.get("/app/memories?bot=guide", headers={"who": "ada"})
    name = listed.json()["memories"][0]["id"]
    answers = []
    for who, bot, memory in [
        ("bo", "guide", name),
        ("ada", "host", name),
        ("ada", "guide", 999),
        ("ada@host", "guide", name),
    ]:
        answers.append(await client.delete(f"/app/memories/{memory}?bot={bot}", headers={"who": who}))
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    assert (await client.delete(f"/app/memories/{name}?bot=guide", headers={"who": "ada"})).status_code == 204
    assert await said(client, "guide") == ["I have two dogs."]


async def test_all_are_forgotten_at_once(client: Client) -> None:
    assert (await client.delete("/app/memories?bot=guide", headers={"who": "ada"})).status_code == 204
    assert await said(client, "guide") == []
    assert await said(client, "host") == ["A table for six."]


@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("DELETE", ""), ("DELETE", "/1")])
async def test_a_stranger_is_told_to_sign_in_first(client: Client, method: str, path: str) -> None:
    asked = await client.request(method, f"/app/memories{path}?bot=guide", headers={"who": ""})
    assert asked.status_code == 401
