"""A server on loopback with everything real but the recogniser, the engine and the core."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from fastapi import FastAPI

from firstword.serving import serving
from firstword.testing.doors import ScriptedDoor
from firstword.testing.listeners import ScriptedListener
from firstword.testing.voices import ToneEngine
from grant import Signer
from models.lanes import Lanes
from tts import Speaker
from voice import BotVoice, Calls, DoorClient, IceServer, Limits, VoiceParts, create_voice, places_of
from voice.kept import Kept
from voice.places import Places

SIGNER = Signer("a secret for the tests, nobody else's")


@dataclass
class House:
    """What a test holds of the server."""

    base_url: str
    door: ScriptedDoor
    calls: Calls = field(default_factory=Calls)
    listeners: list[ScriptedListener] = field(default_factory=list)
    places: Places = field(default_factory=lambda: places_of(Limits()))

    @property
    def listener(self) -> ScriptedListener:
        return self.listeners[-1]

    def grant(self, subject: str = "ada") -> str:
        return SIGNER.mint(bot="guide", subject=subject, room="room-1")


Serve = Callable[..., contextlib.AbstractAsyncContextManager[House]]


@contextlib.asynccontextmanager
async def serve(
    *answers: list[str],
    engine: ToneEngine | None = None,
    fallback: ToneEngine | None = None,
    limits: Limits | None = None,
    bot: BotVoice | None = None,
    listener_fails: bool = False,
    status: int = 200,
    kept: Kept | None = None,
    clock: Callable[[], float] = time.monotonic,
    ice_servers: tuple[IceServer, ...] = (),
) -> AsyncIterator[House]:
    door = ScriptedDoor(*answers, status=status)
    lanes = Lanes()
    app = FastAPI()
    base: list[str] = []
    client = DoorClient(lambda: base[0])
    house = House("", door)
    tone = engine or ToneEngine(seconds_per_char=0.01)

    def listener(_bot: BotVoice) -> ScriptedListener:
        if listener_fails:
            raise RuntimeError("no weights")
        house.listeners.append(ScriptedListener())
        return house.listener

    parts = VoiceParts(
        listener=listener,
        speaker=lambda _bot: Speaker(tone, lanes.lane("voice"), fallback=fallback),
        door=client,
        signer=SIGNER,
        bot=lambda name: {"guide": bot or BotVoice()}[name],
        limits=limits or Limits(),
        ice_servers=ice_servers,
        origins=frozenset({"https://shop.example"}),
        kept=kept,
        clock=clock,
    )
    house.places = places_of(parts.limits, clock)
    app.include_router(create_voice(parts, house.calls, house.places))
    app.mount("/", door.app)
    try:
        async with serving(lambda _url: app) as url:
            base.append(url)
            house.base_url = url
            yield house
    finally:
        await house.calls.close()
        await client.close()
        lanes.close()
