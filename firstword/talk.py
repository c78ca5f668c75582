"""Talk: a person made of WAV files, on the Realtime WebSocket, in real time.

It is a client like any other: it sees what a page sees, and it measures from outside. It is not a shortcut into the
session. The one rule: the microphone never stops; between recordings and after them it sends silence, as a room does.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import math
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from firstword.errors import CannotStart
from firstword.played import Played
from sound import Pcm, resample

RATE_HZ = 24_000
FRAME_S = 0.02
# With nobody heard this long after a recording ended, nobody spoke: the longest end-of-turn wait is 2.5 s.
_NOBODY_S = 3.5
# An answer that has not ended by then is given up on; the turn itself has 25 s for its words.
_ANSWER_LIMIT_S = 120.0
# What a person who is in a hurry hears of an answer.
_BEGINNING_S = 1.0
# Quiet this long after an answer means that there is no second one on its way.
_SETTLED_S = 0.6


@dataclass(slots=True)
class Turn:
    """One recording played and what came of it. Times are seconds on this process's monotonic clock.

    `speech_end_s` is where speech ends in the recording, `speech_end_at` the moment at which a microphone would have
    heard that. `committed_early`: the turn was taken for over while the person was still to speak; `talked_over`: so
    much so that an answer was heard meanwhile. `late_ms` is how long the loudspeaker stood still inside the answer.
    """

    speech_end_s: float
    speech_end_at: float = math.inf
    heard: str = ""
    said: str = ""
    answer: Pcm = field(default_factory=lambda: Pcm.silence(0, RATE_HZ))
    first_sound_at: float | None = None
    trace: dict[str, Any] = field(default_factory=dict)
    responses: int = 0
    committed_early: bool = False
    talked_over: bool = False
    late_ms: float = 0.0

    @property
    def first_word_ms(self) -> float | None:
        """End of speech to the first audible sample received of the answer that stands; None where nothing was said."""
        return None if self.first_sound_at is None else round((self.first_sound_at - self.speech_end_at) * 1000, 1)

    def as_json(self) -> dict[str, Any]:
        """The object that `firstword talk --json` prints for a turn."""
        return {"heard": self.heard, "said": self.said, "first_word_ms": self.first_word_ms, "trace": self.trace}


class Line(Protocol):
    """What Realtime events go over: a WebSocket, or what looks like one."""

    async def send(self, message: str, /) -> None: ...
    def __aiter__(self) -> AsyncIterator[str | bytes]: ...


class Conversation:
    """An open conversation; made by `converse`, and by `holding` on another line than the WebSocket."""

    def __init__(self, socket: Line) -> None:
        self._socket = socket
        self._to_play: deque[bytes] = deque()
        self._turn: Turn | None = None
        self._played = Played(RATE_HZ)
        self._open = 0
        self._listening = False
        self._last_event_at = time.monotonic()
        self._failure = ""
        self._cancelled = False
        self._sounding = ""

    async def ask(self, recording: Pcm, *, only_beginning: bool = False) -> Turn:
        """Play `recording` into the microphone; returns when the answer has been received, or nobody was heard.

        With `only_beginning` the answer is cancelled when a second of it has been received: enough to be a line.
        Raises `CannotStart` where the server gave an error or went away.
        """
        spoken = resample(recording, RATE_HZ)
        frames = _frames(spoken)
        loud = spoken.loud
        turn = self._turn = Turn(speech_end_s=loud[1] / RATE_HZ if loud else 0.0)
        self._played = Played(RATE_HZ)
        self._to_play.extend(frames)
        sent_by = time.monotonic() + len(frames) * FRAME_S
        limit = sent_by + _ANSWER_LIMIT_S
        self._cancelled = False
        while not self._over(turn, sent_by):
            if self._failure:
                raise CannotStart(self._failure)
            if time.monotonic() > limit:
                raise CannotStart(f"no whole answer within {_ANSWER_LIMIT_S:.0f} s of the end of the recording")
            if only_beginning and not self._cancelled and not self._to_play and self._begun(turn):
                self._cancelled = True
                await self._socket.send('{"type":"response.cancel"}')
            await asyncio.sleep(FRAME_S)
        turn.answer = self._played.heard
        self._turn = None
        return turn

    @staticmethod
    def _begun(turn: Turn) -> bool:
        started = turn.first_sound_at
        return started is not None and time.monotonic() > max(started, turn.speech_end_at) + _BEGINNING_S

    def _over(self, turn: Turn, sent_by: float) -> bool:
        now = time.monotonic()
        if now < sent_by or self._to_play:
            return False
        quiet_s = now - max(self._last_event_at, sent_by)
        if turn.responses:
            return self._open == 0 and not self._listening and quiet_s > _SETTLED_S
        return not self._listening and not turn.heard and quiet_s > _NOBODY_S

    async def speak_frames(self) -> None:
        """The microphone: a frame every 20 ms, silence where there is no recording."""
        silence = _encoded(np.zeros(round(RATE_HZ * FRAME_S), dtype=np.float32))
        due = time.monotonic()
        with contextlib.suppress(ConnectionClosed):
            while True:
                turn = self._turn
                if self._to_play and turn is not None and turn.speech_end_at == math.inf:
                    # A microphone hands on a frame when it has heard the whole of it.
                    turn.speech_end_at = time.monotonic() - FRAME_S + turn.speech_end_s
                audio = self._to_play.popleft().decode() if self._to_play else silence.decode()
                await self._socket.send(f'{{"type":"input_audio_buffer.append","audio":"{audio}"}}')
                due += FRAME_S
                await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def read_events(self) -> None:
        """Fold what the server says into the turn that is open."""
        try:
            async for message in self._socket:
                self._fold(json.loads(message), time.monotonic())
        except ConnectionClosed as closed:
            self._failure = f"the server closed the connection ({closed.rcvd.reason if closed.rcvd else 'no reason'})"
        else:
            self._failure = self._failure or "the server closed the connection"

    def _fold(self, event: dict[str, Any], at: float) -> None:
        kind = event["type"]
        turn = self._turn
        if kind == "error":
            if self._cancelled:  # the answer had ended by itself
                return
            self._failure = f"the server says: {event['error'].get('message', event['error'])}"
            return
        if kind == "response.created":
            self._open += 1
            if turn:
                turn.responses += 1
                turn.first_sound_at = None
        elif kind == "response.done":
            self._open = max(0, self._open - 1)
        elif kind == "input_audio_buffer.speech_started":
            self._listening = True
        elif kind == "input_audio_buffer.committed":
            self._listening = False
            if turn and at < turn.speech_end_at:
                turn.committed_early = True
        elif turn is None:
            return
        elif kind == "conversation.item.input_audio_transcription.completed":
            self._listening = False
            turn.heard = f"{turn.heard} {event['transcript']}".strip()
        elif kind == "response.output_audio.delta":
            self._hear(turn, base64.b64decode(event["delta"]), at, event["response_id"])
        elif kind == "response.output_audio_transcript.done":
            turn.said = f"{turn.said} {event['transcript']}".strip()
        elif kind == "firstword.trace":
            turn.trace = {key: value for key, value in event.items() if key not in {"type", "event_id"}}
        elif kind == "firstword.hold":
            self._played.hold(at) if event["held"] else self._played.resume(at)
        elif kind == "output_audio_buffer.cleared":
            self._played.clear(at)
        elif kind in {"firstword.level", "firstword.state"}:
            return
        self._last_event_at = at

    def _hear(self, turn: Turn, data: bytes, at: float, response: str) -> None:
        pcm = Pcm.from_s16le(data, RATE_HZ)
        if turn.first_sound_at is None:
            audible = pcm.first_audible
            if audible is not None:
                turn.first_sound_at = at + audible / RATE_HZ
                turn.talked_over = turn.talked_over or turn.first_sound_at < turn.speech_end_at
        late_s = self._played.push(pcm, at)
        if response == self._sounding:
            turn.late_ms += late_s * 1000
        self._sounding = response


@contextlib.asynccontextmanager
async def converse(base_url: str, grant: str, *, session: dict[str, Any] | None = None) -> AsyncIterator[Conversation]:
    """Open a conversation at `base_url` with `grant`. `session` is merged into the `session.update` that is sent.

    Raises `CannotStart` where the server refuses.
    """
    url = base_url.replace("http", "ws", 1) + "/v1/realtime"
    try:
        socket = await connect(url, additional_headers={"Authorization": f"Bearer {grant}"}, max_size=None)
    except Exception as fault:
        raise CannotStart(f"no conversation at {url}: {fault}") from fault
    async with socket, holding(socket, session=session) as conversation:
        yield conversation


@contextlib.asynccontextmanager
async def holding(line: Line, *, session: dict[str, Any] | None = None) -> AsyncIterator[Conversation]:
    """A conversation on a line that is open."""
    asked = {"type": "realtime", "firstword": {"events": True}, **(session or {})}
    await line.send(json.dumps({"type": "session.update", "session": asked}))
    conversation = Conversation(line)
    tasks = [asyncio.create_task(conversation.read_events()), asyncio.create_task(conversation.speak_frames())]
    try:
        yield conversation
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _frames(pcm: Pcm) -> list[bytes]:
    size = round(RATE_HZ * FRAME_S)
    padded = np.concatenate([pcm.samples, np.zeros(-len(pcm) % size, dtype=np.float32)])
    return [_encoded(padded[at : at + size]) for at in range(0, len(padded), size)]


def _encoded(samples: np.ndarray) -> bytes:
    return base64.b64encode(Pcm(samples, RATE_HZ).to_s16le())
