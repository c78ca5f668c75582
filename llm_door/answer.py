"""One answer going out: the core's events on one side, a client that may leave at any moment on the other.

It is an ASGI response. It decides no words and knows no bot. The one rule: when nobody waits any more the core's
iterator is closed at once, so that no model runs and no tool is called for somebody who has left.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from agents_core import (
    Alarm,
    AskRefused,
    CoreError,
    Delta,
    Done,
    Event,
    Failed,
    OverLimit,
    Started,
    Trace,
    Uncounted,
    UnknownBot,
)
from grant import error_response
from llm_door.wire import COMMENT, DONE, Wire

log = logging.getLogger(__name__)

RUN_HEADER = "X-Firstword-Run"
STREAM_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
}
_RUN_HEADER = RUN_HEADER.lower().encode()
_HEADERS = [(name.lower().encode(), value.encode()) for name, value in STREAM_HEADERS.items()]
_FAULT = "this answer broke off through a fault of the server's own; ask again"
# So many events wait for a client that reads slowly; then the core waits too.
_AHEAD = 64
# After its last event the core gets this long to put its papers away before it is told to stop.
_AFTER_S = 1.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things may take, in seconds.

    `comment_s` of silence on a stream bring a comment. The core writes a row before anything else, which takes
    milliseconds; past `first_event_s` the stream starts without the run's id in its header, because silence before the
    headers is what proxies give up on.
    """

    comment_s: float = 10.0
    first_event_s: float = 1.0


class _Left(Exception):
    """Nobody reads this answer any more."""


@dataclass(slots=True)
class _Broken:
    """The core's iterator ended without an ending, or raised."""

    fault: BaseException | None


