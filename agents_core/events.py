"""What thinking says: the stream that `run_turn` gives.

Values only; nothing here knows HTTP, sound or pages. The one rule: a run's stream ends with exactly one `Done` or one
`Failed`, and nothing follows it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Literal

Ending = Literal["answered", "cancelled", "out_of_money", "out_of_steps", "out_of_time", "nothing_to_add"]


@dataclass(frozen=True, slots=True)
class Line:
    """One earlier line of the conversation, as it was heard."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What one run may use; the smaller of the bot's own and the grant's holds. `spend` is in millionths of a unit."""

    steps: int = 12
    spend: int = 500_000
    minutes: float = 10.0


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to a bot. `asker` pressed, `subject` is whom it is about; with a voice they are one person."""

    bot: str
    text: str
    asker: str
    subject: str
    room: str
    history: tuple[Line, ...] = ()
    surface: str = "voice"
    language: str = "en"
    ceilings: Ceilings = Ceilings()
    script: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Started:
    """The run exists, as a row; in memory alone while the database is away."""

    run: str


@dataclass(frozen=True, slots=True)
class Delta:
    """Words of the answer, as they come."""

    text: str


@dataclass(frozen=True, slots=True)
class Busy:
    """What it is busy with, in a word a person can read ("looking up orders")."""

    what: str


@dataclass(frozen=True, slots=True)
class Passages:
    """Passages read, by title and address."""

    titles: tuple[str, ...]
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Component:
    """A component to show: its name and its properties, as JSON."""

    name: str
    properties: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Act:
    """An act on the page: its name and its arguments, as JSON."""

    name: str
    arguments: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens in and out; estimated where the provider does not report them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """Timings and names of the run, never words. `first_token_ms` counts from the asking.

    `recorded` is False where the database was away, so that the run, or its end, was not a row when this was said.
    """

    run: str
    bot: str
    provider: str
    model: str
    prompt_version: str
    first_token_ms: float | None
    total_ms: float
    steps: int
    usage: Usage
    skipped: tuple[str, ...] = ()
    recorded: bool = True


@dataclass(frozen=True, slots=True)
class Done:
    """The run is over; `ending` says how, and the words for it (if any) have been sent as deltas."""

    ending: Ending
    usage: Usage


@dataclass(frozen=True, slots=True)
class Failed:
    """The run broke. `message` is for whoever asked: what happened and what to do, without secrets."""

    message: str
    whose: Literal["provider", "ours"]


Event = Started | Delta | Busy | Passages | Component | Act | Trace | Done | Failed


async def nothing_said() -> AsyncGenerator[Event, None]:
    """The events of a run that is over before anything was said."""
    nothing_at_all: tuple[Event, ...] = ()
    for event in nothing_at_all:
        yield event
