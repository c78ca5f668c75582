"""How many streams are open at once: per person, per address, in all.

It keeps stamps, never a counter: a task that died without saying so would leave a counter too high for ever, and a
stamp grows old. The one rule: a place is taken before anything is done for the request, and given back however it ends.
"""

from __future__ import annotations

import contextlib
import ipaddress
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from grant import GrantRefused, Signer, granted
from llm_door.origins import refuse


@dataclass(frozen=True, slots=True)
class CrowdLimits:
    """Places at once on each of `paths`: per person, per address and in all.

    Eight, because a person may hold four conversations, each with an answer and the one that it replaces.
    A stream that lasts longer than `longest_s` no longer holds its place. `retry_s` is what a refused client is told.
    Loopback has no limit per address: our own voice knocks from there for everybody.
    """

    per_person: int = 8
    per_address: int = 16
    total: int = 256
    longest_s: float = 3600.0
    retry_s: float = 2.0
    paths: tuple[str, ...] = ("/v1/chat/completions", "/v1/audio/speech", "/v1/audio/transcriptions", "/v1/realtime")


@dataclass(slots=True)
class Crowd:
    """Who is inside. `now` gives monotonic seconds."""

    limits: CrowdLimits
    now: Callable[[], float]
    _inside: dict[int, tuple[float, str, Mapping[str, str]]] = field(default_factory=dict)
    _ids: itertools.count[int] = field(default_factory=itertools.count)

    def enter(self, path: str, who: Mapping[str, str]) -> int | str:
        """A place on `path` for `who` (`person`, `address`), or the words of why there is none."""
        now = self.now()
        self._inside = {at: held for at, held in self._inside.items() if now - held[0] < self.limits.longest_s}
        here = [held[2] for held in self._inside.values() if held[1] == path]
        if len(here) >= self.limits.total:
            return "the server is busy"
        for kind, most in (("person", self.limits.per_person), ("address", self.limits.per_address)):
            name = who.get(kind)
            if name and sum(others.get(kind) == name for others in here) >= most:
                return f"{most} streams of this {kind} are open already"
        place = next(self._ids)
        self._inside[place] = (now, path, who)
        return place

    def leave(self, place: int) -> None:
        """Give a place back. Safe to call twice."""
        self._inside.pop(place, None)

    def __len__(self) -> int:
        return len(self._inside)


class CrowdKeeper:
    """Middleware: 429 with `Retry-After` where there is no place."""

    def __init__(self, app: ASGIApp, crowd: Crowd, signer: Signer) -> None:
        self._app = app
        self._crowd = crowd
        self._signer = signer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        limits = self._crowd.limits
        if scope["type"] not in ("http", "websocket") or scope["path"] not in limits.paths:
            await self._app(scope, receive, send)
            return
        place = self._crowd.enter(scope["path"], self._who(scope))
        if isinstance(place, str):
            seconds = max(1, math.ceil(limits.retry_s))
            message = f"{place}; try again in {seconds} s"
            await refuse(scope, receive, send, 429, message, "too_many_streams", {"Retry-After": str(seconds)})
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._crowd.leave(place)

    def _who(self, scope: Scope) -> dict[str, str]:
        who = {}
        address = scope["client"][0] if scope.get("client") else ""
        if address and not _is_loopback(address):
            who["address"] = address
        # The door itself answers a bad grant; here it is nobody, and only the other limits count.
        with contextlib.suppress(GrantRefused):
            who["person"] = granted(self._signer, Headers(scope=scope), scope.get("subprotocols", ())).subject
        return who


@lru_cache(256)
def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
