"""The desk's pages: the frame of each room, for owners; for anybody else an address that leads nowhere.

What moves is in `static/desk/`. The one rule: the frame holds no value of a bot; the page asks for those.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from web.desk.shelf import Owner
from web.markup import desk_page, missing_page
from web.pages import PAGE_HEADERS, RoomClient, static_files


def create_desk_pages(
    owner: Callable[[Request], Awaitable[Owner | None]], *, rooms: RoomClient | None = None
) -> APIRouter:
    """`/app/desk`, `/app/desk/bots/{slug}`, `/app/desk/conversations`, `/app/desk/health`. `rooms` as for the pages."""
    router = APIRouter(include_in_schema=False)
    base = f"/static/{static_files(rooms=rooms).digest}"

    async def page(request: Request, room: str, slug: str = "") -> Response:
        if await owner(request) is None:
            text = missing_page("There is no such page here.", static=base)
            return HTMLResponse(text, status_code=404, headers=PAGE_HEADERS)
        return HTMLResponse(desk_page(room, slug, static=base), headers=PAGE_HEADERS)

    @router.get("/app/desk")
    async def bots(request: Request) -> Response:
        return await page(request, "bots")

    @router.get("/app/desk/bots/{slug}")
    async def bot(slug: str, request: Request) -> Response:
        return await page(request, "bot", slug)

    @router.get("/app/desk/conversations")
    async def conversations(request: Request) -> Response:
        return await page(request, "conversations")

    @router.get("/app/desk/health")
    async def health(request: Request) -> Response:
        return await page(request, "health")

    return router
