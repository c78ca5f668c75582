"""The house whose database is killed in mid-conversation: the next question is answered, and no line is lost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx2
import pytest
from typed_line import answered, until
from websockets.asyncio.client import connect
from whole_house import warm_house

from firstword.settings import load_settings
from firstword.testing.postgres import Postgres
from firstword.thinking import SCRIPT

pytestmark = [pytest.mark.models, pytest.mark.timeout(180)]


async def test_a_conversation_goes_on_without_its_database_and_every_line_is_there_in_order(
    postgres: Postgres, tmp_path: Path
) -> None:
    postgres.start()
    settings = load_settings(
        single_user=True, script_only=True, data=tmp_path, database_url=postgres.fresh(), llm_url=""
    )
    async with warm_house(settings) as base_url:
        async with httpx2.AsyncClient(trust_env=False, base_url=base_url) as client:
            grant = (await client.post("/app/voice/guide/start")).json()["grant"]
            headers = {"Authorization": f"Bearer {grant}"}
            url = f"{base_url.replace('http', 'ws')}/v1/realtime"
            async with connect(url, additional_headers=headers, proxy=None) as socket:
                update = {"type": "session.update", "session": {"firstword": {"events": True}}}
                await socket.send(json.dumps(update))
                thread = (await until(socket, "session.updated"))[-1]["session"]["firstword"]["thread"]
                await answered(socket, "Question 0?")
                postgres.kill()
                await answered(socket, "Question 1?")
                await answered(socket, "Question 2?")
                assert (await client.get(f"/app/threads/{thread}", headers=headers)).status_code == 503
                # A second conversation begins meanwhile.
                async with connect(url, additional_headers=headers, proxy=None) as other:
                    await other.send(json.dumps(update))
                    await until(other, "session.updated")
                    await answered(other, "And I?")
                postgres.start()
                await answered(socket, "Question 3?")
            told = [text for n in range(4) for text in (f"Question {n}?", SCRIPT)]
            async with asyncio.timeout(30):
                while (got := await lines(client, thread, headers)) != told:
                    assert got == told[: len(got)]
                    await asyncio.sleep(0.1)


async def lines(client: httpx2.AsyncClient, thread: str, headers: dict[str, str]) -> list[str]:
    """What is kept of a thread; nothing while it cannot be read."""
    told = await client.get(f"/app/threads/{thread}", headers=headers)
    return [line["text"] for line in told.json()["lines"]] if told.status_code == 200 else []
