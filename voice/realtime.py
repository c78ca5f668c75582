"""The Realtime WebSocket: `/v1/realtime`, for the page and for any client of OpenAI's shape, with a grant as its key.

It admits, reads and writes; what events mean is `client_events.py`'s. The one rule: everything that can be refused is
refused before the connection is accepted, in words.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable

from fastapi import APIRouter, Request, WebSocket, WebSocketDisconnect
from starlette.responses import JSONResponse, Response

from grant import error_response
from voice.admission import Admitted, admit, look
from voice.calls import Calls, create_calls
from voice.client_events import ClientEvents
from voice.intake import TOO_LARGE, take
from voice.outbox import Outbox
from voice.parts import VoiceParts
from voice.places import Places, places_of
from voice.realtime_events import Wire
from voice.session import Session
from voice.watch import watch

_log = logging.getLogger("firstword.voice")

# A client that takes nothing for this long is gone.
_WRITE_S = 15.0
_POLICY, _TOO_BIG = 1008, 1009
_NOTHING_CAME = "nothing came after the connection opened; connect when there is something to send"


def create_voice(parts: VoiceParts, calls: Calls | None = None, places: Places | None = None) -> APIRouter:
    """The router that serves conversations. `calls` holds those by WebRTC; whoever gives it closes it. `places` counts
    all of them; one made of the limits of `parts` where it is left out."""
    router = APIRouter()
    places = places or places_of(parts.limits, parts.clock)

    @router.get("/v1/realtime", include_in_schema=False)
    async def about(request: Request) -> Response:
        return look(request.headers, parts, places)

    @router.websocket("/v1/realtime")
    async def realtime(socket: WebSocket) -> None:
        offered = [one.strip() for one in socket.headers.get("sec-websocket-protocol", "").split(",") if one.strip()]
        admitted = admit(socket.headers, parts, places, subprotocols=offered)
        if isinstance(admitted, JSONResponse):
            await _refuse(socket, admitted)
            return
        try:
            await _converse(socket, parts, admitted, lambda: places.renew(admitted.place), offered)
        finally:
            places.leave(admitted.place)

    if calls is not None:
        router.include_router(create_calls(parts, places, calls))
    return router


async def _refuse(socket: WebSocket, response: JSONResponse) -> None:
    """Answer the handshake with a real status and words, where the server can; else close it."""
    if "websocket.http.response" in socket.scope.get("extensions", {}):
        await socket.send_denial_response(response)
    else:
        await socket.close(_POLICY)


async def _converse(
    socket: WebSocket, parts: VoiceParts, admitted: Admitted, renew: Callable[[], str | None], offered: list[str]
) -> None:
    outbox = Outbox()
    wire = Wire(outbox.put)
    try:
        session = Session(parts, grant=admitted.grant, token=admitted.token, wire=wire)
    except KeyError:
        await _refuse(socket, error_response(404, "there is no such bot here", code="bot_not_found"))
        return
    try:
        await socket.accept(subprotocol="realtime" if "realtime" in offered else None)
        session.start()
        client = ClientEvents(session, parts.signer, model=socket.query_params.get("model", ""))
        client.created()
        jobs = [
            asyncio.create_task(_read(socket, client, wire, parts.limits.first_message_s)),
            asyncio.create_task(_write(socket, outbox)),
            asyncio.create_task(_watch(socket, parts, session, outbox, renew)),
        ]
        try:
            done, _ = await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
            for job in done:
                job.result()
        finally:
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)
    except (WebSocketDisconnect, RuntimeError, TimeoutError) as gone:
        _log.debug("a conversation's connection ended (%s)", type(gone).__name__)
    finally:
        await session.close()


async def _read(socket: WebSocket, client: ClientEvents, wire: Wire, first_s: float) -> None:
    patience: float | None = first_s
    while True:
        try:
            async with asyncio.timeout(patience):
                message = await socket.receive()
        except TimeoutError:
            await socket.close(_POLICY, _NOTHING_CAME)
            return
        patience = None
        if message["type"] == "websocket.disconnect":
            return
        if not take(message.get("text") or message.get("bytes") or "", client, wire):
            await socket.close(_TOO_BIG, TOO_LARGE)
            return
        # A flood of small messages must not keep the loop from playing.
        await asyncio.sleep(0)


async def _write(socket: WebSocket, outbox: Outbox) -> None:
    while True:
        event = await outbox.take()
        async with asyncio.timeout(_WRITE_S):
            await socket.send_text(json.dumps(event, separators=(",", ":")))


async def _watch(
    socket: WebSocket, parts: VoiceParts, session: Session, outbox: Outbox, renew: Callable[[], str | None]
) -> None:
    ending = await watch(parts, session, outbox, renew)
    await socket.close(ending.code, ending.words)
