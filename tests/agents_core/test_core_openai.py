"""Any OpenAI-shaped address, over real loopback HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing

import pytest

from agents_core import OpenAIProvider, Profile, Question, Whole, Words
from agents_core.errors import ProviderFault

Serves = Callable[..., Awaitable[str]]
HELLO = b'data: {"model":"m1","choices":[{"index":0,"delta":{"content":"Hello. "}}]}\n\n'
STOP = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


@pytest.fixture
async def serves() -> AsyncIterator[Serves]:
    """Serve one canned response; `left` is set once the client has gone."""
    servers: list[asyncio.Server] = []
    tasks: list[asyncio.Task[None]] = []

    async def serve(
        body: bytes,
        *,
        status: str = "200 OK",
        kind: str = "text/event-stream",
        headers: str = "",
        left: asyncio.Event | None = None,
    ) -> str:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            tasks.append(asyncio.current_task())  # type: ignore[arg-type]
            await reader.readuntil(b"\r\n\r\n")
            head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{headers}Connection: close\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
            if left is not None:
                while await reader.read(4096):
                    pass
                left.set()
            writer.close()

        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        servers.append(server)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"

    yield serve
    for server in servers:
        server.close()
    await asyncio.gather(*tasks, return_exceptions=True)


async def answer(url: str, **more: object) -> tuple[str, Whole]:
    provider = OpenAIProvider(url, "m0", trust_env=False, **more)  # type: ignore[arg-type]
    try:
        given = [said async for said in provider.ask(Question(({"role": "user", "content": "Hi"},)))]
    finally:
        await provider.close()
    assert isinstance(given[-1], Whole)
    return "".join(said.text for said in given if isinstance(said, Words)), given[-1]


async def test_words_come_as_they_are_streamed(serves: Serves) -> None:
    words, whole = await answer(await serves(HELLO + STOP))
    assert (words, whole.finish_reason, whole.model) == ("Hello. ", "stop", "m1")


async def test_a_plain_reply_is_read_too(serves: Serves) -> None:
    body = b'{"choices":[{"message":{"content":"Hello."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}'
    words, whole = await answer(await serves(body, kind="application/json"))
    assert words == "Hello."
    assert whole.usage is not None


async def test_a_brief_profile_leaves_in_the_middle_of_an_event(serves: Serves) -> None:
    words, _ = await answer(await serves(HELLO + HELLO + b'data: {"choi'), profile=Profile(sentences=2))
    assert words == "Hello. Hello."


async def test_a_lead_is_heard_once_the_model_has_gone_on_from_it(serves: Serves) -> None:
    profile = Profile(extra=(("repeat_penalty", 1.1),), led=(("repeat_penalty", 1.0),))
    provider = OpenAIProvider(await serves(HELLO + STOP), "m0", profile=profile, trust_env=False)
    asked = Question(({"role": "user", "content": "Hi"},), lead="Oh,", sentences=1)
    said = [said async for said in provider.ask(asked)]
    assert [words.text for words in said if isinstance(words, Words)] == ["Oh,Hello."]
    body = provider.body(asked)
    assert body["messages"][-1] == {"role": "assistant", "content": "Oh,"}
    assert body["repeat_penalty"] == 1.0
    assert provider.body(Question(()))["repeat_penalty"] == 1.1
    with pytest.raises(ProviderFault):
        await answer(await serves(b""))
    await provider.close()


@pytest.mark.parametrize(
    ("status", "kind", "headers", "body", "whose", "sentence"),
    [
        pytest.param("401 No", "application/json", "", b'{"error":{"message":"bad"}}', "key", "bad", id="401"),
        pytest.param("429 No", "text/plain", "Retry-After: 7\r\n", b"slow down", "key", "slow down", id="429"),
        pytest.param("500 No", "text/html", "", b"<html>", "provider", "status 500", id="500-html"),
        pytest.param("200 OK", "text/html", "", b"<html>", "provider", "web page", id="html-200"),
        pytest.param("200 OK", "text/event-stream", "", b"", "provider", "broke off", id="empty-200"),
        pytest.param("200 OK", "text/event-stream", "", HELLO, "provider", "broke off", id="FK3-cut"),
        pytest.param(
            "302 Go", "text/plain", "Location: http://127.0.0.1:1/\r\n", b"", "provider", "302", id="redirect"
        ),
        pytest.param("400 No", "application/json", "", b'{"error":"bad body"}', "ours", "bad body", id="400-real"),
    ],
)
async def test_every_failure_has_a_verdict(
    serves: Serves, status: str, kind: str, headers: str, body: bytes, whose: str, sentence: str
) -> None:
    with pytest.raises(ProviderFault, match=sentence) as raised:
        await answer(await serves(body, status=status, kind=kind, headers=headers))
    assert raised.value.verdict.whose == whose
    if status.startswith("429"):
        assert raised.value.verdict.rest_s == 7


async def test_fk9_an_address_where_nobody_is_has_a_verdict_too() -> None:
    with pytest.raises(ProviderFault, match="could not be reached") as raised:
        await answer("http://127.0.0.1:1/v1")
    assert raised.value.verdict.whose == "provider"


async def test_leaving_closes_the_connection_that_the_model_hangs_on(serves: Serves) -> None:
    left = asyncio.Event()
    provider = OpenAIProvider(await serves(HELLO, left=left), "m0", trust_env=False)
    async with aclosing(provider.ask(Question(()))) as given:
        assert await anext(given) == Words("Hello. ")
    await asyncio.wait_for(left.wait(), 10)
    await provider.close()


def test_what_is_sent_is_what_the_profile_says() -> None:
    profile = Profile(max_tokens=9, max_tokens_key="max_completion_tokens", temperature=0.0, extra=(("seed", 1),))
    body = OpenAIProvider("http://x/v1", "m0", profile=profile).body(Question((), model="other"))
    assert body == {
        "model": "other",
        "messages": [],
        "stream": True,
        "max_completion_tokens": 9,
        "seed": 1,
        "stream_options": {"include_usage": True},
        "temperature": 0.0,
    }


async def test_the_next_question_goes_on_the_same_connection_and_waits_for_no_handshake() -> None:
    """A stream that said `[DONE]` is read to its last byte; left unread, its connection would be closed."""
    connections = 0
    chunk = HELLO + STOP
    said = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    said += f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n"

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]))
                writer.write(said)
                await writer.drain()
                writer.write(b"0\r\n\r\n")
        except asyncio.IncompleteReadError:
            writer.close()
            await writer.wait_closed()
            left.set()

    left = asyncio.Event()
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    provider = OpenAIProvider(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", "m0", trust_env=False)
    for _ in range(3):
        given = [said async for said in provider.ask(Question(({"role": "user", "content": "Hi"},)))]
        assert isinstance(given[-1], Whole)
    assert connections == 1
    await provider.close()
    await left.wait()
    server.close()
