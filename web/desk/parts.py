"""What the desk is handed by whoever puts the house together: values and ways to ask, no settings.

The one rule: nothing here is a secret, so nothing that the desk shows or copies can be one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request

from agents_core import Bots, BotVoice, Tally
from database import Database
from models import Progress, Store
from tts import Speaker
from voice.kept import Kept
from web.desk.shelf import Owner


@dataclass(frozen=True, slots=True)
class EngineOffer:
    """An engine that may speak. `why_not` is empty where it can be had; `solves` where it has steps."""

    name: str
    why_not: str = ""
    voices: tuple[str, ...] = ()
    solves: bool = False


@dataclass(frozen=True, slots=True)
class Thinker:
    """Somebody who answers. `why_not` says why they are not asked at this moment."""

    name: str
    model: str
    costs: bool
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Mouth:
    """A speaker as a conversation would get it; `engine` is who really speaks, `note` why it is not who was asked."""

    speaker: Speaker
    engine: str
    note: str = ""


Facts = Mapping[str, str]


def _nothing() -> Facts:
    return {}


@dataclass(frozen=True, slots=True)
class DeskParts:
    """Everything the desk asks.

    `owner` says who asks, None where it is nobody who owns the site. `mouth` gives the voice that a bot's voice block
    means, `engines` what may be chosen. `tally` counts since a time in Unix seconds. `ask_everybody` and `drill` give a
    line each: who of the configured answers, and what each way to break would do. `fetch` fetches weights, in a thread.
    `machine` and `livekit` are facts in words.
    """

    bots: Bots
    database: Database
    kept: Kept
    store: Store
    owner: Callable[[Request], Awaitable[Owner | None]]
    mouth: Callable[[BotVoice], Awaitable[Mouth]]
    engines: Callable[[], Sequence[EngineOffer]]
    readiness: Callable[[], Mapping[str, Any]]
    thinkers: Callable[[], Sequence[Thinker]]
    tally: Callable[[float], Awaitable[Mapping[str, Tally]]]
    ask_everybody: Callable[[], Awaitable[list[str]]]
    drill: Callable[[], Awaitable[list[str]]]
    fetch: Callable[[str, Progress], object]
    folders: Mapping[str, str] = field(default_factory=dict)
    machine: Callable[[], Facts] = _nothing
    livekit: Callable[[], Facts] = _nothing
