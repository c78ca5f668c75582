"""What a bot remembers of a person, for that person: listed, and forgotten one by one or all at once.

It finds out who asks and hands the rest to whatever remembers. The one rule: a browser never writes a memory; it reads
its own and takes them away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from grant import error_response
from web.threads import LONGEST_NAME, NO_STORE, Who, stranger

if TYPE_CHECKING:
    from agents_core.recall import Memory


class Remembering(Protocol):
    """What the routes need; the core's `memories` is one."""

    async def of(self, person: str, bot: str) -> Sequence[Memory]: ...
    async def forget(self, person: str, bot: str, id_: int) -> bool: ...
    async def forget_all(self, person: str, bot: str) -> int: ...


def create_memories(memories: Remembering, who: Who) -> APIRouter:
    """`GET` and `DELETE /app/memories?bot=`, and `DELETE /app/memories/{id}?bot=`."""
    router = APIRouter(tags=["memories"])

    @router.get("/app/memories")
    async def listed(request: Request, bot: str = Query(max_length=LONGEST_NAME)) -> Response:
        asker = await who(request)
        if asker is None:
            return stranger()
        found = await memories.of(asker.subject, bot) if asker.bot in (None, bot) else []
        return JSONResponse({"memories": [asdict(one) for one in found]}, headers=NO_STORE)

    @router.delete("/app/memories", status_code=204)
    async def forget_all(request: Request, bot: str = Query(max_length=LONGEST_NAME)) -> Response:
        asker = await who(request)
        if asker is None:
            return stranger()
        if asker.bot in (None, bot):
            await memories.forget_all(asker.subject, bot)
        return Response(status_code=204, headers=NO_STORE)

    @router.delete("/app/memories/{memory}", status_code=204)
    async def forget(memory: int, request: Request, bot: str = Query(max_length=LONGEST_NAME)) -> Response:
        asker = await who(request)
        if asker is None:
            return stranger()
        if asker.bot not in (None, bot) or not await memories.forget(asker.subject, bot, memory):
            return error_response(404, "that is not remembered (any more), or it is not yours", code="no_such_memory")
        return Response(status_code=204, headers=NO_STORE)

    return router
