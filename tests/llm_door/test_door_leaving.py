"""K10, DT1: the client leaves, and nothing goes on without it."""

import asyncio
import json

import psutil
import pytest
from door_house import SILENT, House, house, until

from llm_door import PatientProtocol


def request(at: House, text: str, *, stream: bool = True) -> bytes:
    body = json.dumps({"messages": [{"role": "user", "content": text}], "stream": stream}).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{at.port}\r\nAuthorization: Bearer {at.grant()}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def closed(at: House, runs: int) -> None:
    """The leaving itself is noticed: no comment ever finds the broken pipe."""
    await until(at.core, lambda: not at.core.running and at.core.closed == runs)


@pytest.mark.parametrize("text", ["hang", "hang after three"], ids=["before the first token", "after three chunks"])
async def test_k10_the_core_is_closed_when_the_client_leaves_a_hundred_times(text: str) -> None:
    async with house(pace=SILENT) as at:
        before = asyncio.all_tasks()
        for n in range(1, 101):
            reader, writer = await asyncio.open_connection("127.0.0.1", at.port)
            writer.write(request(at, text))
            await reader.readuntil(b"wor" if text == "hang after three" else b'"role"')
            writer.close()
            await closed(at, n)
        assert at.core.tools_run == 0
        await quiet(before)
        assert not sockets(at)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "0.6 plain"])
async def test_k10_a_client_that_leaves_before_any_answer(stream: bool) -> None:
    """Without a stream nothing has been written yet, and its leaving is noticed all the same."""
    async with house(pace=SILENT) as at:
        before = asyncio.all_tasks()
        for n in range(1, 21):
            _, writer = await asyncio.open_connection("127.0.0.1", at.port)
            writer.write(request(at, "hang", stream=stream))
            await until(at.core, lambda n=n: len(at.core.asks) == n and bool(at.core.running))  # type: ignore[misc]
            writer.close()
            await closed(at, n)
        await quiet(before)


async def test_k10_a_client_that_leaves_at_once_leaves_nothing_behind() -> None:
    async with house(pace=SILENT) as at:
        before = asyncio.all_tasks()
        for _ in range(100):
            _, writer = await asyncio.open_connection("127.0.0.1", at.port)
            writer.write(request(at, "hang"))
            await writer.drain()
            writer.close()
        await quiet(before)
        assert not at.core.running
        assert at.core.closed == len(at.core.asks)
        assert not sockets(at)


class Hasty(PatientProtocol):
    stall_s = 0.05


async def test_a_reader_that_never_reads_is_dropped_with_its_connection() -> None:
    async with house(http=Hasty) as at:
        _, writer = await asyncio.open_connection("127.0.0.1", at.port, limit=1024)
        writer.write(request(at, "long"))
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await until(at.core, lambda: at.core.closed == 1)
        assert not sockets(at)
        writer.transport.abort()


async def test_w16_leaving_after_the_end_is_no_cancel() -> None:
    async with house() as at:
        reader, writer = await asyncio.open_connection("127.0.0.1", at.port)
        writer.write(request(at, "hi"))
        await reader.readuntil(b"data: [DONE]\n\n")
        writer.close()
        await until(at.core, lambda: at.core.closed == 1)


def sockets(at: House) -> list[object]:
    """Connections to the door that the server still holds."""
    held = psutil.Process().net_connections("tcp")
    return [one for one in held if one.laddr.port == at.port and one.status not in ("LISTEN", "TIME_WAIT", "CLOSE")]


async def quiet(before: set[asyncio.Task[object]]) -> None:
    """No task is left that was not there before."""
    async with asyncio.timeout(30):
        while left := asyncio.all_tasks() - before:
            await asyncio.wait(left)
