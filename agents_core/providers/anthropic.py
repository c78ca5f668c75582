"""Any address that speaks Anthropic's messages, streamed.

Not the translation, which is `anthropic_shape`: this knows the address and the headers. The one rule: the version of
the shape is named with every question.
"""

from __future__ import annotations

from typing import Any

from agents_core.providers.address import AddressedProvider
from agents_core.providers.anthropic_shape import AnthropicAnswer, request
from agents_core.providers.base import Question

# The version of the shape that is spoken here; servers keep to it for those who name it.
VERSION = "2023-06-01"


class AnthropicProvider(AddressedProvider):
    """With or without `/v1/messages`."""

    shape = "anthropic"

    @staticmethod
    def address(url: str) -> str:
        return url.rstrip("/").removesuffix("/messages").removesuffix("/v1") + "/v1/messages"

    @staticmethod
    def headers(key: str) -> dict[str, str]:
        return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}

    @staticmethod
    def reading() -> AnthropicAnswer:
        return AnthropicAnswer()

    def body(self, question: Question) -> dict[str, Any]:
        return request(question, self.model, self.profile)
