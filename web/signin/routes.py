"""Signing in with OpenID Connect: to the identity provider and back, out again, and who was removed.

Authlib speaks the protocol (code flow, PKCE, state, nonce, the signature of the ID token). It keeps no password and no
token of the provider's. The one rule: only what the provider has signed says who somebody is.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from grant import error_response
from llm_door import Person
from web.signin.removed import Removed
from web.signin.visitor import CSRF_COOKIE, CSRF_HEADER, SIGNED_IN_S, Visitor, meant, read, safe_path, visitor_of, write

if TYPE_CHECKING:
    from authlib.integrations.starlette_client import OAuth

_log = logging.getLogger("firstword.web")
_NO_STORE = {"Cache-Control": "no-store"}
_NEXT = "next"


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity provider and ours with it. `public_url` is where people reach this server."""

    issuer: str
    client_id: str
    client_secret: str
    public_url: str
    owners: frozenset[str] = frozenset()

    @property
    def secure(self) -> bool:
        """Whether cookies go over TLS only."""
        return self.public_url.startswith("https:")


def session_of(removed: Removed) -> Callable[[Request], Awaitable[Person | None]]:
    """Says who presses start, for the door: whoever is signed in and was not removed."""

    async def session(request: Request) -> Person | None:
        visitor = await _present(request, removed)
        return Person(visitor.subject) if visitor else None

    return session


def owner_of(removed: Removed) -> Callable[[Request], Awaitable[Visitor | None]]:
    """Says which owner asks: somebody signed in as one who was not removed, else None."""

    async def owner(request: Request) -> Visitor | None:
        visitor = await _present(request, removed)
        return visitor if visitor is not None and visitor.role == "owner" else None

    return owner


def create_signin(identity: Identity, removed: Removed, *, client: OAuth | None = None) -> APIRouter:
    """`/signin`, `/signin/back`, `/signout`, `/app/me`, `/app/people/…`."""
    router = APIRouter(include_in_schema=False)
    provider = (client or _client(identity)).create_client("identity")
    back = identity.public_url.rstrip("/") + "/signin/back"

    @router.get("/signin")
    async def sign_in(request: Request, next: str = "/") -> Response:  # noqa: A002 - what addresses call it
        request.session[_NEXT] = safe_path(next)
        try:
            response: Response = await provider.authorize_redirect(request, back)
        except Exception as fault:
            return _no_provider(fault)
        return response

    @router.get("/signin/back")
    async def come_back(request: Request) -> Response:
        from authlib.common.errors import AuthlibBaseError
        from joserfc.errors import JoseError

        where = safe_path(str(request.session.get(_NEXT) or "/"))
        try:
            token = await provider.authorize_access_token(request)
            visitor = visitor_of(token["userinfo"], identity.owners, now_s=time.time())
        except (AuthlibBaseError, JoseError, LookupError, TypeError, ValueError, AttributeError) as fault:
            _log.info("a sign-in was refused (%s)", type(fault).__name__)
            message = "signing in did not work; go back to the page and try again"
            return error_response(400, message, code="sign_in_failed", headers=_NO_STORE)
        except Exception as fault:
            return _no_provider(fault)
        if await removed.holds(visitor.subject):
            request.session.clear()
            return _removed()
        write(request.session, visitor)
        response = RedirectResponse(where, status_code=303, headers=_NO_STORE)
        # Our own pages read it and say it with every write; a page from elsewhere cannot.
        response.set_cookie(
            CSRF_COOKIE, visitor.csrf, max_age=int(SIGNED_IN_S), secure=identity.secure, samesite="strict", path="/"
        )
        return response

    @router.post("/signout")
    async def sign_out(request: Request) -> Response:
        request.session.clear()
        response = Response(status_code=204, headers=_NO_STORE)
        response.delete_cookie(CSRF_COOKIE, path="/")
        return response

    @router.get("/app/me")
    async def me(request: Request) -> Response:
        visitor = await _present(request, removed)
        if visitor is None:
            return _stranger()
        told = {"subject": visitor.subject, "name": visitor.name, "role": visitor.role}
        return JSONResponse(told, headers=_NO_STORE)

    @router.get("/app/people/removed")
    async def everybody(request: Request) -> Response:
        refused = await _owner_only(request, removed)
        return refused or JSONResponse({"removed": await removed.everybody()}, headers=_NO_STORE)

    @router.put("/app/people/removed/{subject}")
    async def remove(subject: str, request: Request) -> Response:
        refused = await _owner_only(request, removed)
        if refused is None:
            await removed.remove(subject[:200], time.time())
        return refused or Response(status_code=204)

    @router.delete("/app/people/removed/{subject}")
    async def restore(subject: str, request: Request) -> Response:
        refused = await _owner_only(request, removed)
        if refused is None:
            await removed.restore(subject[:200])
        return refused or Response(status_code=204)

    return router


async def csrf_fault(request: Request) -> Response | None:
    """The refusal of a write that a cookie alone would carry; None where it was meant, or carries a grant."""
    visitor = read(request.session)
    if visitor is None or request.headers.get("authorization", "").lower().startswith("bearer "):
        return None
    if meant(visitor, request.headers.get(CSRF_HEADER, "")):
        return None
    return error_response(403, "this write did not come from a page of ours; load the page again", code="csrf")


async def _present(request: Request, removed: Removed) -> Visitor | None:
    visitor = read(request.session)
    if visitor is not None and await removed.holds(visitor.subject):
        request.session.clear()
        return None
    return visitor


async def _owner_only(request: Request, removed: Removed) -> Response | None:
    visitor = await _present(request, removed)
    if visitor is None:
        return _stranger()
    if visitor.role != "owner":
        # "Not yours" and "not there" are the same answer.
        return error_response(404, "there is no such page here", code="not_found")
    return None


def _client(identity: Identity) -> Any:
    from authlib.integrations.starlette_client import OAuth

    oauth: Any = OAuth()  # type: ignore[no-untyped-call]
    oauth.register(
        "identity",
        client_id=identity.client_id,
        client_secret=identity.client_secret,
        server_metadata_url=identity.issuer.rstrip("/") + "/.well-known/openid-configuration",
        client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256", "trust_env": False},
    )
    return oauth


def _stranger() -> Response:
    return error_response(401, "sign in first", code="not_signed_in", headers=_NO_STORE)


def _removed() -> Response:
    return error_response(403, "you were removed from this site; ask its owner", code="removed", headers=_NO_STORE)


def _no_provider(fault: Exception) -> Response:
    _log.warning("the identity provider cannot be asked (%s)", type(fault).__name__)
    return error_response(502, "signing in is not possible at the moment; try again later", code="no_identity_provider")
