"""The OpenAI-shaped door: routes, and nothing but routes.

It reads a request, opens a run and hands the events to `answer.py`; it does not think. The one rule: from a client come
a question and the lines before it; everything else about the answer is the bot's file and the grant.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Callable, Container
from typing import Protocol

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from agents_core.events import Ask, Ceilings, Event
from grant import Grant, GrantRoute, Signer, error_body, error_response, granted
from llm_door.answer import Answer, Pace
from llm_door.asked import Asked, read
from llm_door.errors import RequestRefused
from llm_door.people import Person, Session
from llm_door.starting import Openings, begin
from llm_door.wire import Wire

TRACE_HEADER = "X-Firstword-Trace"


class Brain(Protocol):
    """What the door needs of the core; `agents_core.Core` is one."""

    @property
    def bots(self) -> Container[str]:
        """The slugs of the bots that are served."""
        ...

    def run_turn(self, ask: Ask) -> AsyncIterator[Event]:
        """The events of one answer. Closing the iterator ends the run."""
        ...


def create_door(
    core: Brain,
    signer: Signer,
    *,
    session: Session,
    opening: Openings,
    now: Callable[[], float] = time.time,
    pace: Pace | None = None,
) -> APIRouter:
    """The door's router. `session` says who presses start, `opening` what they get; `now` gives Unix seconds."""
    router = APIRouter(route_class=GrantRoute, tags=["door"])
    began = int(now())

    def wire(bot: str, request: Request) -> Wire:
        return Wire(
            id=f"chatcmpl-{uuid.uuid4().hex}",
            created=int(now()),
            model=bot,
            ours=request.headers.get(TRACE_HEADER) == "1",
        )

    @router.post("/v1/chat/completions")
    async def chat(request: Request) -> Response:
        held = granted(signer, request.headers)
        try:
            asked = read(await request.body())
        except RequestRefused as refused:
            return _refused(refused)
        if held.bot not in core.bots:
            return _no_bot(held.bot)
        return Answer(
            lambda: core.run_turn(_ask(asked, held)),
            wire(held.bot, request),
            stream=asked.stream,
            include_usage=asked.include_usage,
            pace=pace or Pace(),
        )

    @router.get("/v1/models")
    async def models(request: Request) -> Response:
        held = granted(signer, request.headers)
        served = [held.bot] if held.bot in core.bots else []
        return JSONResponse({"object": "list", "data": [_model(bot, began) for bot in served]})

    @router.get("/v1/models/{bot}")
    async def model(bot: str, request: Request) -> Response:
        held = granted(signer, request.headers)
        if bot != held.bot or bot not in core.bots:
            return _no_bot(bot)
        return JSONResponse(_model(bot, began))

    @router.post("/app/voice/{bot}/start")
    async def start(bot: str, request: Request) -> Response:
        person: Person | None = await session(request)
        if person is None:
            return error_response(401, "sign in first, then press start again", code="not_signed_in")
        return begin(bot, opening(bot) if bot in core.bots else None, person, signer)

    return router


def _ask(asked: Asked, held: Grant) -> Ask:
    return Ask(
        bot=held.bot,
        text=asked.text,
        asker=held.subject,
        subject=held.subject,
        room=held.room,
        history=asked.history,
        language=asked.language,
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
