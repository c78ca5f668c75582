"""The person: a microphone that never stops, a loudspeaker, and a wire to a system.

The same person talks to every system: what differs is the wire. The one rule: the microphone has a frame every 20 ms,
and in it whatever the person says and, with a leak, what the loudspeaker gave out a moment before.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import math
from collections.abc import AsyncIterator
from typing import Any, Protocol

import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from benchmarks.peers.loudspeaker import RATE_HZ, Loudspeaker
from sound import Pcm, Resampler, Samples

FRAME_S = 0.02
LEAK_DELAY_S = 0.15
_FRAME = round(FRAME_S * RATE_HZ)
_TONE_RMS = 0.0002


class Wire(Protocol):
    """How sound goes to a system and comes back."""

    async def send(self, frame: Samples) -> None:
        """20 ms of the microphone at 24 kHz."""

    def read(self, message: str | bytes, loudspeaker: Loudspeaker, at_s: float) -> None:
        """What came, into the loudspeaker."""


class PlainWire:
    """16 kHz s16 out, 24 kHz s16 back, and JSON to hold and to clear."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._resampler = Resampler(16_000)

    async def send(self, frame: Samples) -> None:
        """A frame, at 16 kHz."""
        await self._socket.send(self._resampler.push(Pcm(frame, RATE_HZ)).to_s16le())

    def read(self, message: str | bytes, loudspeaker: Loudspeaker, at_s: float) -> None:
        """Sound, or what to do with it."""
        if isinstance(message, bytes):
            loudspeaker.push(Pcm.from_s16le(message, RATE_HZ).samples, at_s)
            return
        told = json.loads(message)
        if told.get("clear"):
            loudspeaker.clear(at_s)
        elif "hold" in told:
            loudspeaker.hold(at_s) if told["hold"] else loudspeaker.resume(at_s)


class RealtimeWire:
    """The Realtime protocol at 24 kHz, as our page speaks it."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, frame: Samples) -> None:
        """A frame."""
        audio = base64.b64encode(Pcm(frame, RATE_HZ).to_s16le()).decode()
        await self._socket.send(f'{{"type":"input_audio_buffer.append","audio":"{audio}"}}')

    def read(self, message: str | bytes, loudspeaker: Loudspeaker, at_s: float) -> None:
        """An event; those without sound change nothing that is heard."""
        event: dict[str, Any] = json.loads(message)
        match event["type"]:
            case "response.output_audio.delta":
                loudspeaker.push(Pcm.from_s16le(base64.b64decode(event["delta"]), RATE_HZ).samples, at_s)
            case "output_audio_buffer.cleared":
                loudspeaker.clear(at_s)
            case "firstword.hold":
                loudspeaker.hold(at_s) if event["held"] else loudspeaker.resume(at_s)


class Person:
    """Somebody in front of a system. Made by `sitting_before`."""

    def __init__(self, wire: Wire, socket: ClientConnection) -> None:
        self.loudspeaker = Loudspeaker()
        self.leak = 0.0
        self.gone = ""
        self.late_s = 0.0
        self._wire, self._socket = wire, socket
        self._to_say: list[Samples] = []
        self._begun_at = math.inf
        self._open = asyncio.Event()
        self._random = np.random.default_rng(1)

    @property
    def now(self) -> float:
        """Seconds on the loop's clock."""
        return asyncio.get_running_loop().time()

    def listen(self, *, on: bool) -> None:
        """Open or shut the microphone: others are measured meanwhile."""
        self._open.set() if on else self._open.clear()

    async def say(self, samples: Samples) -> float:
        """Say all of it; gives the moment its first sample went into the microphone."""
        padded = np.concatenate([samples, np.zeros(-len(samples) % _FRAME, dtype=np.float32)])
        self._begun_at = math.inf
        self._to_say = list(padded.reshape(-1, _FRAME))
        while self._to_say:
            self._fail_if_gone()
            await asyncio.sleep(FRAME_S / 2)
        return self._begun_at

    async def wait(self, seconds: float) -> None:
        """Say nothing for so long."""
        until_s = self.now + seconds
        while self.now < until_s:
            self._fail_if_gone()
            await asyncio.sleep(min(FRAME_S, max(0.001, until_s - self.now)))

    async def until_quiet(self, *, quiet_s: float, limit_s: float) -> None:
        """Until nothing has sounded for `quiet_s`, or `limit_s` are over."""
        until_s, since_s = self.now + limit_s, self.now
        while self.now < until_s and self.now - since_s < quiet_s:
            self._fail_if_gone()
            if self.loudspeaker.sounding(self.now):
                since_s = self.now
            await asyncio.sleep(FRAME_S)

    def _fail_if_gone(self) -> None:
        if self.gone:
            raise ConnectionError(self.gone)

    async def speak_frames(self) -> None:
        """The microphone."""
        due_s = self.now
        with contextlib.suppress(ConnectionClosed):
            while True:
                if not self._open.is_set():
                    await self._open.wait()
                    due_s = self.now
                frame = self._random.normal(0.0, _TONE_RMS, _FRAME).astype(np.float32)
                if self._to_say:
                    # A microphone hands on a frame when it has heard the whole of it.
                    self._begun_at = min(self._begun_at, due_s - FRAME_S)
                    frame += self._to_say.pop(0)
                if self.leak:
                    heard_s = due_s - FRAME_S - LEAK_DELAY_S
                    frame += self.leak * self.loudspeaker.between(heard_s, heard_s + FRAME_S)
                await self._wire.send(np.clip(frame, -1.0, 1.0))
                due_s += FRAME_S
                self.late_s = max(self.late_s, self.now - due_s)
                await asyncio.sleep(max(0.0, due_s - self.now))

    async def hear_frames(self) -> None:
        """What comes back."""
        try:
            async for message in self._socket:
                self._wire.read(message, self.loudspeaker, self.now)
        except ConnectionClosed as closed:
            self.gone = f"the system hung up: {closed}"
        else:
            self.gone = self.gone or "the system hung up"


@contextlib.asynccontextmanager
async def sitting_before(url: str, *, grant: str = "") -> AsyncIterator[Person]:
    """A person before the system at `url`: with a grant over the Realtime protocol, else over the plain wire."""
    headers = {"Authorization": f"Bearer {grant}"} if grant else {}
    async with connect(url, additional_headers=headers, max_size=None, ping_interval=None) as socket:
        if grant:
            update = {"type": "session.update", "session": {"type": "realtime", "firstword": {"events": True}}}
            await socket.send(json.dumps(update))
        person = Person(RealtimeWire(socket) if grant else PlainWire(socket), socket)
        tasks = [asyncio.create_task(person.speak_frames()), asyncio.create_task(person.hear_frames())]
        try:
            yield person
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
