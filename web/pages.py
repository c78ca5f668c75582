"""The pages' addresses: `/`, `/app/voice/{bot}`, `/static/…`.

It says what is where and under which headers; what a page looks like is in `markup.py`. The one rule: a page loads
nothing that this server did not send.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from web.bots import BotCard
from web.files import StaticFiles
from web.markup import home_page, missing_page, voice_page

_STATIC = Path(__file__).parent / "static"
# Worklets are scripts of ours too, and the WebSocket is of our own origin; nothing else is needed.
_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
)
PAGE_HEADERS = {
    "Content-Security-Policy": "; ".join((*_POLICY, "connect-src 'self'")),
    "Cache-Control": "no-store",
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class RoomClient:
    """What the page joins a LiveKit server's rooms with: the server's address, and the file of LiveKit's own client."""

    url: str
    script: Path

    @property
    def addresses(self) -> str:
        """Where the page connects to: by WebSocket, and by HTTP, which the client asks why it was refused."""
        scheme, rest = self.url.rstrip("/").split("://", 1)
        safe = "s" if scheme in ("wss", "https") else ""
        return f"ws{safe}://{rest} http{safe}://{rest}"


def static_files(folder: Path = _STATIC, rooms: RoomClient | None = None) -> StaticFiles:
    """The static files of every page."""
    return StaticFiles(folder, {"livekit-client.js": rooms.script} if rooms else None)


def create_pages(
    bots: Callable[[], Sequence[BotCard]],
    ready: Callable[[], dict[str, Any]] | None = None,
    *,
    owner: Callable[[Request], Awaitable[object | None]] | None = None,
    folder: Path = _STATIC,
    rooms: RoomClient | None = None,
) -> APIRouter:
    """The router of the pages.

    `bots` gives the bots there are at this moment. `ready`, where given, is served as `/readyz`: `{"ready": bool,
    "loading": [{"name", "what", "bytes", "total_bytes"}], "faults": [str]}`, with status 503 until it is ready; leave
    it out where somebody else serves that address in this shape. `rooms` is there where the page may join rooms.
    `owner`, where given, says which owner of the site asks: they are shown the way to the desk.
    """
    router = APIRouter(include_in_schema=False)
    files = static_files(folder, rooms)
    connect = f"connect-src 'self' {rooms.addresses}" if rooms else "connect-src 'self'"
    headers = {**PAGE_HEADERS, "Content-Security-Policy": "; ".join((*_POLICY, connect))}
    base = f"/static/{files.digest}"
    modules = tuple(name for name in files.names if _of_a_talk(name))

    @router.get("/")
    async def home(request: Request) -> HTMLResponse:
        owned = owner is not None and await owner(request) is not None
        return HTMLResponse(home_page(bots(), static=base, owner=owned), headers=PAGE_HEADERS)

    @router.get("/app/voice/{slug}")
    async def voice(slug: str) -> HTMLResponse:
        for bot in bots():
            if bot.slug == slug:
                page = voice_page(bot, static=base, modules=modules, rooms=rooms is not None)
                return HTMLResponse(page, headers=headers)
        return _missing(f"There is no bot named “{slug[:60]}”.", base)

    @router.get("/static/{path:path}")
    async def static(request: Request, path: str) -> Response:
        return files.respond(request, path) or _missing("There is no such file.", base)

    if ready is not None:
        said = ready

        @router.get("/readyz")
        async def readyz() -> JSONResponse:
            state = said()
            return JSONResponse(state, status_code=200 if state.get("ready") else 503)

    return router


def _of_a_talk(name: str) -> bool:
    """Whether a file is a script of the conversation: no worklet, and nothing of the desk."""
    return name.endswith(".js") and not name.endswith("worklet.js") and "/" not in name


def _missing(what: str, base: str) -> HTMLResponse:
    return HTMLResponse(missing_page(what, static=base), status_code=404, headers=PAGE_HEADERS)
