"""A route that only a grant opens, for FastAPI.

It is not a middleware: a handler asks for the grant by a dependency and gets a verified one. The one rule: a refused
grant is answered here, in the shape and words every door uses, whatever handlers the app has.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

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

    FastAPI's reading of parameters, of which there are none, is left out of the way to the first word.
    """

    def get_route_handler(self) -> Handler:
        handle: Handler = self.endpoint
        return _guarded(handle)


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
