"""A conversation on virtual time in which anything may happen, and what leaves it, watched.

Session, client's events, turn, gate, playout and speaker are the real ones; the ear, the door and the loudspeaker are
scripted. The one rule: what is watched are events and the loudspeaker, as a client sees them, and nothing inside.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from asr import LanguageRefused
from asr.events import ListenEvent
from firstword.testing.lanes import VirtualLane
from firstword.testing.listeners import ScriptedListener
from firstword.testing.voices import ToneEngine
from grant import Grant, Signer
from sound import Pcm
from tts import Speaker
from voice.answer import OUT_HZ
from voice.client_events import ClientEvents
from voice.door import DoorClient, DoorDelta, DoorTrace, Message
from voice.errors import VoiceError
from voice.parts import BotVoice, VoiceParts
from voice.realtime_events import Wire
from voice.session import Session

_PARTS = ("response.output_item", "response.content_part")


class Loudspeaker:
    """The sound of a call: what waits while it is held, and how much it was given to play."""

    ahead_s = 0.12

    def __init__(self) -> None:
        self.held = False
        self.samples = 0

    def play(self, pcm: Pcm) -> None:
        assert not self.held, "a loudspeaker that is held was given sound"
        self.samples += len(pcm)

    def hold(self, held: bool) -> None:
        self.held = held

    def clear(self) -> None:
        self.held = False


@dataclass
class _Response:
    modalities: list[str]
    open: list[str] = field(default_factory=list)


@dataclass
class Watcher:
    """Takes every event that is sent; each assertion is a thing that a client may count on."""

    responses: dict[str, _Response] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)
    sounding: str = ""
    sounded: set[str] = field(default_factory=set)
    cleared: set[str] = field(default_factory=set)
    traced: set[str] = field(default_factory=set)
    held: bool = False
    speaking: bool = False
    items: dict[str, bool] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    last_item: str = "item_none"
    samples: int = 0

    def take(self, event: dict[str, Any]) -> None:
        kind, response = str(event["type"]), str(event.get("response_id", ""))
        match kind:
            case "response.created":
                self._created(event["response"])
            case "response.done":
                self._done(event["response"])
            case "output_audio_buffer.started":
                assert response in self.responses
                assert not self.sounding
                assert response not in self.sounded
                self.sounding = response
                self.sounded.add(response)
            case "output_audio_buffer.stopped":
                assert self.sounding == response
                self.sounding = ""
            case "output_audio_buffer.cleared":
                assert response not in self.cleared
                assert self.sounding in ("", response)
                self.cleared.add(response)
                self.sounding, self.held = "", False
            case "firstword.hold":
                assert event["held"] != self.held
                self.held = event["held"]
            case "firstword.trace":
                assert response not in self.traced
                self.traced.add(response)
                assert event["first_word_ms"] is None or event["first_word_ms"] >= 0
            case "input_audio_buffer.speech_started" | "input_audio_buffer.speech_stopped":
                assert self.speaking == kind.endswith("stopped")
                self.speaking = kind.endswith("started")
            case "conversation.item.added":
                assert event["item"]["id"] not in self.items
                self.items[event["item"]["id"]] = False
                self.last_item = event["item"]["id"]
            case "conversation.item.done":
                assert self.items[event["item"]["id"]] is False
                self.items[event["item"]["id"]] = True
            case "error":
                self.errors.append(event["error"]["message"])
        if kind.startswith("response.") and response:
            self._of(kind, self.responses[response], event)

    def _created(self, response: dict[str, Any]) -> None:
        assert not self.responses, "one answer at a time"
        assert response["id"] not in self.over
        self.responses[response["id"]] = _Response(response["output_modalities"])

    def _done(self, response: dict[str, Any]) -> None:
        opened = self.responses.pop(response["id"])
        assert opened.open == []
        assert response["output_modalities"] == opened.modalities
        self.over.add(response["id"])

    def _of(self, kind: str, opened: _Response, event: dict[str, Any]) -> None:
        name, _, what = kind.rpartition(".")
        if name in _PARTS and what == "added":
            opened.open.append(name)
        elif name in _PARTS:
            assert opened.open.pop() == name
        elif what == "delta":
            assert opened.open == list(_PARTS)
            assert ("audio" in name) == (opened.modalities == ["audio"])
            if name == "response.output_audio":
                assert not self.held
                self.samples += len(event["delta"]) * 3 // 8

    def all_is_closed(self) -> None:
        """Nothing goes on any more."""
        assert not self.responses
        assert not self.sounding
        assert not self.held
        assert not self.speaking
        assert all(self.items.values())


GRANT = Grant("guide", "ada", "room", "g-1", 0.0, 1_800.0)
SIGNER = Signer("a secret for the tests, nobody else's")
LAST = "This is the answer that must sound, all of it."
# Deltas of an answer: a number waits, `!` is a door that fails, and a voice cannot say what holds BREAK.
ANSWERS: dict[str, list[str | float]] = {
    "short": ["Yes."],
    "long": ["It opens at nine in the morning, ", "and it closes late. ", "On Sundays it stays shut all day."],
    "slow": [0.4, "It opens ", 0.3, "at nine. ", 1.0, "It closes at five."],
    "nothing": [],
    "refused": ["!"],
    "broken off": ["It opens at nine. ", "It closes", 0.5, "!"],
    "away": [25.0, "!"],
    "no voice": ["BREAK it all."],
    "voice lost": ["It opens at nine, as ever. ", "BREAK. ", 0.2, "And it ", 0.1, "closes."],
}
FRAME = np.sin(2 * np.pi * 160 * np.arange(480) / OUT_HZ).astype(np.float32)


class Ear(ScriptedListener):
    """Ends an utterance that is cleared, and refuses a language that it does not know, as the real one does."""

    speaking = False
    refuses = ""
    ended = False

    async def events(self) -> AsyncIterator[ListenEvent]:
        """What was emitted, until it has `ended`."""
        async for event in super().events():
            if self.ended:
                return
            yield event

    @property
    def language(self) -> str:
        return self._language

    @language.setter
    def language(self, code: str) -> None:
        if code == self.refuses:
            raise LanguageRefused(code, "this ear", ("en",))
        self._language = code

    def start(self) -> None:
        if not self.speaking:
            super().start()
        self.speaking = True

    def stop(self) -> None:
        """The utterance is over."""
        if self.speaking:
            self.end()
        self.speaking = False

    def clear(self) -> None:
        super().clear()
        self.stop()


class AnyDoor(DoorClient):
    """Answers as `next_as` says, then as ever."""

    def __init__(self) -> None:
        super().__init__("http://nowhere")
        self.next_as = "long"
        self.open = 0

    async def ask(
        self, grant: str, messages: Sequence[Message], *, language: str = "en"
    ) -> AsyncIterator[DoorDelta | DoorTrace]:
        self.open += 1
        try:
            for delta in [LAST] if self.next_as == "last" else ANSWERS[self.next_as]:
                if isinstance(delta, float):
                    await asyncio.sleep(delta)
                elif delta == "!":
                    raise VoiceError("the door broke")
                else:
                    yield DoorDelta(delta)
        finally:
            self.open -= 1


class Talk:
    """One conversation; make it inside a `VirtualLoop`."""

    def __init__(self, *, call: bool, ours: bool, greeting: str = "Welcome.") -> None:
        clock = asyncio.get_running_loop().time
        self.door, self.ear, self.watcher = AnyDoor(), Ear(), Watcher()
        self.loudspeaker = Loudspeaker() if call else None
        engine = ToneEngine(seconds_per_char=0.02, breaks_on="BREAK")
        parts = VoiceParts(
            listener=lambda _bot: self.ear,
            speaker=lambda _bot: Speaker(engine, VirtualLane(), clock=clock),
            door=self.door,
            signer=SIGNER,
            bot=lambda _name: BotVoice(greeting=greeting),
            lane=VirtualLane(job_s=0.03),
            clock=clock,
        )
        wire = Wire(self.watcher.take, self.loudspeaker)
        self.session = Session(parts, grant=GRANT, token="", wire=wire)
        self.client = ClientEvents(self.session, SIGNER, model="")
        self.session.start()
        self.send("session.update", session={"firstword": {"events": ours}})

    @property
    def samples(self) -> int:
        return self.loudspeaker.samples if self.loudspeaker else self.watcher.samples

    def send(self, kind: str, **fields: Any) -> None:
        self.client.take({"type": kind, **fields})

    def write(self, text: str) -> None:
        part = {"type": "input_text", "text": text}
        self.send("conversation.item.create", item={"type": "message", "role": "user", "content": [part]})

    def noise(self, frames: int) -> None:
        for _ in range(frames):
            self.session.hear(Pcm(0.9 * FRAME, OUT_HZ))

    async def do(self, step: tuple[Any, ...]) -> None:
        name, *given_, after_s = step
        match name:
            case "speech" | "stop" | "words" | "partial":
                self.hears(name, *given_)
            case "write":
                self.write(*given_)
            case "respond":
                self.send("response.create", response={"output_modalities": given_[0]} if given_[0] else None)
            case "truncate":
                self.send("conversation.item.truncate", item_id=self.watcher.last_item, audio_end_ms=given_[0])
            case "noise":
                self.noise(*given_)
            case "update":
                self.send("session.update", session=given_[0])
            case "door":
                self.door.next_as = given_[0]
            case _:
                self.send(name, item_id=self.watcher.last_item)
        await asyncio.sleep(after_s)

    def hears(self, what: str, text: str = "", verdict: Any = "complete") -> None:
        if what == "stop":
            self.ear.stop()
            return
        self.ear.start()
        if what != "speech":
            self.ear.words(text, kind="partial" if what == "partial" else "final", verdict=verdict)

    async def sounds_whole(self, *, spoken: bool) -> int:
        """Ask once more; gives how much sounded."""
        self.door.next_as, before = "last", self.samples
        if spoken:
            self.hears("words", "and so what was it in the end")
            self.ear.stop()
        else:
            self.write("and so what was it in the end")
            self.send("response.create")
        await asyncio.sleep(20)
        self.watcher.all_is_closed()
        return self.samples - before
