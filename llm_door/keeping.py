"""What stands in front of every door: names, origins, bodies, the crowd, and the headers of what goes out.

It knows no route's meaning. The one rule: the cheapest check comes first, and none of them reads a body.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grant import Signer
from llm_door.bodies import BodyKeeper, BodyLimits
from llm_door.crowd import Crowd, CrowdKeeper, CrowdLimits
from llm_door.origins import LOOPBACK_HOSTS, HostKeeper, OriginKeeper, refuse

# Nothing from elsewhere, no script in the page's own text, no frame around it; 'self' covers our WebSocket too.
CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "media-src 'self' blob:",
        "connect-src 'self'",
        "worker-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_ALWAYS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
_PAGES = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Keeping:
    """What is let in. `hosts` are names without ports; `origins` are other sites' pages that may knock."""

    hosts: tuple[str, ...] = LOOPBACK_HOSTS
    origins: tuple[str, ...] = ()
    bodies: BodyLimits = field(default_factory=BodyLimits)
    crowd: CrowdLimits = field(default_factory=CrowdLimits)


class HeaderKeeper:
    """Middleware: the security headers, on pages and on everything else; one that is there already stays."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                page = headers.get("content-type", "").startswith("text/html")
                for name, value in {**_ALWAYS, **(_PAGES if page else {})}.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)


class NulKeeper:
    """Middleware: 400 for a NUL in a path or a query. No name here has one, and PostgreSQL takes none in any text."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and ("\0" in scope["path"] or b"%00" in scope["query_string"]):
            await refuse(scope, receive, send, 400, "a NUL (%00) stands in the address; leave it out", "bad_request")
            return
        await self._app(scope, receive, send)


def keep(
    app: ASGIApp, signer: Signer, keeping: Keeping | None = None, *, now: Callable[[], float] = time.monotonic
) -> ASGIApp:
    """`app` with everything in front of it. `now` gives monotonic seconds."""
    chosen = keeping or Keeping()
    inner: ASGIApp = BodyKeeper(NulKeeper(app), chosen.bodies)
    inner = CrowdKeeper(inner, Crowd(chosen.crowd, now), signer)
    inner = OriginKeeper(inner, chosen.origins)
    inner = HostKeeper(inner, chosen.hosts)
    return HeaderKeeper(inner)
