"""Kept conversations over HTTP, for the drawer: listed, read, forgotten.

It finds out who asks and hands the rest to whatever keeps them. The one rule: people see their own threads and nobody
else's; "not yours" and "not there" are the same answer, and no cache keeps either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from grant import error_response
from voice import ThreadAway, ThreadNotThere
from voice.kept import Kept

# What is somebody's own is kept by no cache.
NO_STORE = {"Cache-Control": "no-store"}
# Ids and cursors are far shorter.
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: a person, and the one bot their grant is for (None: any bot of theirs)."""

    subject: str
    bot: str | None = None


# Says who asks, or None where nobody is signed in.
Who = Callable[[Request], Awaitable[Asker | None]]


def create_threads(kept: Kept, who: Who) -> APIRouter:
    """`GET /app/threads[?bot=&before=&limit=]`, `GET /app/threads/{id}`, `DELETE /app/threads/{id}`."""
    router = APIRouter(tags=["threads"])

    @router.get("/app/threads")
    async def listed(
        request: Request,
        bot: str | None = Query(None, max_length=LONGEST_NAME),
        before: str | None = Query(None, max_length=LONGEST_NAME),
        limit: int = Query(50, ge=1, le=200),
    ) -> Response:
        asker = await who(request)
        if asker is None:
            return stranger()
        at = _cursor(before) if before else None
        if before and at is None:
            return error_response(400, "`before` must be the `next` of an earlier page", code="bad_request")
        if asker.bot is not None and bot not in (None, asker.bot):
            return JSONResponse({"threads": [], "next": None}, headers=NO_STORE)
        try:
            threads = await kept.threads(asker.subject, bot or asker.bot, before=at, limit=limit)
        except ThreadAway as fault:
            return _away(fault)
        last = threads[-1] if len(threads) == limit else None
        following = f"{last.said_s!r}~{last.id}" if last else None
        return JSONResponse({"threads": [asdict(thread) for thread in threads], "next": following}, headers=NO_STORE)

    @router.get("/app/threads/{thread}")
    async def read(thread: str, request: Request) -> Response:
        asker = await who(request)
        if asker is None:
            return stranger()
        try:
            found, lines = await kept.read(asker.subject, thread)
            if asker.bot not in (None, found.bot):
                raise ThreadNotThere
        except ThreadNotThere as fault:
            return _not_there(fault)
        except ThreadAway as fault:
            return _away(fault)
        return JSONResponse({**asdict(found), "lines": [asdict(line) for line in lines]}, headers=NO_STORE)

    @router.delete("/app/threads/{thread}", status_code=204)
    async def forget(thread: str, request: Request) -> Response:
        asker = await who(request)
        if asker is None:
            return stranger()
        try:
            if asker.bot is not None and (await kept.read(asker.subject, thread))[0].bot != asker.bot:
                raise ThreadNotThere
            await kept.forget(asker.subject, thread)
        except ThreadNotThere as fault:
            return _not_there(fault)
        except ThreadAway as fault:
            return _away(fault)
        return Response(status_code=204, headers=NO_STORE)

    return router


def _cursor(before: str) -> tuple[float, str] | None:
    """The time and the id of the thread that a page ended with."""
    at, _, thread = before.partition("~")
    try:
        return (float(at), thread) if thread else None
    except ValueError:
        return None


def stranger() -> Response:
    """The answer to somebody who is not signed in."""
    return error_response(401, "sign in first; what is kept is yours alone", code="not_signed_in")


def _not_there(fault: ThreadNotThere) -> Response:
    return error_response(404, str(fault), code="thread_not_there", headers=NO_STORE)


def _away(fault: ThreadAway) -> Response:
    return error_response(503, str(fault), code="thread_away", headers={**NO_STORE, "Retry-After": "5"})
