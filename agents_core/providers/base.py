"""What a provider is: an address of words, and the few facts that make it different from the next.

Not a client: `openai`, `local` and `script` are. The one rule: a provider's quirks are data (`Profile`), never an
`isinstance` somewhere else.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Protocol

from agents_core.events import Usage
from agents_core.loop import Call


@dataclass(frozen=True, slots=True)
class Profile:
    """How one provider likes to be asked. Prices are millionths of a unit per thousand tokens."""

    max_tokens: int = 4096  # a reasoning model thinks within it too; what is said is kept short by the brief
    max_tokens_key: str = "max_tokens"  # OpenAI's own newer models want `max_completion_tokens`
    temperature: float | None = None
    extra: tuple[tuple[str, Any], ...] = ()  # further fields of the request body, as they are
    small: bool = False  # too small for a long brief: it gets one line and the exchange most like the question
    tools: bool = True  # may be offered tools and skills; a model that cannot call them only talks about them
    led: tuple[tuple[str, Any], ...] = ()  # fields of the body, over `extra`, where an answer is led
    sentences: int = 0  # at most so many are given; 0 is as many as come
    history_lines: int = 40
    history_chars: int = 24_000
    thinks_first: bool = False  # its template opens the thought, so that only `</think>` is ever seen
    asks_usage: bool = True  # `stream_options.include_usage`; a few servers refuse the field
    prompt_price: int = 0
    completion_price: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """One asking of a model. `messages` are in OpenAI's shape; `turn` counts the model's answers in this run from 0."""

    messages: tuple[dict[str, Any], ...]
    model: str = ""
    max_tokens: int | None = None
    script: tuple[str, ...] = ()
    turn: int = 0
    key: int = 0  # which of the provider's keys, by its place
    lead: str = ""  # words the answer goes on from; they are given with its first
    sentences: int | None = None  # at most so many, in place of the profile's
    tools: tuple[dict[str, Any], ...] = ()  # in OpenAI's shape; the answer may ask for any of them
    must_answer: bool = False  # it may ask for none any more: there is no step left in which to answer the call


@dataclass(frozen=True, slots=True)
class Words:
    """Some words of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Whole:
    """The answer is complete: the tools it asks for, why it ended, what it used (None where not reported)."""

    calls: tuple[Call, ...] = ()
    finish_reason: str = "stop"
    usage: Usage | None = None
    model: str = ""


Chunk = Words | Whole


class Provider(Protocol):
    """Somebody who answers. `ask` yields `Words` and ends with one `Whole`, or raises `ProviderFault`.

    `keys` is how many it has, at least 1; `Question.key` says which is used.
    """

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def costs(self) -> bool: ...
    @property
    def keys(self) -> int: ...
    @property
    def profile(self) -> Profile: ...
    def ask(self, question: Question) -> AsyncGenerator[Chunk, None]: ...
    async def close(self) -> None: ...
