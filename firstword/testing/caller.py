"""A caller: a WebRTC client that speaks what it is given, keeps what it hears and reads the events.

It is a client like any other, made with aiortc; it needs the extra `webrtc`. The one rule: it sends in real time and
never stops, as a microphone does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import httpx2
import numpy as np
from aiortc import MediaStreamTrack, RTCConfiguration, RTCDataChannel, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError
from av import AudioFrame

from sound import Pcm, resample

LINE_HZ = 48_000
FRAME = LINE_HZ // 50


class Microphone(MediaStreamTrack):
    """Sends `sound` once `speak` is called, and silence before and after; 48 kHz, 20 ms frames, in real time."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self._to_say = np.zeros(0, dtype=np.float32)
        self._n = 0
        self._began: float | None = None
        self.sent_s = 0.0

    def speak(self, pcm: Pcm) -> None:
        """Say this next."""
        self._to_say = np.concatenate([self._to_say, resample(pcm, LINE_HZ).samples])

    async def recv(self) -> AudioFrame:
        """The next frame, when it is due."""
        self._began = self._began or time.monotonic()
        await asyncio.sleep(max(0.0, self._began + self._n * 0.02 - time.monotonic()))
        part, self._to_say = self._to_say[:FRAME], self._to_say[FRAME:]
        part = np.pad(part, (0, FRAME - len(part)))
        frame = AudioFrame.from_ndarray(
            np.repeat(part * 32767, 2).astype(np.int16).reshape(1, -1), format="s16", layout="stereo"
        )
        frame.sample_rate, frame.pts, frame.time_base = LINE_HZ, self._n * FRAME, Fraction(1, LINE_HZ)
        self._n += 1
        self.sent_s += 0.02
        return frame


@dataclass
class Caller:
    """One call from the client's side."""

    connection: RTCPeerConnection
    microphone: Microphone
    channel: RTCDataChannel
    events: list[dict[str, Any]] = field(default_factory=list)
    heard: list[tuple[int, Pcm]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def send(self, kind: str, **fields: Any) -> None:
        """Send an event."""
        self.channel.send(json.dumps({"type": kind, **fields}))

    def kinds(self) -> list[str]:
        """The types of the events so far."""
        return [event["type"] for event in self.events]

    def last(self, kind: str) -> dict[str, Any]:
        """The newest event of a type."""
        return next(event for event in reversed(self.events) if event["type"] == kind)

    def sound(self) -> Pcm:
        """What was heard so far, 48 kHz."""
        return Pcm.join([Pcm.silence(0, LINE_HZ), *(pcm for _, pcm in self.heard)])

    async def until(self, kind: str, *, count: int = 1, limit_s: float = 20.0) -> dict[str, Any]:
        """Wait until `count` events of `kind` have come."""
        await self.holds(lambda: self.kinds().count(kind) >= count, limit_s)
        return self.last(kind)

    async def holds(self, true: Callable[[], bool], limit_s: float = 20.0) -> None:
        """Wait until something holds."""
        async with asyncio.timeout(limit_s):
            while not true():  # noqa: ASYNC110 - what is waited for is somebody else's to change
                await asyncio.sleep(0.01)

    def _read(self, message: str) -> None:
        self.sizes.append(len(message))
        self.events.append(json.loads(message))

    def _listen(self, track: MediaStreamTrack) -> None:
        self._listening = asyncio.ensure_future(self._hear(track))

    async def _hear(self, track: MediaStreamTrack) -> None:
        with contextlib.suppress(MediaStreamError):
            while True:
                frame = await track.recv()
                if not isinstance(frame, AudioFrame):
                    continue
                data = frame.to_ndarray().tobytes()
                self.heard.append((frame.pts or 0, Pcm.from_s16le(data, LINE_HZ, len(frame.layout.channels)).mono()))


def offering() -> Caller:
    """A client that has not called yet."""
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    client = Caller(connection, Microphone(), connection.createDataChannel("oai-events"))
    connection.addTrack(client.microphone)
    connection.on("track", client._listen)
    client.channel.on("message", client._read)
    return client


@contextlib.asynccontextmanager
async def called(base_url: str, grant: str, *, session: dict[str, Any] | None = None) -> AsyncIterator[Caller]:
    """A call that is connected and whose session has begun."""
    client = offering()
    try:
        await client.connection.setLocalDescription(await client.connection.createOffer())
        answered = await knock(base_url, grant, client.connection.localDescription.sdp)
        if answered.status_code != httpx2.codes.CREATED:
            raise ConnectionError(answered.text)
        await client.connection.setRemoteDescription(RTCSessionDescription(answered.text, "answer"))
        await client.until("session.created")
        if session is not None:
            client.send("session.update", session={"type": "realtime", **session})
            await client.until("session.updated")
        yield client
    finally:
        await client.connection.close()


async def knock(base_url: str, grant: str, offer: str, **headers: str) -> httpx2.Response:
    """Post an offer."""
    async with httpx2.AsyncClient(trust_env=False, timeout=20) as http:
        return await http.post(
            f"{base_url}/v1/realtime/calls",
            content=offer,
            headers={"Authorization": f"Bearer {grant}", "Content-Type": "application/sdp", **headers},
        )
