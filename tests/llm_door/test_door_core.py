"""The door on the real core: real bots, real rows, the script provider."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import openai
from door_house import SECRET, SILENT, served
from fastapi import FastAPI

from agents_core import Core, OpenAIProvider, Profile, Provider, ScriptProvider
from firstword.testing.provider import WORDS, FakeProvider
from grant import Signer
from llm_door import create_door

BOT = """---
name: Guide
surfaces: [voice]
limits: { steps: 3, spend: 0.25, minutes: 2 }
voice: { first: "Good day.", language: de }
---
You answer.
"""


COUNTED = BOT.replace("spend: 0.25,", "spend: 0.25, per: { day: 5 },")


@asynccontextmanager
async def real(folder: Path, provider: Provider, bot: str = BOT) -> AsyncIterator[tuple[str, Core]]:
    (folder / "bots").mkdir()
    (folder / "bots" / "guide.md").write_text(bot)
    url = f"sqlite+aiosqlite:///{folder}/db.sqlite"
    core = await Core.open(content=folder, database_url=url, providers=[provider], live=True, worker=False)
    app = FastAPI()
    app.include_router(create_door(core, Signer(SECRET), pace=SILENT))
    try:
        async with served(app) as (base_url, _):
            yield base_url, core
    finally:
        await core.close()


async def start(base_url: str) -> dict[str, str]:
    async with httpx2.AsyncClient(trust_env=False) as client:
        started: dict[str, str] = (await client.post(f"{base_url}/app/voice/guide/start")).json()
        return started


async def test_press_start_ask_and_find_the_run_in_its_row(tmp_path: Path) -> None:
    async with real(tmp_path, ScriptProvider(stand_in="One two three.")) as (base_url, core):
        started = await start(base_url)
        async with openai.AsyncOpenAI(base_url=f"{base_url}/v1", api_key=started["grant"]) as door:
            answer = await door.chat.completions.with_raw_response.create(
                model="any", messages=[{"role": "user", "content": "hi"}]
            )
        record = await core.record(answer.headers["x-firstword-run"])
    assert started["greeting"] == "Good day."
    held = Signer(SECRET).verify(started["grant"])
    assert (held.steps, held.spend, held.minutes) == (3, 250_000, 2.0)
    told = answer.parse()
    assert (told.choices[0].message.content, told.choices[0].finish_reason) == ("One two three.", "stop")
    assert record is not None
    assert (record.state, record.answer, record.bot) == ("done", "One two three.", "guide")


async def test_k10_a_client_that_leaves_is_a_cancelled_run(tmp_path: Path) -> None:
    waiting, ended = asyncio.Event(), asyncio.Event()

    async def wait(_pace_s: float) -> None:
        waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with real(tmp_path, ScriptProvider(stand_in="never said", pace_s=1.0, wait=wait)) as (base_url, core):
        key = (await start(base_url))["grant"]
        async with openai.AsyncOpenAI(base_url=f"{base_url}/v1", api_key=key) as door:
            raw = await door.chat.completions.with_raw_response.create(
                model="any", messages=[{"role": "user", "content": "hi"}], stream=True
            )
            run = raw.headers["x-firstword-run"]
            await waiting.wait()
            await raw.parse().close()
        async with asyncio.timeout(30):
            await ended.wait()
            record = await core.record(run)
            while record is None or record.state == "doing":
                record = await core.record(run)
    assert record.state == "cancelled"


async def test_k10_leaving_after_three_words_lets_go_of_the_model_and_what_was_used_is_what_it_cost(
    tmp_path: Path,
) -> None:
    async with FakeProvider() as model:
        profile = Profile(prompt_price=1_000, completion_price=1_000)
        stalls = OpenAIProvider(model.url, "stall", profile=profile, trust_env=False)
        async with real(tmp_path, stalls, COUNTED) as (base_url, core):
            key = (await start(base_url))["grant"]
            body = {"stream": True, "messages": [{"role": "user", "content": "hi"}]}
            async with (
                httpx2.AsyncClient(trust_env=False, headers={"Authorization": f"Bearer {key}"}) as client,
                client.stream("POST", f"{base_url}/v1/chat/completions", json=body) as answer,
            ):
                heard = ""
                async for piece in answer.aiter_text():
                    heard += piece
                    if json.dumps(WORDS[2]) in heard:
                        break
                reserved = (await core.spent("owner", "guide"))["day"]
                run = answer.headers["x-firstword-run"]
            async with asyncio.timeout(30):
                await model.left()
                record = await core.record(run)
                while record is None or record.state == "doing":
                    record = await core.record(run)
            assert (record.state, record.answer) == ("cancelled", "".join(WORDS[:3]))
            assert 0 < (await core.spent("owner", "guide"))["day"] < reserved == 250_000
