"""A route that only a grant opens, for FastAPI, and an app that takes the shortest way to it.

It is not a middleware: a handler asks for the grant by a dependency and gets a verified one. The one rule: a refused
grant is answered here, in the shape and words every door uses, whatever handlers the app has.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.routing import APIRoute
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from grant.claims import Grant
from grant.http import granted, refusal
from grant.signer import GrantRefused, Signer

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class GrantRoute(APIRoute):
    """Turns a `GrantRefused` into the one 401: `APIRouter(route_class=GrantRoute)`."""

    def get_route_handler(self) -> Handler:
        return _guarded(super().get_route_handler())


class BareGrantRoute(GrantRoute):
    """The same for a handler that takes the request, reads it itself, and gives the response.

    FastAPI's reading of parameters, of which there are none, and its stacks for what they open are left out of the way
    to the first word.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `APIRoute`. What it raises is the app's to answer."""
        if scope["method"] in (self.methods or ()):
            answered = await _guarded(self.endpoint)(Request(scope, receive, send))
            await answered(scope, receive, send)
        else:
            await super().handle(scope, receive, send)


class StraightApp(FastAPI):
    """FastAPI, but a `BareGrantRoute` that is included as it stands is asked at once, without a search for the route.

    What FastAPI has around every route is for dependencies and for exceptions with handlers, of which such a route has
    neither; it took longer than everything else of ours before the question is read (0.3 of 2 ms, measured). A fault is
    the same 500. Where the app has middleware or dependencies of its own, every request goes through them.
    """

    def __init__(self, **given: Any) -> None:
        self._straight: dict[tuple[str, str], ASGIApp] = {}
        super().__init__(**given)

    def include_router(self, router: APIRouter, **how: Any) -> None:
        """See `FastAPI`."""
        super().include_router(router, **how)
        if how or router.dependencies or self.router.dependencies:
            return
        for route in router.routes:
            if isinstance(route, BareGrantRoute):
                for method in route.methods or ():
                    self._straight[method, route.path] = ServerErrorMiddleware(route.handle, debug=self.debug)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `FastAPI`."""
        straight = self._straight.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if straight is None or self.user_middleware or scope.get("root_path"):
            await super().__call__(scope, receive, send)
        else:
            await straight(scope, receive, send)


def _guarded(handle: Handler) -> Handler:
    async def guarded(request: Request) -> Response:
        try:
            return await handle(request)
        except GrantRefused:
            return refusal()

    return guarded


def holder(signer: Signer) -> Callable[[Request], Coroutine[Any, Any, Grant]]:
    """A dependency: the verified grant of the request. Raises `GrantRefused`; use it on a `GrantRoute`."""

    async def grant(request: Request) -> Grant:
        return granted(signer, request.headers)

    return grant
