"""The OpenAI-shaped door: routes, and nothing but routes.

It reads a request, opens a run and hands the events to `answer.py`; it does not think. The one rule: from a client come
a question and the lines before it; everything else about the answer is the bot's file and the grant.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from agents_core import Ask, Bot, Ceilings, Event
from grant import BareGrantRoute, Grant, GrantRoute, Signer, error_body, error_response, granted
from llm_door.answer import Answer, Pace
from llm_door.asked import Asked, read
from llm_door.errors import RequestRefused
from llm_door.people import Person, Session, single_user
from llm_door.starting import RoomPass, begin
from llm_door.wire import Wire

TRACE_HEADER = "X-Firstword-Trace"


class Shelf(Protocol):
    """The bots; `agents_core.Bots` is one."""

    def get(self, slug: str, /) -> Bot | None:
        """The bot of that slug, if it is served."""
        ...

    async def fresh(self) -> object:
        """Look at the files again, where that is due."""
        ...


class Brain(Protocol):
    """What the door needs of the core; `agents_core.Core` is one."""

    @property
    def bots(self) -> Shelf:
        """The bots that are served."""
        ...

    def run_turn(self, ask: Ask) -> AsyncIterator[Event]:
        """The events of one answer. Closing the iterator ends the run."""
        ...


def create_door(
    core: Brain,
    signer: Signer,
    *,
    session: Session | None = None,
    now: Callable[[], float] = time.time,
    pace: Pace | None = None,
    room_pass: RoomPass | None = None,
) -> APIRouter:
    """The door's router. `session` says who presses start (the one owner by default); `now` gives Unix seconds.

    `room_pass` is there where conversations may be held in the rooms of a LiveKit server.
    """
    asking = session or single_user()
    router = APIRouter(route_class=GrantRoute, tags=["door"])
    began = int(now())

    def wire(bot: str, request: Request) -> Wire:
        return Wire(
            id=f"chatcmpl-{uuid.uuid4().hex}",
            created=int(now()),
            model=bot,
            ours=request.headers.get(TRACE_HEADER) == "1",
        )

    async def chat(request: Request) -> Response:
        held = granted(signer, request.headers)
        try:
            asked = read(await request.body())
        except RequestRefused as refused:
            return _refused(refused)
        bot = core.bots.get(held.bot)
        if bot is None:
            return _no_bot(held.bot)
        return Answer(
            lambda: core.run_turn(_ask(asked, held, bot)),
            lambda: wire(held.bot, request),
            stream=asked.stream,
            include_usage=asked.include_usage,
            pace=pace or Pace(),
        )

    router.add_api_route(
        "/v1/chat/completions", chat, methods=["POST"], openapi_extra=_CHAT, route_class_override=BareGrantRoute
    )

    @router.get("/v1/models")
    async def models(request: Request) -> Response:
        held = granted(signer, request.headers)
        served = [held.bot] if core.bots.get(held.bot) else []
        return JSONResponse({"object": "list", "data": [_model(bot, began) for bot in served]})

    @router.get("/v1/models/{bot}")
    async def model(bot: str, request: Request) -> Response:
        held = granted(signer, request.headers)
        if bot != held.bot or core.bots.get(bot) is None:
            return _no_bot(bot)
        return JSONResponse(_model(bot, began))

    @router.post("/app/voice/{bot}/start")
    async def start(bot: str, request: Request) -> Response:
        person: Person | None = await asking(request)
        if person is None:
            return error_response(401, "sign in first, then press start again", code="not_signed_in")
        await core.bots.fresh()
        return begin(core.bots.get(bot), person, signer, room_pass)

    return router


# The body is read by hand, so that whatever else an SDK sends is left aside; this is what is looked at.
_CHAT: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["messages"],
                    "properties": {
                        "messages": {
                            "type": "array",
                            "minItems": 1,
                            "items": {
                                "type": "object",
                                "required": ["role", "content"],
                                "properties": {
                                    "role": {"enum": ["user", "assistant", "system"]},
                                    "content": {"type": "string"},
                                },
                            },
                        },
                        "stream": {"type": "boolean"},
                        "stream_options": {"type": "object", "properties": {"include_usage": {"type": "boolean"}}},
                        "metadata": {"type": "object", "properties": {"language": {"type": "string"}}},
                    },
                }
            }
        },
    }
}


def _ask(asked: Asked, held: Grant, bot: Bot) -> Ask:
    return Ask(
        bot=held.bot,
        text=asked.text,
        asker=held.subject,
        subject=held.subject,
        room=held.room,
        history=asked.history,
        surface="voice" if bot.voice else bot.surfaces[0],
        language=asked.language or (bot.voice.language if bot.voice else "en"),
        ceilings=Ceilings(steps=held.steps, spend=held.spend, minutes=held.minutes),
    )


def _model(bot: str, created: int) -> dict[str, object]:
    return {"id": bot, "object": "model", "created": created, "owned_by": "firstword"}


def _refused(refused: RequestRefused) -> JSONResponse:
    body = error_body(str(refused), code="bad_request")
    error = body["error"]
    if isinstance(error, dict):
        error["param"] = refused.param
    return JSONResponse(body, status_code=400)


def _no_bot(bot: str) -> JSONResponse:
    return error_response(
        404, f"the bot {bot!r} is not served here (any more); press start again for a grant", code="model_not_found"
    )
