"""How much a request may send, and how long it may take to send it.

Pure ASGI, for uvicorn has neither limit: a 200 MB body is read to its end and half a body waits for ever. It parses
nothing. The one rule: past a limit nothing more reaches the handler, whatever it makes of that.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grant import error_response


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """Bytes of a body of JSON and of one with a recording, and seconds for the whole of it to come.

    25 MB is what OpenAI takes for a transcription. `audio_paths` are the beginnings of the paths where recordings come.
    """

    json_bytes: int = 1 << 20
    audio_bytes: int = 25_000_000
    body_s: float = 30.0
    audio_paths: tuple[str, ...] = ("/v1/audio/transcriptions",)


# A connection closed on unread bytes is reset, and the client never sees why. So a little more is read and dropped.
_LINGER_BYTES = 1 << 20
_LINGER_S = 5.0


class _Stopped(Exception):
    """Raised into the handler, which may make of it what it likes: the answer is ours."""


class BodyKeeper:
    """Middleware: 413 for too much, 408 for too slow."""

    def __init__(self, app: ASGIApp, limits: BodyLimits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limits = self._limits
        most = limits.audio_bytes if scope["path"].startswith(limits.audio_paths) else limits.json_bytes
        body = _Body(receive, send, most, limits.body_s)
        if _declared(scope) > most:
            # Whoever asked first (`Expect: 100-continue`) has sent nothing, and must not be told to go on.
            if not any(name == b"expect" for name, _ in scope["headers"]):
                await body.linger()
            await body.too_much()(scope, receive, send)
            return
        try:
            await self._app(scope, body.receive, body.send)
        except ClientDisconnect:
            # Whoever leaves before their body is whole is told nothing, and it is no fault of anybody's.
            return
        except Exception:
            if body.refusal is None:
                raise
        if body.refusal is not None and not body.answering:
            await body.refusal(scope, receive, send)


def _declared(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


class _Body:
    """One request's body, counted as it comes."""

    def __init__(self, receive: Receive, send: Send, most: int, body_s: float) -> None:
        self._receive, self._send = receive, send
        self._most, self._body_s = most, body_s
        self._read = 0
        self._whole = False
        self._due: float | None = None
        self.answering = False
        self.refusal: Response | None = None

    async def receive(self) -> Message:
        if self._whole:
            # After the body only the client's leaving is waited for, and that has no deadline.
            return await self._receive()
        if self._due is None:
            self._due = asyncio.get_running_loop().time() + self._body_s
        try:
            async with asyncio.timeout_at(self._due):
                message = await self._receive()
        except TimeoutError:
            self.refusal = _refuse(408, f"the body did not come within {self._body_s:g} s; send it again")
            raise _Stopped from None
        self._read += len(message.get("body", b""))
        if self._read > self._most:
            self._whole = not message.get("more_body", False)
            if not self._whole:
                await self.linger()
            self.refusal = self.too_much()
            raise _Stopped
        self._whole = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if self.refusal is not None and not self.answering:
            return
        self.answering = True
        await self._send(message)

    async def linger(self) -> None:
        """Read on for a moment and drop it."""
        dropped = 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_S):
                while dropped < _LINGER_BYTES:
                    message = await self._receive()
                    dropped += len(message.get("body", b""))
                    if not message.get("more_body", False):
                        return

    def too_much(self) -> Response:
        return _refuse(413, f"the body is larger than {self._most} bytes, which is the most this address takes")


def _refuse(status: int, message: str) -> Response:
    # The rest of the body is still on its way, so the connection can carry no other request.
    code = "too_large" if status == 413 else "too_slow"
    return error_response(status, message, code=code, headers={"Connection": "close"})
