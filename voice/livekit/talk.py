"""One conversation in a room: the same session as on every transport, with LiveKit's topics and tracks around it.

Text turns come on `copilot.input` and go on `copilot.output`; with sound, the person's microphone and our voice are
tracks, and Realtime events go as data. It decides nothing. The one rule: one participant is listened to, whoever else
is in the room.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from livekit import rtc

from grant import Grant
from voice.channel import encode, split
from voice.client_events import ClientEvents
from voice.intake import take
from voice.livekit.passes import EVENTS, INPUT, OUTPUT, READY, Asked
from voice.livekit.sound import RoomLoudspeaker, heard
from voice.livekit.turns import Begin, End, Step, Turns, Write
from voice.outbox import Outbox
from voice.parts import VoiceParts
from voice.realtime_events import Wire, error_event
from voice.session import Session
from voice.watch import watch

_log = logging.getLogger("firstword.voice")

# A participant who is not (back) in the room by then is gone.
_AWAY_S = 20.0
# A room that takes nothing for this long is gone.
_WRITE_S = 15.0
# A turn has this long to come in whole, and this many letters: a line's longest, and its envelope.
_READ_S = 10.0
_LONGEST_CHARS = 10_000
# Turns that wait to be read; a person sends one at a time.
_WAITING = 16
_REMEMBERED = 64
_STEP = "firstword.step"
_LEAVING = "this worker is being stopped; open another conversation to go on"


class RoomTalk:
    """A conversation in `room` by `grant`. `run` holds it."""

    def __init__(self, parts: VoiceParts, room: rtc.Room, grant: Grant, asked: Asked, *, audio: bool) -> None:
        self._parts = parts
        self._room = room
        self._who = asked.identity
        self._outbox = Outbox()
        self._turns = Turns()
        self._streams: dict[str, rtc.TextStreamWriter] = {}
        self._seen: deque[str] = deque(maxlen=_REMEMBERED)
        self._inputs: asyncio.Queue[rtc.TextStreamReader] = asyncio.Queue(_WAITING)
        self._loudspeaker = RoomLoudspeaker() if audio else None
        self._wire = Wire(self._sent, self._loudspeaker)
        self._wire.audio = audio
        self._session = Session(parts, grant=grant, token=asked.grant, wire=self._wire)
        self._client = ClientEvents(self._session, parts.signer, model="")
        self._microphone: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._gone = asyncio.Event()
        self._leaving = asyncio.Event()
        room.register_text_stream_handler(INPUT, self._asked)
        room.on("participant_connected", lambda _other: self._changed.set())
        room.on("participant_disconnected", lambda _other: self._changed.set())
        room.on("disconnected", lambda *_why: self._gone.set())
        if audio:
            room.on("data_received", self._event)
            room.on("track_published", lambda publication, other: self._offered(publication, other.identity))
            room.on("track_subscribed", self._tracked)

    def leave(self) -> None:
        """End when nobody is saying anything: this process is stopping."""
        self._leaving.set()

    async def close(self) -> None:
        """Forget the conversation. Safe to call twice."""
        if self._microphone is not None:
            self._microphone.cancel()
            await asyncio.gather(self._microphone, return_exceptions=True)
        await self._session.close()
        if self._loudspeaker is not None:
            await self._loudspeaker.close()

    async def run(self, renew: Callable[[], str | None]) -> None:
        """Hold the conversation in a room that is joined, until it is over. `renew` keeps its place; `close` it then,
        however it ended."""
        if self._loudspeaker is not None:
            await self._room.local_participant.publish_track(
                self._loudspeaker.track, rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
            )
        self._client.take(
            {
                "type": "session.update",
                "session": {"output_modalities": ["audio" if self._wire.audio else "text"]},
            }
        )
        for other in self._room.remote_participants.values():
            for publication in other.track_publications.values():
                self._offered(publication, other.identity)
        self._session.start()
        await self._room.local_participant.set_attributes({READY: "yes"})
        jobs: list[asyncio.Task[Any]] = [
            asyncio.create_task(work)
            for work in (self._write(), self._read(), self._presence(), self._watch(renew), self._leave())
        ]
        jobs.append(asyncio.create_task(self._gone.wait()))
        if self._loudspeaker is not None:
            jobs.append(asyncio.create_task(self._loudspeaker.run()))
        try:
            done, _ = await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
            for job in done:
                job.result()
        except (TimeoutError, rtc.StreamError, RuntimeError) as gone:
            _log.debug("a conversation in a room ended (%s)", type(gone).__name__)
        finally:
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)

    # What comes in.

    def _theirs(self, identity: str) -> bool:
        if not self._who:
            self._who = identity
        return identity == self._who

    def _asked(self, reader: rtc.TextStreamReader, identity: str) -> None:
        if not self._theirs(identity) or self._inputs.full():
            reader.close()
            return
        self._inputs.put_nowait(reader)

    async def _read(self) -> None:
        while True:
            reader = await self._inputs.get()
            told = reader.info.attributes or {}
            turn = told.get("turn") or reader.info.stream_id
            try:
                async with asyncio.timeout(_READ_S):
                    text = await _whole(reader)
            except (TimeoutError, rtc.StreamError):
                self._steps([Begin(turn), End(turn, "failed", "this turn did not come in whole; say it again")])
                continue
            finally:
                reader.close()
            ours = {name: told[name] for name in ("grant", "thread") if told.get(name)}
            # Whoever hears nothing sends a turn again under the same id: it is taken once.
            if turn in self._seen:
                continue
            self._seen.append(turn)
            if ours:
                self._client.take({"type": "session.update", "session": {"firstword": ours}})
            if told.get("cancel"):
                self._steps(self._turns.cancelled())
                self._client.take({"type": "response.cancel"})
                continue
            self._steps(self._turns.asked(turn))
            part = {"type": "input_text", "text": text}
            item = {"id": turn, "type": "message", "role": "user", "content": [part]}
            self._client.take({"type": "conversation.item.create", "item": item})
            if self._turns.waiting == turn:  # else it was no line, and has failed already
                self._client.take({"type": "response.create"})

    def _event(self, packet: rtc.DataPacket) -> None:
        if packet.topic != EVENTS or packet.participant is None or not self._theirs(packet.participant.identity):
            return
        if not take(packet.data, self._client, self._wire):
            self._gone.set()

    def _offered(self, publication: rtc.RemoteTrackPublication, identity: str) -> None:
        microphone = publication.source == rtc.TrackSource.SOURCE_MICROPHONE
        if self._loudspeaker is not None and microphone and self._theirs(identity):
            publication.set_subscribed(True)

    def _tracked(self, track: rtc.Track, _of: rtc.RemoteTrackPublication, other: rtc.RemoteParticipant) -> None:
        if track.kind != rtc.TrackKind.KIND_AUDIO or not self._theirs(other.identity):
            return
        if self._microphone is not None:
            self._microphone.cancel()
        self._microphone = asyncio.create_task(self._listen(track))

    async def _listen(self, track: rtc.Track) -> None:
        async for pcm in heard(track):
            self._session.hear(pcm)

    # What goes out.

    def _sent(self, event: dict[str, Any]) -> None:
        self._steps(self._turns.take(event))
        if self._loudspeaker is not None:
            for part in split(event):
                self._outbox.put(part)

    def _steps(self, steps: list[Step]) -> None:
        # In one queue with the events, so that there is one order.
        for step in steps:
            self._outbox.put({"type": _STEP, "step": step, "delta": step.text if isinstance(step, Write) else ""})

    async def _write(self) -> None:
        while True:
            event = await self._outbox.take()
            async with asyncio.timeout(_WRITE_S):
                if event["type"] == _STEP:
                    await self._carry_out(event["step"])
                elif self._who:
                    await self._room.local_participant.publish_data(
                        encode(event), topic=EVENTS, destination_identities=[self._who]
                    )

    async def _carry_out(self, step: Step) -> None:
        match step:
            case Begin(turn, item):
                kept = self._session.noted.thread
                told = {"turn": turn, "item": item, "thread": kept.thread if kept else ""}
                self._streams[turn] = await self._room.local_participant.stream_text(
                    topic=OUTPUT, attributes=told, destination_identities=[self._who]
                )
            case Write(turn, text):
                await self._streams[turn].write(text)
            case End(turn, status, why):
                await self._streams.pop(turn).aclose(attributes={"status": status, "why": why})

    async def _say_goodbye(self, words: str, code: str) -> None:
        if not self._who:
            return
        if self._loudspeaker is not None:
            event = error_event(words, code=code, type_=code)
            await self._room.local_participant.publish_data(
                encode(event), topic=EVENTS, destination_identities=[self._who]
            )
        await self._room.local_participant.send_text(
            words, topic=OUTPUT, attributes={"ended": code}, destination_identities=[self._who]
        )

    # When it is over.

    async def _presence(self) -> None:
        """Wait until they have been away for too long: the network comes back, and so may they."""
        while True:
            self._changed.clear()
            limit_s = None if self._present() else _AWAY_S
            try:
                async with asyncio.timeout(limit_s):
                    await self._changed.wait()
            except TimeoutError:
                if not self._present():
                    return

    def _present(self) -> bool:
        others = self._room.remote_participants
        return self._who in others if self._who else bool(others)

    async def _watch(self, renew: Callable[[], str | None]) -> None:
        ending = await watch(self._parts, self._session, self._outbox, renew)
        await self._say_goodbye(ending.words, "session_ended")

    async def _leave(self) -> None:
        await self._leaving.wait()
        while self._session.state.phase != "listening" or self._streams:
            await self._parts.sleep(0.1)
        await self._say_goodbye(_LEAVING, "worker_leaving")


async def _whole(reader: rtc.TextStreamReader) -> str:
    """What a stream says. Raises `rtc.StreamError` where it is longer than any line."""
    text = ""
    async for part in reader:
        text += part
        if len(text) > _LONGEST_CHARS:
            raise rtc.StreamError("longer than any line")
    return text
