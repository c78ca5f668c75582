"""A desk over a folder of bots, served: the real shelf, library, database and kept conversations; voices are tones.

Whoever the header `who` names asks; `ada` and `grace` own the site, and without the header it is ada.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI, Request

from agents_core import Bots, BotVoice, Tally
from database import Database
from firstword.testing.voices import ToneEngine
from models import Lanes, Progress, Store
from tts import Speaker
from voice.kept import Kept
from web import Asker, BotCard, create_pages, create_threads
from web.desk import (
    DeskParts,
    EngineOffer,
    Mouth,
    Owner,
    Shelf,
    Talks,
    Thinker,
    create_bots,
    create_desk_pages,
    create_rooms,
    create_sharing,
)

OWNERS = {"ada": "Ada", "grace": "Grace"}
GUIDE = b"""---
# The guide of the house.
name: Guide   # as people see it
surfaces: [voice]
limits: { steps: 4, spend: 0.05, minutes: 2 }

voice:
  first: Hello, I am the guide.
  # slower than most
  speed: 0.9
  visual: bar
---

You are the guide.

> Hi
Hello.
"""
HOST = b"---\nname: Host\nsurfaces: [voice, support]\nfor: customer\n---\nYou are the host.\n"


@dataclass
class DeskHouse:
    """What a test reaches into. `thinkers` and `ready` are what the desk is told."""

    folder: Path
    database: Database
    bots: Bots
    kept: Kept
    shelf: Shelf
    talks: Talks
    app: FastAPI
    tone: ToneEngine
    thinkers: list[Thinker] = field(default_factory=lambda: [Thinker("local", "tiny", False)])
    ready: dict[str, Any] = field(default_factory=lambda: {"ready": True, "loading": [], "faults": []})
    tallies: dict[str, Tally] = field(default_factory=dict)
    fetch: Callable[[str, Progress], object] = lambda _name, _progress: True

    def file(self, slug: str = "guide") -> Path:
        """A bot's file."""
        return self.folder / "bots" / f"{slug}.md"

    def client(self, who: str = "ada") -> httpx2.AsyncClient:
        """A client of the API."""
        transport = httpx2.ASGITransport(app=self.app)
        return httpx2.AsyncClient(transport=transport, base_url="http://here", headers={"who": who})


@contextlib.asynccontextmanager
async def desk_house(tmp: Path) -> AsyncIterator[DeskHouse]:
    """The house, open. Its folder has `guide` and `host`."""
    folder = tmp / "content"
    (folder / "bots").mkdir(parents=True)
    (folder / "bots" / "guide.md").write_bytes(GUIDE)
    (folder / "bots" / "host.md").write_bytes(HOST)
    database = Database(f"sqlite+aiosqlite:///{tmp / 'desk.db'}")
    kept, lanes = Kept(Database(f"sqlite+aiosqlite:///{tmp / 'desk.db'}")), Lanes()
    await kept.open()
    bots = Bots(folder, clock=asyncio.get_running_loop().time)
    shelf, talks = Shelf(bots, database), Talks(database, kept)
    await shelf.open()
    house = DeskHouse(folder, database, bots, kept, shelf, talks, FastAPI(), ToneEngine(seconds_per_char=0.02))

    async def owner(request: Request) -> Owner | None:
        who = request.headers.get("who", "ada")
        return Owner(who, OWNERS[who]) if who in OWNERS else None

    async def who(request: Request) -> Asker | None:
        return Asker(request.headers.get("who", "ada"))

    async def mouth(voice: BotVoice) -> Mouth:
        note = "" if voice.engine == "piper" else f"there is no engine {voice.engine}"
        return Mouth(Speaker(house.tone, lanes.lane("voice")), "tone", note)

    async def tally(_since_s: float) -> Mapping[str, Tally]:
        return house.tallies

    async def lines() -> list[str]:
        return ["local: answers, first word after 80 ms (tiny)", "whoever asks now is answered by local"]

    parts = DeskParts(
        bots=bots,
        database=database,
        kept=kept,
        store=Store(tmp / "models"),
        owner=owner,
        mouth=mouth,
        engines=lambda: [
            EngineOffer("piper", "", ("joe", "amy")),
            EngineOffer("supertonic", "", ("ann",), solves=True),
        ],
        readiness=lambda: house.ready,
        thinkers=lambda: house.thinkers,
        tally=tally,
        ask_everybody=lines,
        drill=lines,
        fetch=lambda name, progress: house.fetch(name, progress),
        folders={"content": str(folder)},
        machine=lambda: {"firstword": "0", "python": "3"},
        livekit=lambda: {"url": "set"},
    )
    cards = [BotCard("guide", "Guide")]
    routers = (create_bots(parts, shelf), create_rooms(parts, shelf, talks), create_sharing(talks, who))
    house.app.include_router(create_threads(kept, who))
    for router in (*routers, create_desk_pages(owner), create_pages(lambda: cards, owner=owner)):
        house.app.include_router(router)
    try:
        yield house
    finally:
        lanes.close()
        await kept.close()
        await database.close()
