"""Serving: the app on a socket of its own, for the command line, the benchmarks and the tests alike.

It is a thin skin over uvicorn. The one rule: the socket is bound before the app is made, because voice calls the door
of this very server and must know its port.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus
from typing import Any

import httpx2
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from firstword.errors import CannotStart
from llm_door import PatientProtocol

# The largest WebSocket message taken: 256 KiB of audio as base64 in JSON, and room for its envelope.
_WS_MAX_BYTES = 384 * 1024
_WS_PING_S = 20.0
_LOOK_EVERY_S = 0.05


class QuietSocket(WebSocketsSansIOProtocol):
    """uvicorn's WebSocket, without its lines of who came, which name addresses, and without its library's.

    At debug that one writes every frame and every header: what was said, and grants.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.logger = self.conn.logger = logging.getLogger("uvicorn.error.sockets")
        self.logger.setLevel(logging.WARNING)
        self.conn.debug = False


def bind(host: str, port: int) -> socket.socket:
    """A listening socket on `host`:`port` (0 takes a free port). Raises `CannotStart` where it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as fault:
        listener.close()
        raise CannotStart(
            f"cannot serve on {host}:{port} ({fault.strerror}); is another one running? FIRSTWORD_PORT chooses a port"
        ) from fault
    listener.set_inheritable(False)
    return listener


def address(listener: socket.socket) -> str:
    """`http://host:port` of a bound socket, as somebody on this machine reaches it."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server_for(app: ASGIApp, *, log_level: str = "warning") -> uvicorn.Server:
    """A uvicorn server with our limits. No access log: its lines help nobody, and addresses may name people."""
    config = uvicorn.Config(
        app,
        log_level=log_level,
        access_log=False,
        lifespan="on",
        http=PatientProtocol,
        ws=QuietSocket,
        ws_max_size=_WS_MAX_BYTES,
        ws_ping_interval=_WS_PING_S,
        ws_ping_timeout=_WS_PING_S,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=5,
        server_header=False,
    )
    return uvicorn.Server(config)


async def until_ready(base_url: str, *, limit_s: float = 120.0) -> None:
    """Wait until the server at `base_url` says that its engines are warm.

    Raises `CannotStart` after `limit_s`, and with the server's own sentence where waiting is in vain.
    """
    deadline = time.monotonic() + limit_s
    async with httpx2.AsyncClient(trust_env=False) as client:
        while (reply := await client.get(f"{base_url}/readyz")).status_code != HTTPStatus.OK:
            state = reply.json()
            if state.get("failed"):
                raise CannotStart("; ".join(state["faults"]))
            if time.monotonic() > deadline:
                raise CannotStart(f"the engines were not warm after {limit_s:.0f} s; see the server's log")
            await asyncio.sleep(_LOOK_EVERY_S)


@contextlib.asynccontextmanager
async def serving(make: Callable[[str], ASGIApp], *, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve the app that `make(base_url)` gives inside this event loop; yields the base URL."""
    listener = bind(host, port)
    base_url = address(listener)
    server = server_for(make(base_url))
    # uvicorn takes the process's signals; inside somebody else's loop they stay theirs.
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started:
            if task.done():
                await task
                raise CannotStart("the server stopped while it started; its log says why")
            await asyncio.sleep(0.01)
        yield base_url
    finally:
        server.should_exit = True
        await task
        listener.close()
