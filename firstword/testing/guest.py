"""A guest: a LiveKit client that joins a room with a pass, asks in writing, speaks and listens.

It is a client like any other, made with LiveKit's own library; it needs the extra `livekit`. The one rule: it sends
nothing before the worker is in the room, as a page does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from livekit import rtc

from sound import Pcm
from voice.livekit.passes import EVENTS, INPUT, OUTPUT, READY

MICROPHONE_HZ = 16_000
_FRAME = MICROPHONE_HZ // 50
# Nothing back for so long: the turn is sent again.
_AGAIN_S = 3.0


@dataclass
class Reply:
    """What came back for one turn."""

    turn: str
    told: dict[str, str]
    text: str = ""
    deltas: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def status(self) -> str:
        """How it ended, "broken" where the worker died; "" while it goes on."""
        return self.told.get("status", "")


class Guest:
    """Somebody in a room. Made by `joined`."""

    def __init__(self) -> None:
        self.room = rtc.Room()
        self.replies: dict[str, Reply] = {}
        self.events: list[dict[str, Any]] = []
        self.heard: list[Pcm] = []
        self.goodbye = ""
        self.agent_here = asyncio.Event()
        self.agent_gone = asyncio.Event()
        self.gone = asyncio.Event()
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._source: rtc.AudioSource | None = None
        self._to_say = np.zeros(0, dtype=np.float32)
        self.room.register_text_stream_handler(OUTPUT, lambda reader, _who: self._beside(self._reads(reader)))
        self.room.on("data_received", self._event)
        self.room.on("participant_connected", self._look)
        self.room.on("participant_attributes_changed", lambda _changed, other: self._look(other))
        self.room.on("participant_disconnected", lambda _other: self.agent_gone.set())
        self.room.on("track_subscribed", lambda track, *_of: self._beside(self._listens(track)))
        self.room.on("disconnected", lambda *_why: self.gone.set())

    async def join(self, livekit: dict[str, Any]) -> None:
        """Join with what start gave; the worker may take a moment more."""
        await self.room.connect(livekit["url"], livekit["token"])
        for other in self.room.remote_participants.values():
            self._look(other)

    async def ask(self, text: str, turn: str = "", **attributes: str) -> Reply:
        """Send a turn; what comes back grows in the reply."""
        turn = turn or uuid.uuid4().hex
        reply = self.replies.setdefault(turn, Reply(turn, {}))
        told = {"turn": turn, **attributes}
        await self.room.local_participant.send_text(text, topic=INPUT, attributes=told)
        self._beside(self._again(text, told, reply))
        return reply

    async def _again(self, text: str, told: dict[str, str], reply: Reply) -> None:
        """Send a turn once more, under the same id, where nothing came back."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(reply.begun.wait(), _AGAIN_S)
        if not reply.begun.is_set():
            await self.room.local_participant.send_text(text, topic=INPUT, attributes=told)

    async def cancel(self) -> None:
        """Stop the answer that is being given."""
        await self.room.local_participant.send_text(" ", topic=INPUT, attributes={"cancel": "yes"})

    async def send(self, event: dict[str, Any]) -> None:
        """A Realtime event."""
        await self.room.local_participant.publish_data(json.dumps(event), topic=EVENTS)

    async def open_microphone(self) -> None:
        """Publish a microphone that is silent until `say`."""
        self._source = rtc.AudioSource(MICROPHONE_HZ, 1, queue_size_ms=100)
        track = rtc.LocalAudioTrack.create_audio_track("microphone", self._source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        await self.room.local_participant.publish_track(track, options)
        self._beside(self._speaks())

    def say(self, pcm: Pcm) -> None:
        """Say this (16 kHz) from now on, in real time."""
        self._to_say = np.concatenate([self._to_say, pcm.samples])

    async def until(self, name: str, count: int = 1, limit_s: float = 30.0) -> dict[str, Any]:
        """The `count`th event called `name`; waits for it."""
        async with asyncio.timeout(limit_s), self._changed:
            while len(found := [event for event in self.events if event["type"] == name]) < count:
                await self._changed.wait()
        return found[count - 1]

    async def leave(self) -> None:
        """Go. Safe to call twice."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.room.disconnect()
        if self._source is not None:
            await self._source.aclose()

    def _look(self, other: rtc.RemoteParticipant) -> None:
        if other.attributes.get(READY):
            self.agent_here.set()

    def _beside(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reads(self, reader: rtc.TextStreamReader) -> None:
        told = dict(reader.info.attributes or {})
        if told.get("ended"):
            self.goodbye = await reader.read_all()
            return
        reply = self.replies.setdefault(told["turn"], Reply(told["turn"], {}))
        reply.told = told
        reply.begun.set()
        try:
            async for text in reader:
                reply.text += text
                reply.deltas += 1
            reply.told = dict(reader.info.attributes or {})
        except rtc.StreamError:
            reply.told["status"] = "broken"
        reply.over.set()

    async def _listens(self, track: rtc.Track) -> None:
        stream = rtc.AudioStream.from_track(track=track, sample_rate=24_000, num_channels=1)
        try:
            async for event in stream:
                self.heard.append(Pcm(np.asarray(event.frame.data, dtype=np.float32) / np.float32(32_768), 24_000))
        finally:
            await stream.aclose()

    async def _speaks(self) -> None:
        assert self._source is not None
        while True:
            part, self._to_say = self._to_say[:_FRAME], self._to_say[_FRAME:]
            frame = np.zeros(_FRAME, dtype=np.float32)
            frame[: len(part)] = part
            pcm = Pcm(frame, MICROPHONE_HZ)
            await self._source.capture_frame(rtc.AudioFrame(pcm.to_s16le(), MICROPHONE_HZ, 1, _FRAME))

    def _event(self, packet: rtc.DataPacket) -> None:
        if packet.topic == EVENTS:
            self._beside(self._took(json.loads(packet.data)))

    async def _took(self, event: dict[str, Any]) -> None:
        async with self._changed:
            self.events.append(event)
            self._changed.notify_all()


@contextlib.asynccontextmanager
async def joined(livekit: dict[str, Any], *, wait_s: float = 20.0) -> AsyncIterator[Guest]:
    """A guest in the room of `livekit`, once the worker is there too (unless `wait_s` is 0)."""
    guest = Guest()
    try:
        await guest.join(livekit)
        if wait_s:
            async with asyncio.timeout(wait_s):
                await guest.agent_here.wait()
        yield guest
    finally:
        await guest.leave()
