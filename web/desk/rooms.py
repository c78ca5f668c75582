"""The other rooms of the desk over HTTP: conversations, health, and what a person opens to the owner.

The one rule: as in `routes`; and a person opens and shuts their own conversations and nobody else's.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from grant import error_response
from models import CatalogRefused
from voice import ThreadAway, ThreadNotThere
from web.desk.health import Health, diagnosis
from web.desk.parts import DeskParts
from web.desk.routes import NO_STORE, Asked, for_owner
from web.desk.shelf import Owner, Shelf
from web.desk.standing import standing
from web.desk.talks import DAYS, Talks
from web.threads import Who, stranger


def create_rooms(parts: DeskParts, shelf: Shelf, talks: Talks) -> APIRouter:
    """`/app/desk/api/talks…` and `/app/desk/api/health…`."""
    router = APIRouter(include_in_schema=False, prefix="/app/desk/api")
    health = Health(parts)

    @router.get("/talks")
    async def counted(request: Request) -> Response:
        async def answer(_owner: Owner) -> Response:
            rows = await talks.of(parts, shelf.slugs())
            names = {slug: parts.bots[slug].name for slug in parts.bots}
            return _json({"days": DAYS, "bots": [{**row, "name": names.get(row["slug"], row["slug"])} for row in rows]})

        return await _reading(parts, request, answer)

    @router.get("/talks/{thread}")
    async def read(thread: str, request: Request) -> Response:
        async def answer(_owner: Owner) -> Response:
            return _json(await talks.read(thread))

        return await _reading(parts, request, answer)

    @router.get("/health")
    async def look(request: Request) -> Response:
        async def answer(_owner: Owner) -> Response:
            return _json(await health.look())

        return await for_owner(parts, request, answer)

    @router.get("/health/diagnosis")
    async def copied(request: Request) -> Response:
        async def answer(_owner: Owner) -> Response:
            bots = [standing(parts, slug, shelf.refusals(slug)) for slug in shelf.slugs()]
            return PlainTextResponse(diagnosis(await health.look(), bots), headers=NO_STORE)

        return await for_owner(parts, request, answer)

    @router.post("/health/models/{name}/pull")
    async def pull(name: str, request: Request) -> Response:
        async def answer(_owner: Owner) -> Response:
            try:
                health.pull(name)
            except CatalogRefused as fault:
                return error_response(404, str(fault), code="not_found", headers=NO_STORE)
            return _json({"begun": True})

        return await for_owner(parts, request, answer)

    @router.post("/health/ask")
    async def ask(request: Request) -> Response:
        async def answer(_owner: Owner) -> Response:
            return _json({"lines": await parts.ask_everybody()})

        return await for_owner(parts, request, answer)

    @router.post("/health/drill")
    async def drill(request: Request) -> Response:
        async def answer(_owner: Owner) -> Response:
            return _json({"lines": await parts.drill()})

        return await for_owner(parts, request, answer)

    return router


def create_sharing(talks: Talks, who: Who) -> APIRouter:
    """`GET /app/shared`; `PUT` and `DELETE /app/shared/{thread}`: a person's own conversations, open to the owner."""
    router = APIRouter(tags=["threads"])

    @router.get("/app/shared")
    async def listed(request: Request) -> Response:
        asker = await who(request)
        if asker is None:
            return stranger()
        return _json({"shared": await talks.shared_by(asker.subject)})

    @router.put("/app/shared/{thread}", status_code=204)
    async def share(thread: str, request: Request) -> Response:
        return await _share(thread, request, shared=True)

    @router.delete("/app/shared/{thread}", status_code=204)
    async def shut(thread: str, request: Request) -> Response:
        return await _share(thread, request, shared=False)

    async def _share(thread: str, request: Request, *, shared: bool) -> Response:
        asker = await who(request)
        if asker is None:
            return stranger()
        try:
            await talks.share(asker.subject, thread, shared=shared)
        except ThreadNotThere as fault:
            return error_response(404, str(fault), code="thread_not_there", headers=NO_STORE)
        except ThreadAway as fault:
            return error_response(503, str(fault), code="thread_away", headers={**NO_STORE, "Retry-After": "5"})
        return Response(status_code=204, headers=NO_STORE)

    return router


async def _reading(parts: DeskParts, request: Request, answer: Asked) -> Response:
    try:
        return await for_owner(parts, request, answer)
    except ThreadNotThere as fault:
        return error_response(404, str(fault), code="thread_not_there", headers=NO_STORE)
    except ThreadAway as fault:
        return error_response(503, str(fault), code="thread_away", headers={**NO_STORE, "Retry-After": "5"})


def _json(told: object) -> Response:
    return JSONResponse(told, headers=NO_STORE)
