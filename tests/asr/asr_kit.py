"""What the tests of listening share: speech made once, a recogniser that is scripted, a listener that is fed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import numpy as np

from asr import Ear, Listener, ListenEvent, ListenSettings, Silero, Transcript, Words
from models import Lanes
from sound import Pcm, Samples

RATE_HZ = 16_000
FRAME = 320


def quiet(seconds: float) -> Samples:
    return np.zeros(round(seconds * RATE_HZ), dtype=np.float32)


def noise(seconds: float, rms: float) -> Samples:
    return (np.random.default_rng(7).standard_normal(round(seconds * RATE_HZ)) * rms).astype(np.float32)


@dataclass
class Scripted:
    """A recogniser that says what it is told; `asked` keeps the seconds of sound of every call."""

    says: Callable[[Pcm], str] = lambda _pcm: "Hello there."
    name: str = "scripted"
    languages: frozenset[str] | None = None
    asked: list[float] = field(default_factory=list)
    languages_asked: list[str] = field(default_factory=list)

    def recognise(self, pcm: Pcm, *, language: str, hint: str = "", word_times: bool = False) -> Transcript:
        self.asked.append(pcm.duration_s)
        self.languages_asked.append(language)
        return Transcript(self.says(pcm), language)

    def warm(self) -> None:
        self.asked.clear()


class Fed:
    """A listener with its events kept."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.events: list[ListenEvent] = []
        self._came = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    async def feed(self, samples: Samples, *, rate_hz: int = RATE_HZ, frame: int = FRAME) -> None:
        for at in range(0, len(samples), frame):
            part = samples[at : at + frame]
            self.listener.push(Pcm(part, rate_hz, part.shape[1] if part.ndim > 1 else 1))
            await self.listener.settled()

    async def close(self) -> None:
        await self.listener.close()
        await self._reader

    async def seen(self) -> list[ListenEvent]:
        await self.listener.settled()
        for _ in range(3):
            await asyncio.sleep(0)
        return self.events

    async def finals(self) -> list[str]:
        return [e.text for e in await self.seen() if isinstance(e, Words) and e.kind == "final"]

    async def names(self) -> list[str]:
        return [
            f"{e.kind}" if isinstance(e, Words) else type(e).__name__.removeprefix("Speech") for e in await self.seen()
        ]

    async def until(self, name: str) -> None:
        """Wait for an event of this name."""
        async with asyncio.timeout(30):
            while name not in await self.names():
                self._came.clear()
                await self._came.wait()

    async def _read(self) -> None:
        async for event in self.listener.events():
            self.events.append(event)
            self._came.set()


async def never(_seconds: float) -> None:
    await asyncio.Event().wait()


@asynccontextmanager
async def listening(
    recogniser: object,
    silero: Silero,
    *,
    settings: ListenSettings | None = None,
    sleep: Callable[[float], object] = never,
    language: str = "en",
) -> AsyncIterator[Fed]:
    lanes = Lanes()
    ear = Ear(recogniser, lanes.lane("ear"), silero=silero, language=language)  # type: ignore[arg-type]
    fed = Fed(Listener(ear, settings=settings or ListenSettings(partials=False), sleep=sleep))  # type: ignore[arg-type]
    try:
        yield fed
    finally:
        await fed.close()
        lanes.close()
