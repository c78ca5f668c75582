"""uvicorn's HTTP protocol with deadlines: for the headers of a request, and for whoever stops reading an answer.

uvicorn waits for the second half of a header for ever, takes as much of it as comes, and no middleware sees a request
before its headers are whole. Nor does it ever let go of a connection whose other side stops reading: closing it waits
for what is left to be read. The one rule: nobody holds a connection by doing nothing. The deadline of headers is
absolute, so a byte a second does not move it.
"""

from __future__ import annotations

import asyncio
import socket
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class PatientProtocol(HttpToolsProtocol):
    """Give it to uvicorn: `uvicorn.Config(app, http=PatientProtocol)`. A subclass may set other seconds.

    httptools, because h11 takes longer over each chunk of a stream than everything else here.
    """

    headers_s: ClassVar[float] = 10.0
    # A grant, a trace and whatever a proxy adds are under 8 KiB.
    headers_bytes: ClassVar[int] = 64 * 1024
    # Without a byte taken of what is on its way to them.
    stall_s: ClassVar[float] = 15.0
    _deadline: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None
    _headers_read = 0
    _in_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        # asyncio does this only for sockets made with IPPROTO_TCP by name, and the sockets a server is given seldom
        # are. Without it a small chunk waits for the other side's delayed acknowledgement: the first word of a stream
        # came after 44 ms in place of 4 (measured on loopback).
        connection = transport.get_extra_info("socket")
        if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Whatever the system does not take at once is waited for; the last bytes of an answer would else be left out.
        transport.set_write_buffer_limits(0)
        super().connection_made(transport)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        of_a_body = self._in_body
        super().data_received(data)
        if self.transport.get_protocol() is not self:
            self.transport.set_write_buffer_limits()
            return  # it is a WebSocket from here on, with a protocol and deadlines of its own
        if self.cycle is None or self.cycle.response_complete:
            # Bytes after an answer are the next request's, an empty line among them, which begins no message yet; or
            # the rest of a body that was answered early, which is dropped and has as long to come.
            self._wait_for_headers()
        # But for such a rest the deadline runs exactly while headers are awaited: what came meanwhile is part of them.
        awaited = self._deadline is not None and not of_a_body
        self._headers_read = self._headers_read + len(data) if awaited else 0
        if self._headers_read > self.headers_bytes and not self.transport.is_closing():
            self.send_400_response(f"The headers are longer than {self.headers_bytes} bytes.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._wait_for_headers()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        self._in_body = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._stop_waiting()
        self._in_body = False
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._see_it_shrink(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        self._stop_seeing()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_seeing()
        super().connection_lost(exc)

    def _wait_for_headers(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.headers_s, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _see_it_shrink(self, left_bytes: int) -> None:
        self._stall = self.loop.call_later(self.stall_s, self._look, left_bytes)

    def _look(self, before_bytes: int) -> None:
        left_bytes = self.transport.get_write_buffer_size()
        if left_bytes < before_bytes:
            self._see_it_shrink(left_bytes)
        else:
            self.transport.abort()

    def _stop_seeing(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def _give_up(self) -> None:
        # Nothing was asked, so nothing is answered, and bytes that a slow reader never fetches are not waited for.
        self._deadline = None
        self.transport.abort()
