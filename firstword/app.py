"""The app: every room's router on one port, the health doors, start and stop.

It wires and nothing else. The one rule: no request is let in before the models are loaded.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp

import firstword
from asr import create_transcriptions
from firstword.house import House, identity_for, open_house, signer_for
from firstword.livekit import room_client_for, room_pass_for
from firstword.settings import Settings
from grant import GrantRefused, Signer, granted
from llm_door import Keeping, Session, create_door, keep, single_user
from tts import create_speech
from voice import create_voice
from web import Asker, Who, create_memories, create_pages, create_threads
from web.desk import create_desk_pages
from web.signin import create_signin, keep_signed_in, session_of


def create_kept_app(settings: Settings, base_url: str) -> ASGIApp:
    """The same app with what keeps its doors in front: hosts, origins, body limits, crowds, security headers."""
    hosts = (*Keeping().hosts, settings.host, *settings.allowed_hosts)
    app: ASGIApp = create_app(settings, base_url)
    origins = settings.allowed_origins
    identity = identity_for(settings)
    if identity is not None:
        app = keep_signed_in(app, settings.secret.get_secret_value(), secure=identity.secure)
        # People reach us under that name, and behind a proxy it is not the scheme that we see.
        public = urlsplit(identity.public_url)
        hosts, origins = (*hosts, public.hostname or ""), (*origins, f"{public.scheme}://{public.netloc}")
    return keep(app, signer_for(settings), Keeping(hosts=hosts, origins=origins))


def create_app(settings: Settings, base_url: str) -> FastAPI:
    """The app for a server that answers at `base_url`. Models are loaded when it starts, and warmed just after."""

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        house = await open_house(settings, base_url)
        app.state.house = house
        _include(app, house)
        warming = asyncio.create_task(house.warm())
        try:
            yield
        finally:
            warming.cancel()
            await asyncio.gather(warming, return_exceptions=True)
            await house.close()

    app = FastAPI(title="Firstword", version=firstword.__version__, lifespan=life, docs_url=None, redoc_url=None)

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> JSONResponse:
        return JSONResponse({"ok": True})

    return app


def _include(app: FastAPI, house: House) -> None:
    """Every router; called while the app starts, before the first request is let in."""
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
    client = room_client_for(house.settings)
    app.include_router(create_desk_pages(house.desk.owner, rooms=client))
    app.include_router(create_pages(house.cards, house.readiness, owner=house.desk.owner, rooms=client))


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
