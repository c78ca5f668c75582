"""The owner's desk, put together: what `web.desk` asks, answered by the house and its settings.

It wires and words; it decides nothing. The one rule: what goes through here is names, figures and sentences of ours; no
key, no password and no address of a database ever does.
"""

from __future__ import annotations

import asyncio
import importlib.util
import platform
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import psutil
from fastapi import APIRouter, Request

import firstword
from agents_core import BotVoice, Patience
from database import Database
from firstword.drill import ask_all, drill, tried_in_words, turned_in_words
from firstword.settings import Settings
from firstword.voices import ENGINES, EngineName, folder_of
from firstword.weights import PARTS, fetch_one
from models import Store, WeightsMissing
from web import Who
from web.desk import (
    DeskParts,
    EngineOffer,
    Mouth,
    Owner,
    Shelf,
    Talks,
    Thinker,
    create_bots,
    create_rooms,
    create_sharing,
)
from web.signin import owner_of

if TYPE_CHECKING:
    from firstword.house import House


class Desk:
    """One server's desk. `open` first; `close` when the house does."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._database = Database(house.settings.database)
        self.shelf = Shelf(house.core.bots, self._database)
        self.talks = Talks(self._database, house.kept)
        self._keeping: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Bring the desk's tables up to date. Raises `DatabaseError`s in words."""
        await self.shelf.open()

    async def close(self) -> None:
        """Keep the last figures, and let the database go."""
        await asyncio.gather(*self._keeping, return_exceptions=True)
        await self._database.close()

    def observe(self, bot: str, trace: Mapping[str, Any]) -> None:
        """Keep how soon an answer was, beside everybody's way."""
        ms = trace.get("first_word_ms")
        if ms is not None:
            task = asyncio.create_task(self.talks.first_word(bot, float(ms)))
            self._keeping.add(task)
            task.add_done_callback(self._keeping.discard)

    def routers(self, who: Who) -> list[APIRouter]:
        """Every address of the desk but its pages."""
        parts = self._parts()
        return [
            create_bots(parts, self.shelf),
            create_rooms(parts, self.shelf, self.talks),
            create_sharing(self.talks, who),
        ]

    @property
    def owner(self) -> Callable[[Request], Awaitable[Owner | None]]:
        """Says which owner asks, or None."""
        return self._owner()

    def _parts(self) -> DeskParts:
        house, settings = self._house, self._house.settings
        store = Store(settings.models)
        return DeskParts(
            bots=house.core.bots,
            database=self._database,
            kept=house.kept,
            store=store,
            owner=self._owner(),
            mouth=self._mouth,
            engines=self._engines,
            readiness=house.readiness,
            thinkers=self._thinkers,
            tally=house.core.tally,
            ask_everybody=self._ask_everybody,
            drill=_drill,
            fetch=partial(fetch_one, store),
            folders={
                "models": str(settings.models),
                "data": str(settings.data),
                "content": str(settings.content),
            },
            machine=_machine,
            livekit=self._livekit,
        )

    def _owner(self) -> Callable[[Request], Awaitable[Owner | None]]:
        """Who owns the site: everybody where it is one person's, else whoever the settings name."""
        if self._house.settings.single_user or not self._house.settings.oidc_issuer:

            async def alone(_request: Request) -> Owner:
                return Owner("owner", "You")

            return alone
        visiting = owner_of(self._house.removed)

        async def signed_in(request: Request) -> Owner | None:
            visitor = await visiting(request)
            return Owner(visitor.subject, visitor.name or visitor.subject) if visitor else None

        return signed_in

    async def _mouth(self, voice: BotVoice) -> Mouth:
        house = self._house
        own = house.settings.voice_engine
        name = "endpoint" if voice.by == "endpoint" else voice.engine
        if name == "endpoint":
            why = "" if house.engine_of(name) else "no speech address is set (FIRSTWORD_TTS_URL)"
        else:
            why = await house.engine_loaded(name)
        note = f"{why}; the house's own voice ({own}) speaks instead" if why else ""
        return Mouth(house.speaker_of(voice), own if why else name, note)

    def _engines(self) -> Sequence[EngineOffer]:
        house = self._house
        offers = []
        for name in ENGINES:
            engine = house.engine_of(name)
            voices = tuple(each.name for each in engine.voices()) if engine else ()
            why = "" if engine else _not_had(house.settings, name)
            offers.append(EngineOffer(name, why, voices, solves=name == "supertonic"))
        return offers

    def _thinkers(self) -> Sequence[Thinker]:
        core, live = self._house.core, self._house.settings.live
        resting = core.resting

        def why(name: str, costs: bool) -> str:
            if costs and not live:
                return "it costs money, and FIRSTWORD_LIVE is not true"
            return "it failed too often and rests for a while" if resting.get(name) else ""

        return [Thinker(one.name, one.model, one.costs, why(one.name, one.costs)) for one in core.providers]

    async def _ask_everybody(self) -> list[str]:
        tried = await ask_all(self._house.core.providers, live=self._house.settings.live)
        return tried_in_words(tried, Patience())

    def _livekit(self) -> Mapping[str, str]:
        """What is set of LiveKit: that it is, never what. Nothing where nobody named a server of it."""
        settings = self._house.settings
        if not settings.livekit_url:
            return {}
        names = [name for name in type(settings).model_fields if name.startswith("livekit_")]
        return {
            name.removeprefix("livekit_").replace("_", " "): "set" if getattr(settings, name) else "not set"
            for name in names
        }


async def _drill() -> list[str]:
    return turned_in_words(await drill())


def _not_had(settings: Settings, name: EngineName) -> str:
    """Why an engine that is not loaded could not be; nothing where it would be loaded when it is first used."""
    module, _ = PARTS[name]
    if importlib.util.find_spec(module) is None:
        return f"pip install 'firstword[{name}]'"
    try:
        folder = folder_of(settings, name)
        here = folder.is_dir()
    except WeightsMissing:
        here = False
    return "" if here else "its weights are not here"


def _machine() -> Mapping[str, str]:
    memory = psutil.virtual_memory()
    return {
        "firstword": firstword.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(psutil.cpu_count(logical=False) or psutil.cpu_count() or 1),
        "memory": f"{memory.available // 1_000_000} of {memory.total // 1_000_000} MB free",
    }
