"""What stands in front of a site that people sign in to: the signed cookie, the check on writes, the way to sign in.

Middleware; it knows no route's meaning. The one rule: it decides from the cookie's signature and the request alone.
"""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import quote

from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from web.signin.routes import csrf_fault
from web.signin.visitor import SIGNED_IN_S, read

_COOKIE = "firstword_session"
_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


def keep_signed_in(app: ASGIApp, secret: str, *, secure: bool) -> ASGIApp:
    """`app` behind the cookie. `secret` is the deployment's; the cookie's key is derived from it, by label."""
    key = hmac.new(secret.encode(), b"firstword session v1", hashlib.sha256).hexdigest()
    return SessionMiddleware(
        _Keeper(app),
        secret_key=key,
        session_cookie=_COOKIE,
        max_age=int(SIGNED_IN_S),
        # `lax` and not `strict`: the way back from the identity provider is a navigation from another site.
        same_site="lax",
        https_only=secure,
    )


class _Keeper:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        if request.method in _WRITES:
            refusal = await csrf_fault(request)
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        path = request.url.path
        page = path in ("/", "/app/desk") or path.startswith(("/app/voice/", "/app/desk/"))
        page = page and not path.startswith("/app/desk/api/")
        if page and request.method == "GET" and read(request.session) is None:
            await RedirectResponse(f"/signin?next={quote(path)}", status_code=303)(scope, receive, send)
            return
        await self._app(scope, receive, send)
