"""Any address that speaks OpenAI's chat completions, streamed.

Not the `openai` package (602 ms to import, its own retries): one request, read by hand. The one rule: what a provider
does differently is a flag of its profile.
"""

from __future__ import annotations

from typing import Any

from agents_core.providers.address import AddressedProvider
from agents_core.providers.base import Question
from agents_core.providers.pairs import paired
from agents_core.providers.stream import Answer


class OpenAIProvider(AddressedProvider):
    """With or without `/chat/completions`."""

    shape = "openai"

    @staticmethod
    def address(url: str) -> str:
        return url.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"

    @staticmethod
    def headers(key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    @staticmethod
    def reading() -> Answer:
        return Answer()

    def body(self, question: Question) -> dict[str, Any]:
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
