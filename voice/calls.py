"""`/v1/realtime/calls`: WebRTC in OpenAI's shape. An offer comes in, an answer goes out, and a call is on.

It holds the calls that are on; what happens in one is `call.py`'s. Without the extra `webrtc` it says so and the
WebSocket serves everybody. The one rule: whoever names a call must hold a grant for the very same conversation.
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from grant import Grant, GrantRoute, error_response, granted
from voice.admission import Admitted, admit
from voice.errors import BadOffer
from voice.parts import VoiceParts
from voice.places import Places

if TYPE_CHECKING:
    from voice.call import Call

_log = logging.getLogger("firstword.voice")

# An offer with every candidate a browser knows is under 10 KB.
_LONGEST_SDP = 64 * 1024
_NO_WEBRTC = "this server has no WebRTC (its extra `webrtc` is not installed); use the WebSocket at /v1/realtime"


@dataclass(slots=True)
class _Running:
    call: Call
    task: asyncio.Task[None]


class Calls:
    """The calls that are on. Whoever serves them closes them."""

    def __init__(self) -> None:
        self._running: dict[str, _Running] = {}

    def __len__(self) -> int:
        return len(self._running)

    def begin(self, call: Call, places: Places, place: int) -> str:
        """Hold `call` until it is over, then give `place` back; gives its name."""
        name = f"rtc_{uuid.uuid4().hex[:20]}"
        task = asyncio.create_task(call.run(lambda: places.renew(place)))
        self._running[name] = _Running(call, task)

        def over(ended: asyncio.Task[None]) -> None:
            places.leave(place)
            self._running.pop(name, None)
            if not ended.cancelled() and ended.exception() is not None:
                _log.error("a call broke: %s", type(ended.exception()).__name__)

        task.add_done_callback(over)
        return name

    def find(self, name: str, grant: Grant) -> Call | None:
        """The call of that name, for whoever holds a grant for it."""
        running = self._running.get(name)
        if running is None:
            return None
        held = running.call.grant
        same = (held.bot, held.subject, held.room) == (grant.bot, grant.subject, grant.room)
        return running.call if same else None

    async def close(self) -> None:
        """Hang up on everybody. Safe to call twice."""
        all_running = [*self._running.values()]
        for running in all_running:
            running.task.cancel()
        await asyncio.gather(*(running.task for running in all_running), return_exceptions=True)
        for running in all_running:
            await running.call.close()  # one that had not begun to run has not closed itself


def create_calls(parts: VoiceParts, places: Places, calls: Calls) -> APIRouter:
    """The routes of calls."""
    router = APIRouter(route_class=GrantRoute, tags=["voice"])
    try:
        # Loaded while the server starts: it takes a moment in which nobody could be answered.
        from voice.call import Call
    except ImportError:
        _add_refusals(router)
        return router

    @router.get("/v1/realtime/calls")
    async def about(request: Request) -> JSONResponse:
        """The ICE servers to offer a call with."""
        granted(parts.signer, request.headers)
        servers = [
            {"urls": one["url"], **{key: one[key] for key in ("username", "credential") if one[key]}}
            for one in map(asdict, parts.ice_servers)
        ]
        return JSONResponse({"ice_servers": servers}, headers={"Cache-Control": "no-store"})

    @router.post("/v1/realtime/calls", status_code=201)
    async def call(request: Request) -> Response:
        admitted = admit(request.headers, parts, places)
        if isinstance(admitted, JSONResponse):
            return admitted
        begun = False
        try:
            response = await answer(request, admitted)
            begun = response.status_code < 400
            return response
        finally:
            if not begun:
                places.leave(admitted.place)

    async def answer(request: Request, admitted: Admitted) -> Response:
        try:
            offer, session = await _read(request)
            opened = Call(parts, admitted, model=request.query_params.get("model", ""))
        except BadOffer as fault:
            return error_response(400, str(fault), code="bad_offer")
        except KeyError:
            return error_response(404, "there is no such bot here", code="bot_not_found")
        try:
            sdp = await opened.peer.answer(offer)
            if session:
                opened.update(session)
        except BaseException as fault:
            await opened.close()
            if isinstance(fault, BadOffer):
                return error_response(400, str(fault), code="bad_offer")
            raise
        name = calls.begin(opened, places, admitted.place)
        headers = {"Location": f"/v1/realtime/calls/{name}", "Cache-Control": "no-store"}
        return Response(sdp, status_code=201, media_type="application/sdp", headers=headers)

    @router.patch("/v1/realtime/calls/{name}", status_code=204)
    async def candidates(name: str, request: Request) -> Response:
        found = calls.find(name, granted(parts.signer, request.headers))
        if found is None:
            return _no_call()
        try:
            await found.peer.add_candidates(_text(await request.body()))
        except BadOffer as fault:
            return error_response(400, str(fault), code="bad_candidate")
        return Response(status_code=204)

    @router.post("/v1/realtime/calls/{name}/hangup")
    async def hang_up(name: str, request: Request) -> Response:
        found = calls.find(name, granted(parts.signer, request.headers))
        if found is None:
            return _no_call()
        found.peer.gone.set()
        found.peer.settled.set()
        return Response(status_code=200)

    return router


def _add_refusals(router: APIRouter) -> None:
    async def refuse() -> JSONResponse:
        return error_response(501, _NO_WEBRTC, code="no_webrtc", headers={"x-should-retry": "false"})

    router.add_api_route("/v1/realtime/calls", refuse, methods=["GET", "POST"])


async def _read(request: Request) -> tuple[str, dict[str, Any]]:
    """The offer, and the session that came with it. Raises `BadOffer`."""
    if request.headers.get("content-type", "").startswith(("multipart/form-data", "application/x-www-form-urlencoded")):
        try:
            form = await request.form(max_files=2, max_fields=8, max_part_size=_LONGEST_SDP)
        except HTTPException as fault:
            raise BadOffer(f"the form cannot be read ({fault.detail})") from fault
        return await _field(form.get("sdp")), _session(await _field(form.get("session")))
    return _text(await request.body()), {}


async def _field(value: object) -> str:
    if isinstance(value, UploadFile):
        return _text(await value.read(_LONGEST_SDP + 1))
    return value if isinstance(value, str) else ""


def _text(body: bytes) -> str:
    if len(body) > _LONGEST_SDP:
        raise BadOffer(f"an offer may have {_LONGEST_SDP // 1024} KiB at most")
    try:
        return body.decode()
    except UnicodeDecodeError as fault:
        raise BadOffer("the offer is not UTF-8") from fault


def _session(text: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        session = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise BadOffer("`session` is not JSON") from fault
    if not isinstance(session, dict):
        raise BadOffer("`session` must be an object")
    return session


def _no_call() -> JSONResponse:
    return error_response(404, "there is no such call (any more), or it is not yours", code="no_such_call")
