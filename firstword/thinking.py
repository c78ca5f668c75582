"""Who thinks: the settings' addresses as providers, in order, with the local model behind them.

It makes clients; whom they ask and when is the core's line. The one rule: the first address is the settings' own, then
its backups as they are written, then the model beside the server, which needs nobody.
"""

from __future__ import annotations

from pydantic import SecretStr

from agents_core import AnthropicProvider, LocalProvider, MiniLM, OpenAIProvider, Profile, Provider, ScriptProvider
from firstword.addresses import Address, split_keys
from firstword.settings import Settings
from models import Store

SCRIPT = "This is a script. It says the same to everybody, and it costs nothing."
# Hosts whose newer models refuse `max_tokens`.
_NEW_NAMES = ("api.openai.com",)


def addresses_of(settings: Settings) -> list[Address]:
    """The addresses in order: the one of the settings, then the backups."""
    addresses = list(settings.backups)
    if settings.llm_url:
        first = Address(
            url=settings.llm_url,
            model=settings.llm_model or "default",
            keys=tuple(SecretStr(key) for key in split_keys(settings.llm_key.get_secret_value())),
            shape=settings.llm_shape or None,
            price_in=settings.llm_price_in,
            price_out=settings.llm_price_out,
        )
        addresses.insert(0, first)
    return addresses


def provider_of(address: Address, *, trust_env: bool = True) -> OpenAIProvider | AnthropicProvider:
    """The client of one address."""
    price_in, price_out = address.prices
    key_name = address.max_tokens_key or ("max_completion_tokens" if address.host in _NEW_NAMES else "max_tokens")
    profile = Profile(
        max_tokens_key=key_name,
        thinks_first=address.thinks_first,
        tools=address.tools,
        # A unit for a million tokens is a thousand millionths for a thousand.
        prompt_price=round(price_in * 1000),
        completion_price=round(price_out * 1000),
    )
    keys = [key.get_secret_value() for key in address.keys] or [""]
    kind = AnthropicProvider if address.spoken == "anthropic" else OpenAIProvider
    return kind(
        address.url,
        address.model,
        key=keys[0],
        more_keys=keys[1:],
        name=address.name or address.host,
        costs=address.costs,
        profile=profile,
        trust_env=trust_env,
    )


def providers_for(settings: Settings) -> list[Provider]:
    """Who thinks, in order; only the script where that was asked."""
    if settings.script_only:
        return [ScriptProvider(stand_in=SCRIPT)]
    return [*map(provider_of, addresses_of(settings)), local_for(settings)]


def local_for(settings: Settings) -> LocalProvider:
    """The model beside the server. Raises `WeightsMissing`."""
    gguf = Store(settings.models).path(settings.brain_model) / "model.gguf"
    return LocalProvider(gguf, model=settings.brain_model, threads=settings.heavy_threads)


def embedder_for(settings: Settings) -> MiniLM | None:
    """What makes the vectors of bots that recall; None where its weights are not here."""
    store = Store(settings.models)
    return MiniLM(store.path(MiniLM.name)) if store.present(MiniLM.name) else None


def thinks_for_nothing(settings: Settings) -> bool:
    """Whether no answer is bought: thinking ahead of the end of a turn is then free."""
    return not settings.live or settings.script_only or not any(each.costs for each in addresses_of(settings))
