"""Which names this server answers to, and which pages may knock.

A bind to loopback is no defence by itself: a page anywhere can point a name at 127.0.0.1 and have the visitor's browser
knock, and no CORS middleware ever sees a WebSocket. The one rule: it is decided before anything is accepted or read.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from grant import bearer, error_response

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_DEFAULT_PORTS = {"http": "80", "https": "443"}
# A policy violation: what a WebSocket is closed with. Before it is accepted the server makes a 403 of it.
_POLICY = 1008


class HostKeeper:
    """Middleware: `hosts` are the names (without ports) that this server answers to; "*" is any."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = LOOPBACK_HOSTS) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and not self._known(scope):
            message = "this server does not answer to that name; add it to the allowed hosts if it should"
            await refuse(scope, receive, send, 421, message, "unknown_host")
            return
        await self._app(scope, receive, send)

    def _known(self, scope: Scope) -> bool:
        if "*" in self._hosts:
            return True
        named = Headers(scope=scope).getlist("host")
        return len(named) == 1 and _split_host(named[0])[0] in self._hosts


class OriginKeeper:
    """Middleware: a WebSocket or a write from a page must come from our own page, or from one of `origins`.

    `origins` are whole origins ("https://example.org"), compared by scheme, host and port.
    """

    def __init__(self, app: ASGIApp, origins: Iterable[str] = ()) -> None:
        self._app = app
        self._origins = frozenset(filter(None, (_origin(one) for one in origins)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        watched = scope["type"] == "websocket" or (scope["type"] == "http" and scope["method"] in _WRITES)
        if watched and not self._welcome(scope):
            message = "a page from elsewhere may not knock here; open the page this server gives, or allow its origin"
            await refuse(scope, receive, send, 403, message, "foreign_origin")
            return
        await self._app(scope, receive, send)

    def _welcome(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        given = headers.getlist("origin")
        if not given:
            # No page: browsers name theirs on every WebSocket and every write. A cookie alone never suffices.
            if bearer(headers, scope.get("subprotocols", ())):
                return True
            foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
            return scope["type"] == "http" and "cookie" not in headers and not foreign
        origin = _origin(given[0]) if len(given) == 1 else None
        if origin is None:
            return False
        spoken: str = scope.get("scheme", "http")
        scheme = {"ws": "http", "wss": "https"}.get(spoken, spoken)
        host, port = _split_host(headers.get("host", ""))
        return origin in self._origins or origin == (scheme, host, port or _DEFAULT_PORTS.get(scheme, ""))


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    message: str,
    code: str,
    headers: dict[str, str] | None = None,
) -> None:
    """An error in OpenAI's shape, to a WebSocket too where the server can answer one that it does not accept."""
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": _POLICY, "reason": message[:120]})
        return
    await error_response(status, message, code=code, headers=headers)(scope, receive, send)


@lru_cache(32)
def _split_host(value: str) -> tuple[str, str]:
    """Host in lower case and port of a `Host` header; ("", "") where it is none."""
    try:
        parts = urlsplit(f"//{value}")
        port = "" if parts.port is None else str(parts.port)
    except ValueError:
        return "", ""
    if not parts.hostname or parts.netloc != value or "@" in value:
        return "", ""
    return (f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname), port


def _origin(value: str) -> tuple[str, str, str] | None:
    """Scheme, host and port; None for what is no origin, "null" among it."""
    scheme, between, rest = value.partition("://")
    host, port = _split_host(rest)
    if not between or scheme.lower() not in _DEFAULT_PORTS or not host:
        return None
    return scheme.lower(), host, port or _DEFAULT_PORTS[scheme.lower()]
