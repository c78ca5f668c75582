"""Any address that speaks OpenAI's chat completions, streamed.

Not the `openai` package (602 ms to import, its own retries): one request, read by hand. The one rule: it asks once;
whether anybody else is asked is for the line of providers to say.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import httpx2

from agents_core.providers.base import Chunk, Profile, Question
from agents_core.providers.pairs import paired
from agents_core.providers.stream import Answer
from agents_core.providers.wire import Heard, Wire


class OpenAIProvider:
    """One address, one model, its keys. `key` is one, `more_keys` are the next. `silence_s` bounds the pause between
    two pieces of a stream."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "",
        more_keys: Sequence[str] = (),
        name: str = "openai",
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
        address = url.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"
        self._wire = Wire(address, name=name, silence_s=silence_s, trust_env=trust_env, transport=transport)

    @property
    def keys(self) -> int:
        """How many keys it has; 1 where it needs none."""
        return len(self._keys)

    async def ask(self, question: Question) -> AsyncGenerator[Chunk, None]:
        """See `Provider.ask`. Closing the iterator closes the connection, which stops the model."""
        key = self._keys[question.key]
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        heard = Heard(Answer(), question, self.profile)
        async with aclosing(self._wire.ask(self.body(question), headers, heard)) as chunks:
            async for chunk in chunks:
                yield chunk

    def body(self, question: Question) -> dict[str, Any]:
        """The request, as it is sent."""
        lead = question.lead
        body: dict[str, Any] = {
            "model": question.model or self.model,
            # A last message of the assistant's own is gone on from.
            "messages": [*paired(question.messages), *([{"role": "assistant", "content": lead}] if lead else [])],
            "stream": True,
            self.profile.max_tokens_key: question.max_tokens or self.profile.max_tokens,
            **dict(self.profile.extra),
            **(dict(self.profile.led) if lead else {}),
        }
        if question.tools:
            body["tools"] = list(question.tools)
            if question.must_answer:
                # Shown all the same: a history with calls in it is refused without them, and a kept prefix goes on.
                body["tool_choice"] = "none"
        if self.profile.asks_usage:
            body["stream_options"] = {"include_usage": True}
        if self.profile.temperature is not None:
            body["temperature"] = self.profile.temperature
        return body

    async def close(self) -> None:
        """Close every connection."""
        await self._wire.close()
