"""An address that thinks: its model, its keys, its wire, whatever shape it speaks.

Not a shape: `openai` and `anthropic` say where a question goes, what is sent, and how what comes back is read. The one
rule: it asks once; whether anybody else is asked is for the line of providers to say.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from typing import Any, ClassVar

from agents_core.providers.base import Chunk, Profile, Question
from agents_core.providers.wire import Heard, Reading, Wire


class AddressedProvider(ABC):
    """One address, one model, its keys. `key` is one, `more_keys` are the next. `silence_s` bounds the pause between
    two pieces of a stream."""

    shape: ClassVar[str]

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "",
        more_keys: Sequence[str] = (),
        name: str = "",
        costs: bool = True,
        profile: Profile | None = None,
        silence_s: float = 10.0,
        trust_env: bool = True,
    ) -> None:
        """`name` is that of its shape where it is left out."""
        self.name = name or self.shape
        self.model = model
        self.costs = costs
        self.profile = profile or Profile()
        self._keys = (key, *more_keys)
        address = self.address(url)
        self._wire = Wire(address, name=self.name, silence_s=silence_s, trust_env=trust_env)

    @property
    def keys(self) -> int:
        """How many keys it has; 1 where it needs none."""
        return len(self._keys)

    def ask(self, question: Question) -> AsyncGenerator[Chunk, None]:
        """See `Provider.ask`. Closing the iterator closes the connection, which stops the model."""
        headers = self.headers(self._keys[question.key])
        return self._wire.ask(self.body(question), headers, lambda: Heard(self.reading(), question, self.profile))

    async def close(self) -> None:
        """Close every connection."""
        await self._wire.close()

    @staticmethod
    @abstractmethod
    def address(url: str) -> str:
        """Where questions go, of an address that is written with or without its path."""

    @staticmethod
    @abstractmethod
    def headers(key: str) -> dict[str, str]:
        """How `key` is shown; "" where none is needed."""

    @abstractmethod
    def body(self, question: Question) -> dict[str, Any]:
        """The request, as it is sent."""

    @staticmethod
    @abstractmethod
    def reading() -> Reading:
        """What reads one answer."""
