"""How a door reads a grant, and how it refuses: OpenAI's error body, which every client of that shape can read.

It knows headers and subprotocols, not routes. The one rule: an odd byte in a header is a 401, never a 500.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from starlette.responses import JSONResponse

from grant.claims import Grant
from grant.signer import GrantRefused, Signer

# Browsers cannot set headers on a WebSocket; the Realtime clients put the key into a subprotocol of this form.
SUBPROTOCOL_PREFIX = "openai-insecure-api-key."


def error_body(message: str, *, type_: str = "invalid_request_error", code: str | None = None) -> dict[str, object]:
    """OpenAI's error object."""
    return {"error": {"message": message, "type": type_, "param": None, "code": code}}


def error_response(
    status: int,
    message: str,
    *,
    type_: str = "invalid_request_error",
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """A JSON response in OpenAI's error shape."""
    return JSONResponse(error_body(message, type_=type_, code=code), status_code=status, headers=dict(headers or {}))


def refusal() -> JSONResponse:
    """The one answer to every bad grant."""
    return error_response(
        401,
        str(GrantRefused()),
        type_="authentication_error",
        code="invalid_api_key",
        headers={"WWW-Authenticate": "Bearer"},
    )


def bearer(headers: Mapping[str, str], subprotocols: Iterable[str] = ()) -> str:
    """The token that was presented, or "" where there is none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    for offered in subprotocols:
        if offered.startswith(SUBPROTOCOL_PREFIX):
            return offered.removeprefix(SUBPROTOCOL_PREFIX)
    return ""


def granted(signer: Signer, headers: Mapping[str, str], subprotocols: Iterable[str] = ()) -> Grant:
    """The verified grant of a request. Raises `GrantRefused`."""
    return signer.verify(bearer(headers, subprotocols))
