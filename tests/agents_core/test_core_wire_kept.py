"""A kept connection that the server closes in the moment in which it is asked on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agents_core.errors import ProviderFault
from agents_core.providers.base import Question, Words
from agents_core.providers.openai import OpenAIProvider

_EVENT = b'data: {"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
_ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: " + str(len(_EVENT)).encode() + b"\r\n\r\n"
) + _EVENT


@asynccontextmanager
async def fickle(answers: list[int]) -> AsyncIterator[tuple[str, list[int]]]:
    """A server whose n-th connection answers `answers[n]` questions and closes at the next; counts the questions."""
    asked: list[int] = []
    gone = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(0)
        left = answers[len(asked) - 1]
        mine = len(asked) - 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
                )
                await reader.readexactly(length)
                asked[mine] += 1
                if asked[mine] > left:
                    break
                writer.write(_ANSWER)
                await writer.drain()
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()
            await writer.wait_closed()
            gone.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", asked
    finally:
        await asyncio.wait_for(gone.wait(), 30)
        server.close()
        await server.wait_closed()


async def said(provider: OpenAIProvider) -> str:
    return "".join([chunk.text async for chunk in provider.ask(Question(())) if isinstance(chunk, Words)])


async def test_a_question_on_a_kept_connection_that_was_closed_is_asked_on_another() -> None:
    async with fickle([1, 9]) as (url, asked):
        provider = OpenAIProvider(url, "m0", trust_env=False)
        assert [await said(provider), await said(provider)] == ["Yes.", "Yes."]
        assert asked == [2, 1]
        await provider.close()


async def test_two_at_once_on_kept_connections_that_were_closed_are_both_asked_on_others() -> None:
    async with fickle([1, 1, 9, 9]) as (url, asked):
        provider = OpenAIProvider(url, "m0", trust_env=False)
        for _ in range(2):
            assert await asyncio.gather(said(provider), said(provider)) == ["Yes.", "Yes."]
        assert asked == [2, 2, 1, 1]
        await provider.close()


async def test_a_first_connection_that_is_closed_is_a_fault_and_nothing_is_asked_twice() -> None:
    async with fickle([0, 9]) as (url, asked):
        provider = OpenAIProvider(url, "m0", trust_env=False)
        with pytest.raises(ProviderFault, match="could not be reached"):
            await said(provider)
        assert asked == [1]
        await provider.close()
