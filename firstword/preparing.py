"""What is made ready before anybody may talk: the weights read, the house opened, the engines warmed.

The pages are served meanwhile and tell how far it is. The one rule: a byte counts once it has been read.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import Request

from agents_core import Bot, MiniLM
from agents_core.library import Bots
from firstword.settings import Settings
from models import Store, Weights
from web import BotCard

if TYPE_CHECKING:
    from firstword.house import House

_BLOCK_BYTES = 1 << 20
# What is said before there is a house to ask.
_WARMING = {"name": "engines", "what": "warming up", "bytes": 0, "total_bytes": 0}
_SHUT: dict[str, Any] = {"ready": False, "loading": [_WARMING], "faults": []}


@contextlib.contextmanager
def settled() -> Iterator[None]:
    """What is loaded by now is out of the rounds of Python's collector for as long as this lasts.

    A full collection looks at everything there is and stops every conversation meanwhile: 50 ms with the engines and
    libraries of a quiet server, twice that on a busy machine, and 49 ms was the gap that was heard with eight talking
    at once. What is loaded lives as long as the server, so there is nothing to find in it.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@dataclass(slots=True)
class Part:
    """Weights on their way into memory."""

    weights: Weights
    bytes: int = 0

    def row(self) -> dict[str, object]:
        """As `/readyz` tells it."""
        what = self.weights.what_for.partition(",")[0]
        return {"name": self.weights.name, "what": what, "bytes": self.bytes, "total_bytes": self.weights.bytes}


class Preparing:
    """`house` is None until it is open; `fault` says why it will never be."""

    def __init__(self, settings: Settings) -> None:
        self.house: House | None = None
        self.fault = ""
        self._bots = Bots(settings.content, clock=time.monotonic)
        self._store = Store(settings.models)
        wanted = _names(settings)
        self._parts = [Part(weights) for weights in self._store.catalog if weights.name in wanted]

    async def read(self) -> None:
        """Read every weight once, so that loading waits for no disk. What is missing is for its engine to refuse."""
        await asyncio.to_thread(self._read)

    def cards(self) -> list[BotCard]:
        """The bots as the page shows them."""
        return cards_of(self._bots if self.house is None else self.house.core.bots)

    def readiness(self) -> dict[str, Any]:
        """What `/readyz` says: whether conversations may begin, what is on its way, and what went wrong.

        `failed` is there where waiting is in vain.
        """
        if self.fault:
            return {"ready": False, "failed": True, "loading": [], "faults": [self.fault]}
        if self.house is not None and self.house.warmed:
            return self.house.readiness()
        state = _SHUT if self.house is None else self.house.readiness()
        return {**state, "loading": [*(part.row() for part in self._parts), *state["loading"]]}

    async def owner(self, request: Request) -> object | None:
        """Which owner of the site asks; nobody before the house is open."""
        return None if self.house is None else await self.house.desk.owner(request)

    def _read(self) -> None:
        for part in self._parts:
            for file in part.weights.files:
                path = self._store.folder / part.weights.name / file.to
                if path.is_file():
                    with path.open("rb", buffering=0) as stream:
                        while block := stream.read(_BLOCK_BYTES):
                            part.bytes += len(block)


def cards_of(bots: Mapping[str, Bot]) -> list[BotCard]:
    """The bots that speak, as the page shows them."""
    return [
        BotCard(
            slug=bot.slug,
            name=bot.name,
            first=bot.voice.first,
            visual=bot.voice.visual,
            language=bot.voice.language,
            voices=bot.voice.voices,
            remembers=bot.memory == "person+recall",
        )
        for bot in bots.values()
        if bot.voice is not None
    ]


def _names(settings: Settings) -> set[str]:
    """The weights that a conversation needs before anything else."""
    names = {settings.listen_model, "smart-turn-v3.2", MiniLM.name}
    if settings.voice_engine == "piper":
        names.add(settings.voice_model)
    elif settings.voice_engine == "kokoro":
        names.add(settings.kokoro_model)
    return names if settings.script_only else names | {settings.brain_model}
