"""The app: every room's router on one port, the health doors, start and stop.

It wires and nothing else. The one rule: the pages are there at once and tell what is loading; every other door says so
until it is open.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.dependencies import models as dependencies
from fastapi.exception_handlers import http_exception_handler
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

import firstword
from asr import create_transcriptions
from firstword.house import House, identity_for, open_house, signer_for
from firstword.livekit import room_client_for, room_pass_for
from firstword.preparing import Preparing, settled
from firstword.rooms import ERRORS
from firstword.settings import Settings
from grant import GrantRefused, Signer, StraightApp, error_response, granted
from llm_door import CrowdLimits, Keeping, Session, create_door, keep, single_user
from tts import create_speech
from voice import create_voice
from web import Asker, RoomClient, Who, create_memories, create_pages, create_threads
from web.desk import create_desk_pages
from web.signin import create_signin, keep_signed_in, session_of

_LOG = logging.getLogger(__name__)
_NOT_YET = (404, 405)

# Told why the house cannot be opened.
OnFault = Callable[[Exception], object]


def create_kept_app(settings: Settings, base_url: str, on_fault: OnFault | None = None) -> ASGIApp:
    """The same app with what keeps its doors in front: hosts, origins, body limits, crowds, security headers."""
    hosts = (*Keeping().hosts, settings.host, *settings.allowed_hosts)
    app: ASGIApp = create_app(settings, base_url, on_fault)
    origins = settings.allowed_origins
    identity = identity_for(settings)
    if identity is not None:
        app = keep_signed_in(app, settings.secret.get_secret_value(), secure=identity.secure)
        # People reach us under that name, and behind a proxy it is not the scheme that we see.
        public = urlsplit(identity.public_url)
        hosts, origins = (*hosts, public.hostname or ""), (*origins, f"{public.scheme}://{public.netloc}")
    return keep(app, signer_for(settings), Keeping(hosts=hosts, origins=origins, crowd=crowd_of(settings)))


def crowd_of(settings: Settings) -> CrowdLimits:
    """Streams at once. Each conversation has an answer and the one that it replaces, and none is to lack its answer."""
    least = CrowdLimits()
    return replace(
        least,
        per_person=max(least.per_person, 2 * settings.sessions_per_person),
        total=max(least.total, 2 * settings.sessions),
    )


def create_app(settings: Settings, base_url: str, on_fault: OnFault | None = None) -> FastAPI:
    """The app for a server that answers at `base_url`.

    Its pages are there at once. The house is opened behind them, models and all; where it cannot be, `/readyz` says why
    and so does `on_fault`.
    """
    preparing = Preparing(settings)
    loaded = contextlib.ExitStack()
    rooms = room_client_for(settings)

    async def prepare(app: FastAPI) -> None:
        try:
            await preparing.read()
            house = await open_house(settings, base_url)
            preparing.house = house
            _include(app, house, rooms)
            await house.warm()
            loaded.enter_context(settled())
        except Exception as fault:
            preparing.fault = str(fault)
            if on_fault is not None:
                on_fault(fault)
            elif isinstance(fault, ERRORS):
                _LOG.error("the house cannot be opened: %s", fault)
            else:
                _LOG.exception("the house cannot be opened")

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        opening = asyncio.create_task(prepare(app))
        try:
            yield
        finally:
            opening.cancel()
            await asyncio.gather(opening, return_exceptions=True)
            loaded.close()
            if preparing.house is not None:
                await preparing.house.close()
            _forget_endpoints()

    app = StraightApp(title="Firstword", version=firstword.__version__, lifespan=life, docs_url=None, redoc_url=None)
    app.include_router(create_pages(preparing.cards, preparing.readiness, owner=preparing.owner, rooms=rooms))

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> JSONResponse:
        return JSONResponse({"ok": True})

    @app.exception_handler(HTTPException)
    async def not_yet(request: Request, fault: HTTPException) -> Response:
        """A door that is not there yet is not one that does not exist."""
        if preparing.house is None and fault.status_code in _NOT_YET:
            message = "the models are still loading; ask again in a moment"
            # A browser that was led here, to sign in, asks again by itself.
            return error_response(503, message, code="loading", headers={"Retry-After": "2", "Refresh": "2"})
        return await http_exception_handler(request, fault)

    return app


def _include(app: FastAPI, house: House, rooms: RoomClient | None) -> None:
    """Every router but the pages'."""
    session = single_user()
    identity = identity_for(house.settings)
    if identity is not None:
        app.include_router(create_signin(identity, house.removed))
        session = session_of(house.removed)
    app.include_router(create_door(house.core, house.signer, session=session, room_pass=room_pass_for(house.settings)))
    app.include_router(create_voice(house.voice_parts(), house.calls, house.places))
    app.include_router(create_speech(house.speech_source(), house.signer))
    app.include_router(create_transcriptions(house.hearing_source(), house.signer))
    who = _asker(session, house.signer)
    app.include_router(create_threads(house.kept, who))
    app.include_router(create_memories(house.core.memories, who))
    for router in house.desk.routers(who):
        app.include_router(router)
    app.add_api_route("/metrics", house.metrics.response, include_in_schema=False)
    app.include_router(create_desk_pages(house.desk.owner, rooms=rooms))


def _forget_endpoints() -> None:
    """FastAPI keeps the last 4096 endpoints it has looked at, and with them the closed house that theirs were made of.

    What it keeps is looked at once more where another app is being served: milliseconds.
    """
    for kept in vars(dependencies).values():
        if hasattr(kept, "cache_clear"):
            kept.cache_clear()


def _asker(session: Session, signer: Signer) -> Who:
    """Whose conversations: those of the grant where one is presented, else of whoever is signed in."""

    async def who(request: Request) -> Asker | None:
        if "authorization" in request.headers:
            try:
                grant = granted(signer, request.headers)
            except GrantRefused:
                return None
            return Asker(grant.subject, grant.bot)
        person = await session(request)
        return Asker(person.subject) if person else None

    return who
