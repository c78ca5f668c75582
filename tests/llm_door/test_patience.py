"""uvicorn's protocol as the doors have it: the headers have a deadline and an end, and an early answer arrives."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import ClassVar

import httpx2
import pytest
from door_house import house as plain_house
from door_house import served
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from llm_door import PatientProtocol


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """`/size` reads its body, `/early` answers without, `/large` is large, and nothing else is there."""
    status = {"/size": 200, "/early": 503, "/large": 200}.get(scope["path"], 404)
    if scope["path"] == "/size":
        await Request(scope, receive).body()
    answer = "a" * LARGE_BYTES if scope["path"] == "/large" else "an answer"
    await PlainTextResponse(answer, status)(scope, receive, send)


# More than the buffers of any system take at once.
LARGE_BYTES = 16 << 20


class Hasty(PatientProtocol):
    headers_s = 0.05


class Brisk(PatientProtocol):
    """For a client whose first request has to come whole, on a busy machine too."""

    headers_s = 0.5


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: local", b"\r\n"], ids=["nothing", "line", "header", "blank"]
)
async def test_dt9_half_a_header_is_not_waited_for(sent: bytes) -> None:
    async with served(app, http=Hasty) as (base_url, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(base_url.rsplit(":", 1)[1]))
        writer.write(sent)
        async with asyncio.timeout(30):
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""
        writer.close()


@pytest.mark.parametrize("sent", [b"GET / HT", b"\r\n"], ids=["line", "blank"])
async def test_dt9_a_second_request_has_the_same_deadline(sent: bytes) -> None:
    async with served(app, http=Brisk, timeout_keep_alive=600) as (base_url, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(base_url.rsplit(":", 1)[1]))
        writer.write(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 404")
        writer.write(sent)
        async with asyncio.timeout(30):
            with contextlib.suppress(ConnectionResetError):
                await reader.read()
        writer.close()


async def test_headers_without_an_end_are_not_taken() -> None:
    async with served(app) as (base_url, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(base_url.rsplit(":", 1)[1]))
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        async with asyncio.timeout(30):
            with contextlib.suppress(ConnectionError):
                for n in range(10_000):
                    writer.write(b"X-More-%d: %s\r\n" % (n, b"a" * 1000))
                    await writer.drain()
            with contextlib.suppress(ConnectionResetError):
                assert b"longer than 65536 bytes" in await reader.read()
        writer.close()


async def test_headers_of_sixty_kilobytes_are() -> None:
    async with served(app) as (base_url, _), httpx2.AsyncClient(base_url=base_url, trust_env=False) as client:
        large = {f"X-More-{n}": "a" * 1000 for n in range(58)}
        assert [(await client.get("/nothing", headers=large)).status_code for _ in range(3)] == [404] * 3


async def test_a_stream_and_a_socket_outlive_the_deadline_of_headers() -> None:
    async with plain_house(http=Brisk) as at:
        async with httpx2.AsyncClient(trust_env=False) as client:
            body = {"stream": True, "messages": [{"role": "user", "content": "hang"}]}
            key = {"Authorization": f"Bearer {at.grant()}"}
            async with client.stream("POST", f"{at.base_url}/v1/chat/completions", json=body, headers=key) as answer:
                asyncio.get_running_loop().call_later(2 * Brisk.headers_s, at.core.go_on.set)
                assert (await answer.aread()).endswith(b"data: [DONE]\n\n")


async def test_small_chunks_do_not_wait_for_an_acknowledgement() -> None:
    seen = []

    class Watched(PatientProtocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            connection = transport.get_extra_info("socket")
            seen.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    async with served(app, http=Watched) as (base_url, _):
        async with httpx2.AsyncClient(base_url=base_url, trust_env=False) as client:
            await client.post("/size", content=b"")
    assert seen
    assert all(seen)


async def test_an_answer_before_the_body_was_read_reaches_who_is_still_sending() -> None:
    async with served(app) as (base_url, _), httpx2.AsyncClient(base_url=base_url, trust_env=False) as client:
        for _ in range(3):
            answer = await client.post("/early", content=bytes(8 << 20))
            assert (answer.status_code, answer.text) == (503, "an answer")


async def test_the_rest_of_a_body_that_was_answered_has_a_deadline() -> None:
    async with served(app, http=Brisk, timeout_keep_alive=600) as (base_url, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(base_url.rsplit(":", 1)[1]))
        writer.write(b"POST /early HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 503")
        writer.write(b"x")
        async with asyncio.timeout(30):
            with contextlib.suppress(ConnectionResetError):
                await reader.read()
        writer.close()


class Kept(PatientProtocol):
    """Says when somebody does not take what is sent, and when they are let go of."""

    def __init__(self, *given: object, **named: object) -> None:
        super().__init__(*given, **named)  # type: ignore[arg-type]
        type(self).made.append(self)
        self.stalls, self.lost = asyncio.Event(), asyncio.Event()

    made: ClassVar[list[Kept]] = []

    def pause_writing(self) -> None:
        super().pause_writing()
        self.stalls.set()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.lost.set()


@contextlib.asynccontextmanager
async def stalled(stall_s: float, headers: str = "") -> AsyncIterator[tuple[Kept, asyncio.StreamReader]]:
    """A connection of the server's whose client has asked for a large answer and reads none of it."""

    class Here(Kept):
        made: ClassVar[list[Kept]] = []

    Here.stall_s = stall_s
    async with served(app, http=Here, timeout_keep_alive=600) as (base_url, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(base_url.rsplit(":", 1)[1]), limit=1024)
        writer.write(f"GET /large HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode())
        async with asyncio.timeout(30):
            while not Here.made:
                await asyncio.sleep(0)
            await Here.made[0].stalls.wait()
            yield Here.made[0], reader
        writer.transport.abort()


@pytest.mark.parametrize("headers", ["", "Connection: close\r\n"], ids=["kept open", "closed by the server"])
async def test_an_answer_that_nobody_reads_holds_no_connection(headers: str) -> None:
    """All of it is handed over at once: there is nothing left to send, and closing alone waits for the reader."""
    async with stalled(0.05, headers) as (held, _):
        await held.lost.wait()


async def test_a_slow_reader_is_let_be_as_long_as_it_reads() -> None:
    async with stalled(3600.0) as (held, reader):
        left_bytes = held.transport.get_write_buffer_size
        before_bytes = left_bytes()
        while left_bytes() >= before_bytes:
            await reader.read(100_000)
        held._look(before_bytes)
        assert not held.transport.is_closing()
        held._look(left_bytes())
        assert held.transport.is_closing()
