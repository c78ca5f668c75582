"""The door as a client: one question to `/v1/chat/completions` with a grant, the words of the answer as they come.

It speaks HTTP to whatever serves the door, on loopback, as any other client would; voice is a transport and not a
second brain. The one rule: leaving the stream closes it, so that the door notices at once that nobody waits.
"""

from __future__ import annotations

import functools
import json
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2

from voice.errors import DoorError

# The door says something at least every 10 s (a comment), so silence for longer is a dead connection.
_TIMEOUT = httpx2.Timeout(connect=5.0, read=30.0, write=10.0, pool=5.0)
TRACE_HEADER = "X-Firstword-Trace"


@dataclass(frozen=True, slots=True)
class Message:
    """One line of the conversation, as the door takes it."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class DoorDelta:
    """Words of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class DoorTrace:
    """The run's own trace: names and times, never words."""

    fields: dict[str, Any] = field(default_factory=dict)


class DoorClient:
    """`base_url` is the server's address, or gives it once the server knows its port."""

    def __init__(self, base_url: str | Callable[[], str], *, client: httpx2.AsyncClient | None = None) -> None:
        self._base_url = base_url
        self._client = client

    async def ask(
        self, grant: str, messages: Sequence[Message], *, language: str = "en"
    ) -> AsyncIterator[DoorDelta | DoorTrace]:
        """The answer to `messages`. Raises `DoorError` with the door's own words where it refuses or breaks off."""
        base = self._base_url if isinstance(self._base_url, str) else self._base_url()
        body = {
            "model": "firstword",
            "stream": True,
            "stream_options": {"include_usage": True},
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "metadata": {"surface": "voice", "language": language},
        }
        headers = {"Authorization": f"Bearer {grant}", TRACE_HEADER: "1", "Accept": "text/event-stream"}
        try:
            async with self._open().stream(
                "POST", f"{base.rstrip('/')}/v1/chat/completions", json=body, headers=headers
            ) as response:
                if response.status_code != httpx2.codes.OK:
                    raise DoorError(_refusal(await response.aread()), status=response.status_code)
                ended = False
                async for line in response.aiter_lines():
                    if line == "data: [DONE]":
                        ended = True
                        break
                    for said in _read(line):
                        yield said
                if not ended:
                    raise DoorError("the answer broke off: the door closed the stream before its end; ask again")
        except httpx2.HTTPError as fault:
            raise DoorError(f"no answer from the door ({type(fault).__name__}); try again in a moment") from fault

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _open(self) -> httpx2.AsyncClient:
        if self._client is None:
            # No proxy from the environment: the door is on loopback, and the grant is for it alone.
            self._client = httpx2.AsyncClient(timeout=_TIMEOUT, trust_env=False, verify=_trusted())
        return self._client


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Whom a client believes; read once, because it takes a tenth of a second in which nobody is served."""
    return httpx2.create_ssl_context(trust_env=False)


def _read(line: str) -> list[DoorDelta | DoorTrace]:
    """What one line of the stream says; comments, blanks and what is not understood say nothing."""
    if not line.startswith("data:"):
        return []
    try:
        chunk = json.loads(line[5:])
    except ValueError:
        return []
    if not isinstance(chunk, dict):
        return []
    if isinstance(chunk.get("error"), dict):
        raise DoorError(str(chunk["error"].get("message") or "the answer broke off; ask again"))
    found: list[DoorDelta | DoorTrace] = []
    for choice in chunk.get("choices") or []:
        text = (choice.get("delta") or {}).get("content")
        if text:
            found.append(DoorDelta(text))
    if isinstance(chunk.get("usage"), dict):
        usage = chunk["usage"]
        found.append(DoorTrace({name: usage[name] for name in ("prompt_tokens", "completion_tokens") if name in usage}))
    own = chunk.get("firstword")
    if isinstance(own, dict) and isinstance(own.get("trace"), dict):
        found.append(DoorTrace(own["trace"]))
    return found


def _refusal(body: bytes) -> str:
    """The message in OpenAI's error body."""
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return "the door refused without a reason; try again in a moment"
