"""Admission: whether a conversation may begin, decided before a connection is accepted.

The same for every transport. It reads headers and nothing else. The one rule: whoever is refused is told why in words,
in the shape of OpenAI's errors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.responses import JSONResponse

from grant import Grant, GrantRefused, bearer, error_response, refusal
from voice.errors import TooMany
from voice.parts import VoiceParts
from voice.places import Places


@dataclass(frozen=True, slots=True)
class Admitted:
    """Who comes in, the grant as presented, and the place they hold; whoever takes it gives the place back."""

    grant: Grant
    token: str
    place: int


def admit(
    headers: Mapping[str, str], parts: VoiceParts, places: Places, *, subprotocols: Sequence[str] = ()
) -> Admitted | JSONResponse:
    """A place for whoever presents a grant from a page that may, or the refusal."""
    if not _origin_allowed(headers, parts.origins):
        return error_response(403, "this page may not talk to this server; open the server's own")
    token = bearer(headers, subprotocols)
    try:
        grant = parts.signer.verify(token)
        return Admitted(grant, token, places.take(grant.subject))
    except GrantRefused:
        return refusal()
    except TooMany as full:
        return _full(full)


def look(headers: Mapping[str, str], parts: VoiceParts, places: Places) -> JSONResponse:
    """Whether a WebSocket would be let in, for a browser, which learns nothing from a refused one."""
    admitted = admit(headers, parts, places)
    if isinstance(admitted, JSONResponse):
        return admitted
    places.leave(admitted.place)
    words = "a conversation is a WebSocket here; there is a place for one"
    return error_response(426, words, code="upgrade_required", headers={"Upgrade": "websocket"})


def _full(full: TooMany) -> JSONResponse:
    """`x-should-retry` is what OpenAI's clients obey; `Retry-After` the rest."""
    headers = {"x-should-retry": "false" if full.again_s is None else "true", "Cache-Control": "no-store"}
    if full.again_s is not None:
        headers["Retry-After"] = str(math.ceil(full.again_s))
    return error_response(429, str(full), type_="rate_limit_error", code="too_many_sessions", headers=headers)


def _origin_allowed(headers: Mapping[str, str], origins: frozenset[str]) -> bool:
    """Our own origin, one that the settings name, or none at all from a client that can set a bearer header."""
    origin = headers.get("origin")
    if origin is None:
        return headers.get("authorization", "").lower().startswith("bearer ")
    return origin in origins or urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
