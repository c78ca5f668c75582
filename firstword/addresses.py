"""An address to think with, as a deployment writes it.

Values only: nothing is opened and no client is made. The one rule: a quirk of a provider is a field here, not a branch
somewhere else.
"""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

Shape = Literal["openai", "anthropic"]
# What a paid provider is taken to cost where nobody said: a little above the dearest models there are, so that a limit
# in a bot's file holds too early rather than never. Units of money for a million tokens, in and out.
UNSAID_PRICE = (15.0, 75.0)


def split_keys(value: str) -> tuple[str, ...]:
    """Several keys with commas between."""
    return tuple(word.strip() for word in value.split(",") if word.strip())


def _listed(value: object) -> object:
    return split_keys(value) if isinstance(value, str) else value


Keys = Annotated[tuple[SecretStr, ...], BeforeValidator(_listed)]


class Address(BaseModel):
    """One provider: where, which model, its keys in order, and how it likes to be asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str = Field(pattern=r"^https?://[^\s@]+$")
    model: str = "default"
    keys: Keys = ()
    name: str = ""
    shape: Shape | None = None
    price_in: float | None = Field(None, ge=0)
    price_out: float | None = Field(None, ge=0)
    max_tokens_key: str = ""
    thinks_first: bool = False
    tools: bool = True

    @property
    def host(self) -> str:
        """The host's name, which also names the provider where nothing else does."""
        return urlsplit(self.url).hostname or ""

    @property
    def spoken(self) -> Shape:
        """The shape it speaks: as it says, or as its host is known to."""
        return self.shape or ("anthropic" if self.host.endswith("anthropic.com") else "openai")

    @property
    def costs(self) -> bool:
        """Whether asking it costs money: not on this machine or its own network."""
        return not is_private(self.url)

    @property
    def prices(self) -> tuple[float, float]:
        """Units of money for a million tokens, in and out."""
        if not self.costs and self.price_in is None and self.price_out is None:
            return 0.0, 0.0
        dear_in, dear_out = UNSAID_PRICE
        return (
            dear_in if self.price_in is None else self.price_in,
            dear_out if self.price_out is None else self.price_out,
        )


def is_private(url: str) -> bool:
    """Whether the address is on this machine or its own network: then asking it costs nothing."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False
