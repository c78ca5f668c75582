"""uvicorn's HTTP protocol with a deadline for the headers of a request, and no delay for what goes out.

uvicorn waits for the second half of a header for ever, and no middleware sees a request before its headers are whole.
The one rule: the deadline is absolute, so a byte a second does not move it.
"""

from __future__ import annotations

import asyncio
import socket
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class PatientProtocol(H11Protocol):
    """Give it to uvicorn: `uvicorn.Config(app, http=PatientProtocol)`. A subclass may set another `headers_s`."""

    headers_s: ClassVar[float] = 10.0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        # asyncio does this only for sockets made with IPPROTO_TCP by name, and the sockets a server is given seldom
        # are. Without it a small chunk waits for the other side's delayed acknowledgement: the first word of a stream
        # came after 44 ms in place of 4 (measured on loopback).
        connection = transport.get_extra_info("socket")
        if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # IDLE after bytes means that the headers are not whole; a WebSocket has its own protocol from here on.
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._wait_for_headers()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_headers(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.headers_s, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        # Nothing was asked, so nothing is answered, and bytes that a slow reader never fetches are not waited for.
        self.transport.abort()
