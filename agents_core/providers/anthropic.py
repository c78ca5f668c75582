"""Any address that speaks Anthropic's messages, streamed.

Not the translation, which is `anthropic_shape`: this knows the address and the headers. The one rule: it asks once.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import httpx2

from agents_core.providers.anthropic_shape import AnthropicAnswer, request
from agents_core.providers.base import Chunk, Profile, Question
from agents_core.providers.wire import Heard, Wire

# The version of the shape that is spoken here; servers keep to it for those who name it.
VERSION = "2023-06-01"


class AnthropicProvider:
    """One address (with or without `/v1/messages`), one model, its keys. See `OpenAIProvider`."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "",
        more_keys: Sequence[str] = (),
        name: str = "anthropic",
        costs: bool = True,
        profile: Profile | None = None,
        silence_s: float = 10.0,
        trust_env: bool = True,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.name = name
        self.model = model
        self.costs = costs
        self.profile = profile or Profile()
        self._keys = (key, *more_keys)
        address = url.rstrip("/").removesuffix("/messages").removesuffix("/v1") + "/v1/messages"
        self._wire = Wire(address, name=name, silence_s=silence_s, trust_env=trust_env, transport=transport)

    @property
    def keys(self) -> int:
        """How many keys it has; 1 where it needs none."""
        return len(self._keys)

    async def ask(self, question: Question) -> AsyncGenerator[Chunk, None]:
        """See `Provider.ask`. Closing the iterator closes the connection, which stops the model."""
        key = self._keys[question.key]
        headers = {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}
        body = request(question, self.model, self.profile)
        heard = Heard(AnthropicAnswer(), question, self.profile)
        async with aclosing(self._wire.ask(body, headers, heard)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def close(self) -> None:
        """Close every connection."""
        await self._wire.close()
