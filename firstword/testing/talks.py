"""A whole conversation on virtual time: a real session, a device in a room, and somebody who may speak.

Session, gate, bar, turn, playout and speaker are the real ones; door and clock are given. The one rule: the
microphone never stops, whatever happens.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import numpy as np

from asr import Ear, Listener
from firstword.testing.device import Device
from firstword.testing.lanes import VirtualLane
from grant import Grant, Signer
from models.lanes import Lane
from sound import Pcm, Samples
from tts import Speaker
from tts.engine import Engine
from voice.answer import OUT_HZ
from voice.cushion import Cushions
from voice.door import DoorClient, DoorDelta, DoorTrace, Message
from voice.events import Typed
from voice.parts import BotVoice, CancellerPort, ListenerPort, VoiceParts
from voice.realtime_events import Wire
from voice.session import Session

FRAME_S = 0.02


class SaidDoor(DoorClient):
    """A door that says the next of `answers`, over and over, and keeps what it was asked."""

    def __init__(self, answers: Sequence[str]) -> None:
        super().__init__("http://nowhere")
        self._answers = answers
        self.asked: list[list[Message]] = []

    async def ask(
        self, grant: str, messages: Sequence[Message], *, language: str = "en"
    ) -> AsyncIterator[DoorDelta | DoorTrace]:
        """The next answer, whole."""
        answer = self._answers[len(self.asked) % len(self._answers)]
        self.asked.append(list(messages))
        yield DoorDelta(answer)


class Talk:
    """One conversation; make it inside a `VirtualLoop`.

    `listener` gives the session its ear, real or scripted; `fit_s` is what working out how to clean a candidate takes.
    A frame of microphone comes every `frame_s` seconds, which may be changed at any time: while nobody speaks longer
    ones cost less, and are judged as the same 20 ms.
    """

    def __init__(
        self,
        device: Device,
        *,
        answers: Sequence[str],
        engine: Engine,
        listener: Callable[[BotVoice], ListenerPort],
        lane: Lane,
        frame_s: float = FRAME_S,
        fit_s: float = 0.0,
        canceller: Callable[[], CancellerPort] | None = None,
        cushions: Cushions | None = None,
    ) -> None:
        self.device = device
        self.door = SaidDoor(answers)
        self.events: list[dict[str, Any]] = []
        self.begun_at: dict[str, float] = {}
        self.sent_at: dict[str, float] = {}
        self._loop = asyncio.get_running_loop()
        self.frame_s = frame_s
        parts = VoiceParts(
            listener=listener,
            speaker=lambda _bot: Speaker(engine, lane, clock=self._loop.time),
            door=self.door,
            signer=Signer("a secret for a simulated room, nobody else's"),
            lane=VirtualLane(job_s=fit_s),
            cushions=cushions or Cushions(),
            canceller=canceller,
            clock=self._loop.time,
        )
        wire = Wire(self._sent)
        wire.ours = True
        self.session = Session(parts, grant=_GRANT, token=_GRANT.id, wire=wire)
        self.session.start()

    @property
    def _frame(self) -> int:
        return round(self.frame_s * OUT_HZ)

    @property
    def now(self) -> float:
        """Virtual seconds."""
        return self._loop.time()

    async def close(self) -> None:
        """End it."""
        await self.session.close()

    def ask(self, text: str) -> None:
        """Type a line."""
        self.session.act(Typed(text))

    async def frame(self, near: Samples | None = None) -> Pcm:
        """A frame goes by, in which the person says `near` (as long, at 24 kHz); gives what the microphone read."""
        heard = self.device.hear(self._frame, near)
        self.session.hear(heard)
        await asyncio.sleep(self.frame_s)
        return heard

    async def until_quiet(self) -> None:
        """Nobody speaks until the answer is over and played."""
        while self.session.state.answer is not None or self.device.waiting:
            await self.frame()

    async def run(self, seconds: float) -> None:
        """Nobody speaks for `seconds`."""
        for _ in range(round(seconds / self.frame_s)):
            await self.frame()

    async def say(self, near: Samples) -> None:
        """The person says all of `near`."""
        padded = np.concatenate([near, np.zeros(-len(near) % self._frame, dtype=np.float32)])
        for at in range(0, len(padded), self._frame):
            await self.frame(padded[at : at + self._frame])

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        """The events that were sent of these types."""
        return [event for event in self.events if event["type"] in kinds]

    def _sent(self, event: dict[str, Any]) -> None:
        self.device.take(event)
        if event["type"] == "response.output_audio.delta":
            self.sent_at[event["response_id"]] = self._loop.time()
            self.begun_at.setdefault(event["response_id"], self._loop.time())
        elif event["type"] != "firstword.level":
            self.events.append({**event, "at_s": self._loop.time()})


def hears_with(ear: Ear) -> Callable[[BotVoice], ListenerPort]:
    """A real listener for each session, on the loop's own time."""
    return lambda bot: Listener(ear, language=bot.language)


_GRANT = Grant("guide", "somebody", "a simulated room", "g-1", 0.0, 1_800.0)
