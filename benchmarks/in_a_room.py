"""A conversation in a room of a LiveKit server on this machine, as `firstword talk` holds one on the WebSocket.

The server is LiveKit's own, the worker is `firstword worker` as people start it, the client is LiveKit's. The one rule:
what is measured is the same on both lines: samples as they arrive at the client.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import tempfile
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
from livekit import rtc

from benchmarks.child import child
from firstword.errors import CannotStart
from firstword.house import signer_for
from firstword.settings import Settings
from firstword.talk import RATE_HZ, Conversation, holding
from firstword.testing.livekit import KEY, MISSING, SECRET, LiveKitServer, find_livekit
from sound import Pcm
from voice.livekit import LiveKit, room_pass
from voice.livekit.passes import EVENTS, READY

_START_S = 120.0
# Between answers a track is silence; an answer's own sound is over this.
_SOUNDS = 0.0005


class _RoomLine:
    """Looks like a WebSocket: sound in events is put on a track, and sound of a track into events."""

    def __init__(self) -> None:
        self.room = rtc.Room()
        self.worker_here = asyncio.Event()
        self._events: asyncio.Queue[str] = asyncio.Queue()
        self._source = rtc.AudioSource(RATE_HZ, 1, queue_size_ms=100)
        self._response = ""
        self._listening: list[asyncio.Task[None]] = []
        self.room.on("data_received", self._took)
        self.room.on("participant_connected", self._look)
        self.room.on("participant_attributes_changed", lambda _changed, other: self._look(other))
        self.room.on("track_subscribed", self._tracked)

    async def open(self, made: dict[str, Any]) -> None:
        """Join, wait for the worker, and put the microphone up."""
        await self.room.connect(made["url"], made["token"])
        for other in self.room.remote_participants.values():
            self._look(other)
        try:
            async with asyncio.timeout(_START_S):
                await self.worker_here.wait()
        except TimeoutError as late:
            raise CannotStart("no worker came into the room; is its log empty?") from late
        track = rtc.LocalAudioTrack.create_audio_track("microphone", self._source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        await self.room.local_participant.publish_track(track, options)

    async def close(self) -> None:
        """Leave."""
        for task in self._listening:
            task.cancel()
        await asyncio.gather(*self._listening, return_exceptions=True)
        await self.room.disconnect()
        await self._source.aclose()

    async def send(self, message: str) -> None:
        """An event; a frame of the microphone goes on the track."""
        event = json.loads(message)
        if event["type"] != "input_audio_buffer.append":
            await self.room.local_participant.publish_data(message, topic=EVENTS)
            return
        sound = base64.b64decode(event["audio"])
        await self._source.capture_frame(rtc.AudioFrame(sound, RATE_HZ, 1, len(sound) // 2))

    async def __aiter__(self) -> AsyncIterator[str]:
        while True:
            yield await self._events.get()

    def _look(self, other: rtc.RemoteParticipant) -> None:
        if other.attributes.get(READY):
            self.worker_here.set()

    def _took(self, packet: rtc.DataPacket) -> None:
        if packet.topic != EVENTS:
            return
        text = packet.data.decode()
        event = json.loads(text)
        if event["type"] == "response.created":
            self._response = event["response"]["id"]
        self._events.put_nowait(text)

    def _tracked(self, track: rtc.Track, *_of: Any) -> None:
        self._listening.append(asyncio.create_task(self._listen(track)))

    async def _listen(self, track: rtc.Track) -> None:
        stream = rtc.AudioStream.from_track(track=track, sample_rate=RATE_HZ, num_channels=1, frame_size_ms=20)
        try:
            async for event in stream:
                frame = Pcm(np.asarray(event.frame.data, dtype=np.float32) / np.float32(32_768), RATE_HZ)
                if frame.peak > _SOUNDS and self._response:
                    delta = base64.b64encode(frame.to_s16le()).decode()
                    told = {"type": "response.output_audio.delta", "response_id": self._response, "delta": delta}
                    self._events.put_nowait(json.dumps(told))
        finally:
            await stream.aclose()


@contextlib.asynccontextmanager
async def in_a_room(settings: Settings, base_url: str, bot: str) -> AsyncIterator[Conversation]:
    """A conversation with `bot` of the server at `base_url`, through a LiveKit server and a worker of its own.

    Raises `CannotStart` where no LiveKit server is built, or no worker comes.
    """
    program = find_livekit()
    if program is None:
        raise CannotStart(MISSING)
    server = LiveKitServer(program)
    await asyncio.to_thread(server.start)
    line = _RoomLine()
    try:
        with tempfile.TemporaryDirectory(prefix="firstword-bench-") as folder:
            environment = {
                "LIVEKIT_URL": server.url,
                "LIVEKIT_API_KEY": KEY,
                "LIVEKIT_API_SECRET": SECRET,
                "FIRSTWORD_LIVEKIT_AUDIO": "true",
                "FIRSTWORD_DOOR_URL": base_url,
                "FIRSTWORD_DATA": folder,
            }
            async with child("worker", environment, Path(folder) / "worker.log") as worker:
                log = Path(folder) / "worker.log"
                async with asyncio.timeout(_START_S):
                    while "waiting for rooms" not in await asyncio.to_thread(log.read_text):
                        if worker.poll() is not None:
                            raise CannotStart(f"the worker ended: {await asyncio.to_thread(log.read_text)}")
                        await asyncio.sleep(0.05)
                room = f"room-{uuid.uuid4().hex}"
                grant = signer_for(settings).mint(bot=bot, subject="owner", room=room)
                await line.open(room_pass(LiveKit(server.url, KEY, SECRET, audio=True), grant, room))
                async with holding(line) as conversation:
                    yield conversation
                await line.close()
    finally:
        await asyncio.to_thread(server.stop)