class _Source:
    """The core's events, read by one task of their own: an iterator with deadlines inside may not change tasks."""

    def __init__(self, events: AsyncIterator[Event]) -> None:
        self._events = events
        self._ready: asyncio.Queue[Event | _Broken | None] = asyncio.Queue(_AHEAD)
        self._left = False
        self._silence = Alarm(self._wake)

    async def read(self) -> None:
        """Read to the end. Cancelling it closes the iterator."""
        fault: BaseException | None = None
        ended = spoke = False
        try:
            async for event in self._events:
                if not ended:
                    await self._ready.put(event)
                if not spoke and isinstance(event, Delta):
                    # The first word is written before the next is asked for, which takes longer than the writing.
                    spoke = True
                    await asyncio.sleep(0)
                ended = ended or isinstance(event, Done | Failed)
        except Exception as raised:
            fault = raised
        finally:
            close = getattr(self._events, "aclose", None)
            if close is not None:
                await close()
        if not ended:
            await self._ready.put(_Broken(fault))

    async def watch(self, receive: Receive) -> None:
        """Wait for the client to leave, and wake whoever waits for the next event."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self._left = True
        self._wake()

    async def next(self, wait_s: float = math.inf) -> Event | _Broken | None:
        """The next event, or None after `wait_s` of silence. Raises `_Left` when the client has gone."""
        self._silence.set(wait_s)
        event = None if self._left else await self._ready.get()
        self._silence.unset()
        if self._left:
            raise _Left
        return event

    def close(self) -> None:
        """Nothing more is waited for."""
        self._silence.close()

    def _wake(self) -> None:
        with contextlib.suppress(asyncio.QueueFull):
            self._ready.put_nowait(None)

    def rest(self) -> list[Event | _Broken]:
        """What is here already, so that it can go out in one write."""
        found = []
        while not self._ready.empty():
            event = self._ready.get_nowait()
            if event is not None:
                found.append(event)
        return found


class Answer(Response):
    """`open_events` starts the run; it is called once, when the response is sent. `open_wire` is called after it, when
    there is something to write: nobody who asked waits for that."""

    def __init__(
        self,
        open_events: Callable[[], AsyncIterator[Event]],
        open_wire: Callable[[], Wire],
        *,
        stream: bool,
        include_usage: bool,
        pace: Pace,
    ) -> None:
        super().__init__()
        self._open_events = open_events
        self._open_wire = open_wire
        self._stream = stream
        self._include_usage = include_usage
        self._pace = pace
        self._trace: Trace | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        source = _Source(self._open_events())
        reading = asyncio.create_task(source.read())
        leaving = asyncio.create_task(source.watch(receive))
        try:
            with contextlib.suppress(_Left):
                if self._stream:
                    await self._send_stream(source, scope, receive, send)
                else:
                    await self._send_reply(source, scope, receive, send)
                # The answer is whole; the core may still be putting its papers away.
                await asyncio.wait({reading}, timeout=_AFTER_S)
        finally:
            source.close()
            for task in (reading, leaving):
                task.cancel()
            for over in await asyncio.gather(reading, leaving, return_exceptions=True):
                if isinstance(over, Exception):
                    log.error("closing an answer raised %s", type(over).__name__)

    async def _send_stream(self, source: _Source, scope: Scope, receive: Receive, send: Send) -> None:
        first = await source.next(self._pace.first_event_s)
        if isinstance(first, Failed | _Broken):
            await _refusal(first)(scope, receive, send)
            return
        headers = [*_HEADERS]
        if isinstance(first, Started):
            headers.append((_RUN_HEADER, first.run.encode("ascii", "replace")))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        wire = self._open_wire()
        await _write(send, wire.role())
        events: list[Event | _Broken] = [] if first is None else [first]
        while True:
            chunk, over = self._chunks(wire, events)
            if over:
                await _write(send, chunk + DONE, more=False)
                return
            if chunk:
                await _write(send, chunk)
            event = await source.next(self._pace.comment_s)
            if event is None:
                await _write(send, COMMENT)
                events = []
            else:
                events = [event, *source.rest()]

    def _chunks(self, wire: Wire, events: Sequence[Event | _Broken]) -> tuple[bytes, bool]:
        """The bytes of `events`, and whether they are the last."""
        out = bytearray()
        for event in events:
            if isinstance(event, Delta):
                # An empty delta says nothing, and some clients take it for an end.
                out += wire.delta(event.text) if event.text else b""
            elif isinstance(event, Trace):
                self._trace = event
            elif isinstance(event, Done):
                out += wire.finish(event, self._trace)
                if self._include_usage:
                    out += wire.usage(event.usage)
                return bytes(out), True
            elif isinstance(event, Failed | _Broken):
                _, message, type_, code = _told(event)
                return bytes(out) + wire.error(message, type_=type_, code=code), True
            elif not isinstance(event, Started):
                out += wire.aside(event)
        return bytes(out), False

    async def _send_reply(self, source: _Source, scope: Scope, receive: Receive, send: Send) -> None:
        words: list[str] = []
        headers: dict[str, str] = {}
        while True:
            event = await source.next()
            if isinstance(event, Delta):
                words.append(event.text)
            elif isinstance(event, Started):
                headers[RUN_HEADER] = event.run
            elif isinstance(event, Trace):
                self._trace = event
            elif isinstance(event, Failed | _Broken):
                await _refusal(event)(scope, receive, send)
                return
            elif isinstance(event, Done):
                reply = self._open_wire().reply("".join(words), event, self._trace)
                await JSONResponse(reply, headers=headers)(scope, receive, send)
                return


async def _write(send: Send, chunk: bytes, *, more: bool = True) -> None:
    # A client that stops reading is let go of by the server (`patience.py`), and has left then.
    try:
        await send({"type": "http.response.body", "body": chunk, "more_body": more})
    except OSError as fault:
        raise _Left from fault


def _told(event: Failed | _Broken) -> tuple[int, str, str, str]:
    """Status, message, type and code of a break, as the client is told."""
    if isinstance(event, Failed):
        if event.whose == "provider":
            return 502, event.message, "server_error", "provider_failed"
        return 500, event.message, "server_error", "run_failed"
    if isinstance(event.fault, UnknownBot):
        return 404, str(event.fault), "invalid_request_error", "model_not_found"
    if isinstance(event.fault, OverLimit):
        return 429, str(event.fault), "insufficient_quota", "over_limit"
    if isinstance(event.fault, Uncounted):
        return 503, str(event.fault), "server_error", "uncounted"
    if isinstance(event.fault, AskRefused):
        return 403, str(event.fault), "permission_error", "ask_refused"
    if isinstance(event.fault, CoreError):
        return 503, str(event.fault), "server_error", "core_failed"
    # The fault's own words may hold what somebody said; the log gets its name and the client a sentence.
    log.error("an answer broke off: %s", type(event.fault).__name__ if event.fault else "it has no ending")
    return 500, _FAULT, "server_error", "fault"


def _refusal(event: Failed | _Broken) -> JSONResponse:
    status, message, type_, code = _told(event)
    # The core has already tried every provider and key it has; a client that asks the same again at once buys nothing.
    return error_response(status, message, type_=type_, code=code, headers={"x-should-retry": "false"})
