"""What a Realtime client sends, carried out on a session.

One method an event. It reads what we honour and ignores what we do not (instructions, tools, model: the bot's file
decides). The one rule: a bad event is answered with an error that names it, and the connection stays open.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

from asr import LanguageRefused
from grant import Grant, GrantRefused, Signer
from sound import FrameReader
from voice.answer import OUT_HZ
from voice.events import Cancelled, Mode
from voice.going_on import GoingOn
from voice.history import Entry
from voice.realtime_events import assistant_item, error_event, new_id, session_object, user_item
from voice.session import Session

_RATES_HZ = range(8_000, 48_001)
_SPEEDS = (0.25, 1.5)
_LONGEST_LINE = 8_000


class BadEvent(ValueError):
    """An event that cannot be honoured; the message says which field and what would do. Never leaves this file."""


class ClientEvents:
    """Reads the events of one client."""

    def __init__(self, session: Session, signer: Signer, *, model: str) -> None:
        self._session = session
        self._wire = session.wire
        self._signer = signer
        self._reader = FrameReader(OUT_HZ)
        self._going_on = GoingOn(session, self.take)
        self._id = new_id("sess")
        self.options: dict[str, Any] = {
            "model": model or "firstword",
            "output_modalities": ["audio"],
            "rate_hz": OUT_HZ,
            "turn_detection": {
                "type": "semantic_vad",
                "eagerness": "auto",
                "create_response": True,
                "interrupt_response": True,
            },
            "language": session.bot.language,
            "voice": session.bot.voice or "firstword",
            "speed": session.bot.speed,
            "events": False,
            "preempt": session.bot.preempt,
        }
        self._known: dict[str, Callable[[dict[str, Any]], None]] = {
            "session.update": self._update,
            "input_audio_buffer.append": self._append,
            "input_audio_buffer.commit": self._commit,
            "input_audio_buffer.clear": self._clear,
            "conversation.item.create": self._create_item,
            "conversation.item.truncate": self._truncate,
            "conversation.item.delete": self._delete,
            "conversation.item.retrieve": self._retrieve,
            "response.create": self._respond,
            "response.cancel": self._cancel,
            "output_audio_buffer.clear": self._quiet,
        }

    def created(self) -> None:
        """The first event of every session."""
        self._wire.send({"type": "session.created", "session": self._session_object()})

    def take(self, event: Any) -> None:
        """Carry out one event."""
        if self._going_on.holds(event):
            return
        if not isinstance(event, dict) or not isinstance(event.get("type"), str):
            self._wire.send(error_event("an event is a JSON object with a `type`", code="invalid_event"))
            return
        event_id = event.get("event_id") if isinstance(event.get("event_id"), str) else None
        act = self._known.get(event["type"])
        if act is None:
            self._wire.send(
                error_event(f"there is no event {event['type'][:80]!r} here", code="unknown_event", event_id=event_id)
            )
            return
        try:
            act(event)
        except BadEvent as fault:
            self._wire.send(error_event(f"{event['type']}: {fault}", code="invalid_value", event_id=event_id))

    def _session_object(self) -> dict[str, Any]:
        return session_object(self._id, self.options, self._going_on.fields())

    def _append(self, event: dict[str, Any]) -> None:
        try:
            data = base64.b64decode(event["audio"], validate=True)
        except (KeyError, TypeError, ValueError, binascii.Error) as fault:
            raise BadEvent("`audio` must be base64 of signed 16-bit little-endian PCM") from fault
        pcm = self._reader.push(data)
        if len(pcm):
            self._session.hear(pcm)

    def _commit(self, _event: dict[str, Any]) -> None:
        # What was written before is context for what was said: an answer that is asked for is to that.
        self._session.leave_written()
        self._session.commit()

    def _clear(self, _event: dict[str, Any]) -> None:
        self._session.clear()
        self._reader = FrameReader(self.options["rate_hz"])  # half a sample is forgotten too
        self._wire.send({"type": "input_audio_buffer.cleared"})

    def _create_item(self, event: dict[str, Any]) -> None:
        item = _object(event, "item")
        if item.get("type") != "message":
            raise BadEvent("`item.type` must be `message`; a bot's tools are its own")
        role = item.get("role")
        text = _text_of(item)
        item_id = item.get("id") if isinstance(item.get("id"), str) else new_id("item")
        if role == "user":
            # It becomes a turn when an answer is asked for, and takes the path of speech from there.
            self._session.write(str(item_id), text)
        elif role == "assistant":
            self._session.history.add(Entry(str(item_id), "assistant", text))
            self._wire.item(assistant_item(str(item_id), text, audio=False, status="completed"))
        else:
            # A client's system lines are taken and left aside: nobody but the bot's file supplies a prompt.
            self._wire.item({**item, "id": item_id, "object": "realtime.item", "status": "completed"})

    def _respond(self, event: dict[str, Any]) -> None:
        modalities = _dict(event.get("response")).get("output_modalities")
        # For this answer only; the next one is as the session says.
        audio = "audio" in modalities if isinstance(modalities, list) and modalities else None
        if not self._session.respond(audio=audio):
            raise BadEvent("an answer is being given already; cancel it first, or wait for response.done")

    def _cancel(self, _event: dict[str, Any]) -> None:
        if self._session.state.answer is None:
            raise BadEvent("there is no answer to cancel")
        self._session.act(Cancelled())

    def _quiet(self, _event: dict[str, Any]) -> None:
        self._session.act(Cancelled())

    def _truncate(self, event: dict[str, Any]) -> None:
        item_id = str(event.get("item_id", ""))
        played = event.get("audio_end_ms")
        if isinstance(played, bool) or not isinstance(played, int | float) or not 0 <= played < 1e9:
            raise BadEvent("`audio_end_ms` must be milliseconds, 0 or more")
        answer = self._session.answer_of(item_id)
        if answer is not None:
            self._session.act(Cancelled())
        if not self._session.truncate(item_id, float(played)):
            raise BadEvent(f"there is no item {item_id[:80]!r}")
        told = {"item_id": item_id, "content_index": 0, "audio_end_ms": round(played)}
        self._wire.send({"type": "conversation.item.truncated", **told})

    def _delete(self, event: dict[str, Any]) -> None:
        self._session.leave_written()
        item_id = str(event.get("item_id", ""))
        if not self._session.history.remove(item_id):
            raise BadEvent(f"there is no item {item_id[:80]!r}")
        self._wire.send({"type": "conversation.item.deleted", "item_id": item_id})

    def _retrieve(self, event: dict[str, Any]) -> None:
        self._session.leave_written()
        entry = self._session.history.find(str(event.get("item_id", "")))
        if entry is None:
            raise BadEvent(f"there is no item {str(event.get('item_id', ''))[:80]!r}")
        if entry.role == "user":
            item = user_item(entry.item_id, entry.text, spoken=True)
        else:
            item = assistant_item(entry.item_id, entry.text, audio=True, status="completed")
        self._wire.send({"type": "conversation.item.retrieved", "item": item})

    def _update(self, event: dict[str, Any]) -> None:
        session = _object(event, "session")
        options = dict(self.options)
        ours = _dict(session.get("firstword"))
        mode, renewed = self._ours(ours, options)
        modalities = session.get("output_modalities")
        if modalities is not None:
            if modalities not in (["audio"], ["text"], ["text", "audio"], ["audio", "text"]):
                raise BadEvent('`output_modalities` must be ["audio"] or ["text"]')
            options["output_modalities"] = ["audio"] if "audio" in modalities else ["text"]
        audio = _dict(session.get("audio"))
        self._input(_dict(audio.get("input")), options)
        self._output(_dict(audio.get("output")), options)
        # Nothing has changed before all of it is known to be right.
        self._apply(options, mode)
        if renewed is not None:
            self._session.grant, self._session.token = renewed, ours["grant"]
        self._wire.send({"type": "session.updated", "session": self._session_object()})
        if ours.get("greet") is True:
            self._session.greet()

    def _ours(self, ours: dict[str, Any], options: dict[str, Any]) -> tuple[Mode | None, Grant | None]:
        """Reads what is ours into `options`; gives the mode and the fresh grant, where there are."""
        for name in ("events", "preempt"):
            if isinstance(ours.get(name), bool):
                options[name] = ours[name]
        mode = ours.get("mode")
        if mode not in (None, "open", "push", "typed", "muted"):
            raise BadEvent("`firstword.mode` must be open, push, typed or muted")
        return mode, self._renewed(ours["grant"]) if isinstance(ours.get("grant"), str) else None

    def _renewed(self, token: str) -> Grant:
        """A fresh grant for the same bot, person and room: a conversation may outlive its first one."""
        try:
            grant = self._signer.verify(token)
        except GrantRefused as fault:
            raise BadEvent(str(fault)) from fault
        held = self._session.grant
        if (grant.bot, grant.subject, grant.room) != (held.bot, held.subject, held.room):
            raise BadEvent("the fresh grant is for somebody or something else")
        return grant

    def _input(self, given: dict[str, Any], options: dict[str, Any]) -> None:
        form = given.get("format")
        if isinstance(form, dict):
            rate = form.get("rate", OUT_HZ)
            if form.get("type", "audio/pcm") != "audio/pcm" or not isinstance(rate, int) or rate not in _RATES_HZ:
                raise BadEvent("`audio.input.format` must be audio/pcm with a rate from 8000 to 48000")
            options["rate_hz"] = rate
        if "turn_detection" in given:
            detection = given["turn_detection"]
            if detection is not None and (
                not isinstance(detection, dict) or detection.get("type") not in ("server_vad", "semantic_vad")
            ):
                raise BadEvent("`turn_detection.type` must be server_vad or semantic_vad; null is push-to-talk")
            options["turn_detection"] = detection
        words = given.get("transcription")
        if isinstance(words, dict) and isinstance(words.get("language"), str) and 2 <= len(words["language"]) <= 8:
            options["language"] = words["language"]

    def _output(self, given: dict[str, Any], options: dict[str, Any]) -> None:
        voice = given.get("voice")
        if isinstance(voice, str) and voice:
            options["voice"] = voice[:80]
        speed = given.get("speed")
        if speed is not None:
            if isinstance(speed, bool) or not isinstance(speed, int | float) or not _SPEEDS[0] <= speed <= _SPEEDS[1]:
                raise BadEvent(f"`audio.output.speed` must be from {_SPEEDS[0]} to {_SPEEDS[1]}")
            options["speed"] = float(speed)
        form = given.get("format")
        if isinstance(form, dict) and (form.get("type", "audio/pcm"), form.get("rate", OUT_HZ)) != (
            "audio/pcm",
            OUT_HZ,
        ):
            raise BadEvent(f"`audio.output.format` is audio/pcm at {OUT_HZ} here")

    def _apply(self, options: dict[str, Any], mode: Mode | None) -> None:
        session, detection, before = self._session, options["turn_detection"], self.options
        told = detection or {"create_response": False}
        try:
            session.choose(
                voice=options["voice"] if options["voice"] != before["voice"] else None,
                language=options["language"] if options["language"] != before["language"] else None,
                speed=options["speed"],
                preempt=options["preempt"],
                respond=told.get("create_response") is not False,
                interruptible=told.get("interrupt_response") is not False,
            )
        except LanguageRefused as fault:
            raise BadEvent(str(fault)) from fault
        self._wire.ours = options["events"]
        self._wire.audio = "audio" in options["output_modalities"]
        if not self._wire.audio and "audio" in before["output_modalities"]:
            session.hush()
        if options["rate_hz"] != before["rate_hz"]:
            self._reader = FrameReader(options["rate_hz"])
        if mode is not None:
            session.set_mode(mode)
        if (detection is None) != (before["turn_detection"] is None):
            session.set_mode("push" if detection is None else "open")
        self.options = options


def _object(event: dict[str, Any], name: str) -> dict[str, Any]:
    value = event.get(name)
    if not isinstance(value, dict):
        raise BadEvent(f"`{name}` must be an object")
    return value


def _dict(value: Any) -> dict[str, Any]:
    """An optional object; what is none says nothing."""
    return value if isinstance(value, dict) else {}


def _text_of(item: dict[str, Any]) -> str:
    parts = item.get("content")
    texts = [part.get("text") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    text = " ".join(one for one in texts if isinstance(one, str)).strip()
    if not text:
        raise BadEvent("`item.content` must hold a part with a `text`")
    if len(text) > _LONGEST_LINE:
        raise BadEvent(f"a line of {len(text)} characters is too long; {_LONGEST_LINE} is the most")
    return text
