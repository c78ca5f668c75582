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


class GrantRoute(APIRoute):
    """Turns a `GrantRefused` into the one 401: `APIRouter(route_class=GrantRoute)`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

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
