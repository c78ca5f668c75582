"""What the server writes about itself while people talk to it, at its most talkative: no word, no key and no grant."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from benchmarks.child import child
from firstword.serving import until_ready
from firstword.testing.ports import free_port
from firstword.testing.provider import WORDS, FakeProvider

pytestmark = [pytest.mark.models, pytest.mark.timeout(240)]
CHAT = "/v1/chat/completions"
# Whatever people say or send has it, and so have the keys; what the model says is looked for in its own words.
CANARY = "canary"


async def up(base_url: str) -> None:
    """Wait until the server answers and is warm."""
    while True:
        try:
            await until_ready(base_url)
        except httpx2.TransportError:
            await asyncio.sleep(0.1)
        else:
            return


async def written(client: httpx2.AsyncClient) -> None:
    """Questions that are answered, and requests of every door that are refused for what stands in them."""
    asked = {"messages": [{"role": "user", "content": f"{CANARY}-question"}]}
    for body in (asked, {**asked, "stream": True}):
        answer = await client.post(CHAT, json=body)
        assert (answer.status_code, WORDS[-1].strip() in answer.text) == (200, True)
    sound = {"file": (f"{CANARY}.wav", f"RIFF {CANARY}".encode())}
    for refused in (
        await client.post(CHAT, content=f'{{"messages": "{CANARY}'),
        await client.post(CHAT, json={**asked, "n": 2}),
        await client.post(CHAT, json=asked, headers={"Authorization": f"Bearer {CANARY}.grant"}),
        await client.post("/v1/audio/speech", json={"model": "any", "voice": f"{CANARY}-voice", "input": CANARY}),
        await client.post("/v1/audio/transcriptions", data={"model": CANARY}, files=sound),
        await client.get(f"/v1/models/{CANARY}"),
        await client.get(f"/app/threads/{CANARY}"),
        await client.get(f"/{CANARY}?{CANARY}={CANARY}"),
    ):
        assert 400 <= refused.status_code < 500, refused.url


async def spoken(base_url: str, grant: str) -> None:
    """A turn by WebSocket, with the grant where browsers put it, and a message that is none."""
    offered = [Subprotocol("realtime"), Subprotocol(f"openai-insecure-api-key.{grant}")]
    url = f"{base_url.replace('http', 'ws')}/v1/realtime?model={CANARY}"
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"{CANARY}-line"}]}
    async with connect(url, subprotocols=offered, origin=base_url, proxy=None) as socket:  # type: ignore[arg-type]
        await socket.send(json.dumps({"type": "conversation.item.create", "item": item}))
        for sent, wanted in (('{"type": "response.create"}', "response.done"), (f'{{"type": "{CANARY}', "error")):
            await socket.send(sent)
            while json.loads(await socket.recv())["type"] != wanted:
                pass


async def test_no_word_no_key_and_no_grant_is_in_what_the_server_writes(tmp_path: Path) -> None:
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    secret, log = f"{CANARY}-secret-of-more-than-32-characters", tmp_path / "server.log"
    async with FakeProvider(keys={f"{CANARY}-one": "401"}) as model:
        environment = {
            "FIRSTWORD_SINGLE_USER": "true",
            "FIRSTWORD_LOG_LEVEL": "debug",
            "FIRSTWORD_PORT": str(port),
            "FIRSTWORD_DATA": str(tmp_path / "data"),
            "FIRSTWORD_SECRET": secret,
            "FIRSTWORD_LLM_URL": model.url,
            "FIRSTWORD_LLM_MODEL": f"{CANARY}-model",
            "FIRSTWORD_LLM_KEY": f"{CANARY}-one,{CANARY}-two",
            "NO_PROXY": "127.0.0.1",
        }
        async with child("serve", environment, log):
            await up(base_url)
            async with httpx2.AsyncClient(base_url=base_url, trust_env=False) as client:
                grant = str((await client.post("/app/voice/guide/start")).json()["grant"])
                client.headers["Authorization"] = f"Bearer {grant}"
                await written(client)
            await spoken(base_url, grant)
        # It was said and sent, and a key was refused on the way.
        assert {one.key for one in model.asked} == {f"{CANARY}-one", f"{CANARY}-two"}
        assert any(f"{CANARY}-line" in str(one.body) for one in model.asked)
    lines = log.read_text().splitlines()
    assert any("startup complete" in line for line in lines), "it does write"
    planted = (CANARY, grant[-43:], "".join(WORDS).strip())
    assert [line for line in lines if any(one in line for one in planted)] == []
