"""LiveKit from the settings: what lets a page into a room, and the worker that answers there.

It makes and closes; it decides nothing. The one rule: where text alone goes through the rooms the worker loads no
engine, and where sound does it loads each once for all its rooms.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from agents_core.library import Bots
from asr.events import ListenEvent
from database import Database
from firstword.errors import CannotStart
from firstword.house import bot_voice_of, limits_of, open_house, signer_for
from firstword.preparing import settled
from firstword.settings import Settings
from sound import Pcm
from voice import DoorClient, VoiceParts
from voice.kept import Kept
from web import RoomClient

if TYPE_CHECKING:
    from voice.livekit import LiveKit, Worker

_LOG = logging.getLogger(__name__)
_NO_EXTRA = 'LIVEKIT_URL is set and the extra is not installed: pip install "firstword[livekit]"'


def livekit_for(settings: Settings) -> LiveKit | None:
    """The LiveKit server of these settings; None where there is none. Raises `CannotStart` without the extra."""
    if not settings.livekit_url:
        return None
    try:
        from voice.livekit import LiveKit
    except ImportError as missing:
        raise CannotStart(_NO_EXTRA) from missing
    secret = settings.livekit_api_secret.get_secret_value()
    return LiveKit(settings.livekit_url, settings.livekit_api_key, secret, audio=settings.livekit_audio)


def room_pass_for(settings: Settings) -> Callable[[str, str], dict[str, Any]] | None:
    """What start gives a page besides the grant, where there is a LiveKit server."""
    livekit = livekit_for(settings)
    if livekit is None:
        return None
    from voice.livekit import room_pass

    return lambda grant, room: room_pass(livekit, grant, room)


def room_client_for(settings: Settings) -> RoomClient | None:
    """What the page joins rooms with; None where it takes the direct path."""
    if not settings.livekit_url:
        return None
    if not settings.livekit_client.is_file():
        _LOG.warning("%s is not there: the page takes the direct path, not rooms", settings.livekit_client)
        return None
    return RoomClient(settings.livekit_url, settings.livekit_client)


@contextlib.asynccontextmanager
async def opened_worker(settings: Settings, *, on_ready: Callable[[], None] = lambda: None) -> AsyncIterator[Worker]:
    """A worker that can be run. Raises `CannotStart` where no LiveKit server is set."""
    livekit = livekit_for(settings)
    if livekit is None:
        raise CannotStart(
            "there is no LiveKit server in these settings: set LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET"
        )
    from voice.livekit import Worker

    door = settings.door_url or f"http://127.0.0.1:{settings.port}"
    async with contextlib.AsyncExitStack() as stack:
        shared, bots = await (_with_sound if livekit.audio else _text_alone)(settings, door, stack)

        @contextlib.asynccontextmanager
        async def parts() -> AsyncIterator[VoiceParts]:
            await bots.fresh()
            # Connections belong to the loop they were made on, and each room has a loop of its own.
            client, kept = DoorClient(door), Kept(Database(settings.database))
            kept.scribe.start()
            try:
                yield replace(shared, door=client, kept=kept)
            finally:
                await kept.close()
                await client.close()

        yield Worker(livekit, parts, signer_for(settings), limits_of(settings), clock=time.monotonic, on_ready=on_ready)


async def _with_sound(settings: Settings, door: str, stack: contextlib.AsyncExitStack) -> tuple[VoiceParts, Bots]:
    """The ear and the voices of a house whose thinking is done elsewhere."""
    house = await open_house(settings, door, works=False)
    stack.push_async_callback(house.close)
    await house.warm_sound()
    stack.enter_context(settled())
    return house.voice_parts(), house.core.bots


async def _text_alone(settings: Settings, door: str, stack: contextlib.AsyncExitStack) -> tuple[VoiceParts, Bots]:
    """No ear and no voice: what is written is answered in writing."""
    bots = await asyncio.to_thread(Bots, settings.content, clock=time.monotonic)
    if not settings.database_url:
        await asyncio.to_thread(settings.data.mkdir, parents=True, exist_ok=True)
    kept = Kept(Database(settings.database))
    stack.push_async_callback(kept.close)
    await kept.open()
    parts = VoiceParts(
        listener=lambda _bot: _Deaf(),
        speaker=lambda _bot: None,
        door=DoorClient(door),
        signer=signer_for(settings),
        bot=lambda slug: bot_voice_of(settings, bots[slug]),
        limits=limits_of(settings),
    )
    return parts, bots


class _Deaf:
    """The listener of a conversation that has no sound."""

    language = ""

    def push(self, pcm: Pcm) -> None: ...
    def answer_heard(self) -> None: ...
    def commit(self) -> None: ...
    def clear(self) -> None: ...
    def set_mode(self, mode: Literal["open", "push"]) -> None: ...
    async def close(self) -> None: ...

    async def events(self) -> AsyncIterator[ListenEvent]:
        await asyncio.Event().wait()
        yield  # type: ignore[misc]  # makes it an iterator; nothing is ever heard
