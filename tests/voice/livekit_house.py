"""A door, a worker and a LiveKit server on loopback: everything real but the recogniser, the engine and the core."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI

from firstword.serving import serving
from firstword.testing.doors import ScriptedDoor
from firstword.testing.listeners import ScriptedListener
from firstword.testing.livekit import KEY, SECRET, LiveKitServer
from firstword.testing.voices import ToneEngine
from grant import Signer
from models.lanes import Lanes
from tts import Speaker
from voice import BotVoice, DoorClient, Limits, VoiceParts
from voice.livekit import LiveKit, Worker, room_pass

SIGNER = Signer("a secret for the tests, nobody else's")


@dataclass
class Rooms:
    """What a test holds: passes into rooms, the door that is asked, and who listens there."""

    door: ScriptedDoor
    livekit: LiveKit
    worker: Worker
    listeners: list[tuple[ScriptedListener, asyncio.AbstractEventLoop]] = field(default_factory=list)
    room: int = 0

    @property
    def listener(self) -> ScriptedListener:
        return self.listeners[-1][0]

    def hears(self, text: str) -> None:
        """The last room's listener hears this; it lives on the loop of its room."""
        listener, loop = self.listeners[-1]
        loop.call_soon_threadsafe(listener.say, text)

    def grant(self, *, subject: str = "ada", room: str = "", minutes: float = 10.0) -> str:
        return SIGNER.mint(bot="guide", subject=subject, room=room or self._next(), minutes=minutes)

    def pass_for(self, grant: str = "", *, livekit: LiveKit | None = None) -> dict[str, Any]:
        grant = grant or self.grant()
        return room_pass(livekit or self.livekit, grant, SIGNER.verify(grant).room)

    def _next(self) -> str:
        self.room += 1
        return f"room-{time.monotonic_ns()}-{self.room}"


@contextlib.asynccontextmanager
async def rooms_of(
    server: LiveKitServer,
    *answers: list[str],
    audio: bool = False,
    limits: Limits | None = None,
    status: int = 200,
) -> AsyncIterator[Rooms]:
    """A worker that is registered with `server`."""
    door = ScriptedDoor(*answers, status=status)
    app = FastAPI()
    app.mount("/", door.app)
    livekit = LiveKit(server.url, KEY, SECRET, audio=audio)
    lanes, tone = Lanes(), ToneEngine(seconds_per_char=0.01)
    listeners: list[tuple[ScriptedListener, asyncio.AbstractEventLoop]] = []

    def listener(_bot: BotVoice) -> ScriptedListener:
        listeners.append((ScriptedListener(), asyncio.get_running_loop()))
        return listeners[-1][0]

    async with serving(lambda _url: app) as base_url:

        @contextlib.asynccontextmanager
        async def parts() -> AsyncIterator[VoiceParts]:
            client = DoorClient(base_url)
            yield VoiceParts(
                listener=listener,
                speaker=lambda _bot: Speaker(tone, lanes.lane("voice")) if audio else None,
                door=client,
                signer=SIGNER,
                bot=lambda name: {"guide": BotVoice()}[name],
                limits=limits or Limits(),
            )
            await client.close()

        ready = asyncio.Event()
        worker = Worker(livekit, parts, SIGNER, limits or Limits(), clock=time.monotonic, on_ready=ready.set)
        running = asyncio.create_task(worker.run())
        try:
            async with asyncio.timeout(30):
                await ready.wait()
            yield Rooms(door, livekit, worker, listeners)
        finally:
            await worker.stop(within_s=5)
            await running
            lanes.close()
