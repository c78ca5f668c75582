"""The events of OpenAI's Realtime shape (GA) that a server sends, and the few of our own.

It builds and orders them; it decides nothing and holds no socket. The one rule: whoever opened a thing closes it: for
each `response.created` there is one `response.done`, with everything in between closed in the official order.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable
from typing import Any, Protocol

from sound import Pcm
from voice.answer import OUT_HZ, Answer
from voice.playout import AHEAD_S

Event = dict[str, Any]


class Loudspeaker(Protocol):
    """The sound of a transport that carries it beside the events. `ahead_s` is how far ahead of real time it is fed."""

    ahead_s: float

    def play(self, pcm: Pcm) -> None: ...
    def hold(self, held: bool) -> None: ...
    def clear(self) -> None: ...


def new_id(kind: str) -> str:
    """An id as the clients expect it: `item_…`, `resp_…`, `event_…`."""
    return f"{kind}_{secrets.token_hex(10)}"


def error_event(
    message: str, *, code: str | None = None, event_id: str | None = None, type_: str = "invalid_request_error"
) -> Event:
    """An error that leaves the connection open."""
    body = {"type": type_, "code": code, "message": message, "param": None, "event_id": event_id}
    return {"type": "error", "error": body}


def user_item(item_id: str, text: str, *, spoken: bool) -> Event:
    """A person's line as a conversation item."""
    part = {"type": "input_audio", "transcript": text} if spoken else {"type": "input_text", "text": text}
    return _item(item_id, "user", "completed", [part])


def assistant_item(item_id: str, text: str, *, audio: bool, status: str) -> Event:
    """The assistant's line as a conversation item."""
    return _item(item_id, "assistant", status, [_part(text, audio=audio)] if text else [])


def _item(item_id: str, role: str, status: str, content: list[Event]) -> Event:
    return {
        "id": item_id,
        "object": "realtime.item",
        "type": "message",
        "role": role,
        "status": status,
        "content": content,
    }


def _part(text: str, *, audio: bool) -> Event:
    return {"type": "output_audio", "transcript": text} if audio else {"type": "output_text", "text": text}


def _shown(text: str, *, audio: bool) -> Event:
    """A part in an event of its own, where its type has another name than in an item; strict clients look."""
    return {"type": "audio", "transcript": text} if audio else {"type": "text", "text": text}


class Wire:
    """Sends the events of one session. `send` takes an event; `ours` says whether it asked for `firstword.*`.

    Sound is among the events, unless there is a `loudspeaker`.
    """

    def __init__(self, send: Callable[[Event], None], loudspeaker: Loudspeaker | None = None) -> None:
        self._send_raw = send
        self._loudspeaker = loudspeaker
        self._sounding: set[str] = set()
        self.ours = False
        self.audio = True
        self._last_item: str | None = None
        self._open: set[int] = set()

    @property
    def ahead_s(self) -> float:
        """How far ahead of real time sound is sent."""
        return AHEAD_S if self._loudspeaker is None else self._loudspeaker.ahead_s

    @property
    def holds(self) -> bool:
        """Whether what was sent ahead is still ahead after a hold: our own page and a loudspeaker stop with it."""
        return self.ours or self._loudspeaker is not None

    def send(self, event: Event) -> None:
        """One event, with an id."""
        self._send_raw({"event_id": new_id("event"), **event})

    def own(self, name: str, **fields: Any) -> None:
        """One of our own events, to a client that asked for them."""
        if self.ours:
            self.send({"type": f"firstword.{name}", **fields})

    def speech_started(self, item_id: str, at_s: float) -> None:
        """A person speaks."""
        self.send(
            {"type": "input_audio_buffer.speech_started", "item_id": item_id, "audio_start_ms": round(at_s * 1000)}
        )

    def speech_stopped(self, item_id: str, at_s: float) -> None:
        """They have finished."""
        self.send({"type": "input_audio_buffer.speech_stopped", "item_id": item_id, "audio_end_ms": round(at_s * 1000)})

    def spoken_line(self, item_id: str, text: str) -> None:
        """What they said."""
        self.send({"type": "input_audio_buffer.committed", "item_id": item_id, "previous_item_id": self._last_item})
        self.item(user_item(item_id, text, spoken=True))
        head = {"item_id": item_id, "content_index": 0}
        self.send({"type": "conversation.item.input_audio_transcription.delta", **head, "delta": text})
        self.send(
            {
                "type": "conversation.item.input_audio_transcription.completed",
                **head,
                "transcript": text,
                "usage": {"type": "duration", "seconds": 0.0},
            }
        )

    def item(self, item: Event) -> None:
        """A whole item was added to the conversation."""
        previous, self._last_item = self._last_item, item["id"]
        for kind in ("added", "done"):
            self.send({"type": f"conversation.item.{kind}", "previous_item_id": previous, "item": item})

    def begin(self, answer: Answer) -> None:
        """An answer begins to be shown."""
        self._open.add(answer.id)
        previous, self._last_item = self._last_item, answer.item_id
        item = assistant_item(answer.item_id, "", audio=answer.audio, status="in_progress")
        self.send({"type": "response.created", "response": self._response(answer, "in_progress", [], None)})
        self.send(
            {
                "type": "response.output_item.added",
                "response_id": answer.response_id,
                "output_index": 0,
                "item": item,
            }
        )
        self.send({"type": "conversation.item.added", "previous_item_id": previous, "item": item})
        part = _shown("", audio=answer.audio)
        self.send({"type": "response.content_part.added", **_head(answer), "part": part})

    def text(self, answer: Answer, delta: str) -> None:
        """Words of the answer; none where it is not open (any more): a voice can break while the words go on."""
        if answer.id not in self._open:
            return
        kind = "output_audio_transcript" if answer.audio else "output_text"
        self.send({"type": f"response.{kind}.delta", **_head(answer), "delta": delta})

    def sound(self, answer: Answer, pcm: Pcm) -> None:
        """Sound of the answer, at 24 kHz."""
        if self._loudspeaker is None:
            delta = base64.b64encode(pcm.to_s16le()).decode("ascii")
            self.send({"type": "response.output_audio.delta", **_head(answer), "delta": delta})
            return
        if answer.response_id not in self._sounding:
            self._sounding.add(answer.response_id)
            self.send({"type": "output_audio_buffer.started", "response_id": answer.response_id})
        self._loudspeaker.play(pcm)

    def hold(self, answer: Answer, *, held: bool) -> None:
        """The sound of the answer stands still, or goes on."""
        if self._loudspeaker is not None:
            self._loudspeaker.hold(held)
        self.own("hold", held=held, response_id=answer.response_id)

    def cleared(self, answer: Answer) -> None:
        """What was sent ahead of the answer is not to be played."""
        if self._loudspeaker is not None:
            self._loudspeaker.clear()
            self._sounding.discard(answer.response_id)
        self.send({"type": "output_audio_buffer.cleared", "response_id": answer.response_id})

    def played(self, answer: Answer) -> None:
        """All of the answer's sound has been played."""
        if answer.response_id in self._sounding:
            self._sounding.discard(answer.response_id)
            self.send({"type": "output_audio_buffer.stopped", "response_id": answer.response_id})

    def finish(self, answer: Answer, status: str, text: str, *, reason: str | None = None, fault: str = "") -> bool:
        """The answer is over. `text` is what stands of it. False where it was not open."""
        if answer.id not in self._open:
            return False
        self._open.remove(answer.id)
        head, audio = _head(answer), answer.audio
        if audio:
            self.send({"type": "response.output_audio.done", **head})
            self.send({"type": "response.output_audio_transcript.done", **head, "transcript": text})
        else:
            self.send({"type": "response.output_text.done", **head, "text": text})
        item_status = "completed" if status == "completed" else "incomplete"
        item = assistant_item(answer.item_id, text, audio=audio, status=item_status)
        self.send({"type": "response.content_part.done", **head, "part": _shown(text, audio=audio)})
        self.send(
            {"type": "response.output_item.done", "response_id": answer.response_id, "output_index": 0, "item": item}
        )
        self.send({"type": "conversation.item.done", "previous_item_id": None, "item": item})
        details: Event | None = None
        if status != "completed":
            details = {"type": status, "reason": reason}
            if fault:
                details["error"] = {"type": "server_error", "code": "answer_failed", "message": fault}
        response = self._response(answer, status, [item], details)
        self.send({"type": "response.done", "response": response})
        return True

    def _response(self, answer: Answer, status: str, output: list[Event], details: Event | None) -> Event:
        counts = {name: int(answer.trace.get(name) or 0) for name in ("prompt_tokens", "completion_tokens")}
        used = {
            "input_tokens": counts["prompt_tokens"],
            "output_tokens": counts["completion_tokens"],
            "total_tokens": sum(counts.values()),
        }
        return {
            "object": "realtime.response",
            "id": answer.response_id,
            "status": status,
            "status_details": details,
            "output": output,
            "output_modalities": ["audio"] if answer.audio else ["text"],
            "usage": used if output else None,
            "metadata": None,
        }


def _head(answer: Answer) -> Event:
    return {"response_id": answer.response_id, "item_id": answer.item_id, "output_index": 0, "content_index": 0}


def session_object(session_id: str, options: Event, kept: Event) -> Event:
    """The session as `session.created` and `session.updated` show it; `kept` says which thread it is."""
    return {
        "type": "realtime",
        "object": "realtime.session",
        "id": session_id,
        "model": options["model"],
        "output_modalities": options["output_modalities"],
        "instructions": "",
        "tools": [],
        "tool_choice": "auto",
        "audio": {
            "input": {
                "format": {"type": "audio/pcm", "rate": options["rate_hz"]},
                "turn_detection": options["turn_detection"],
                "transcription": {"model": "firstword", "language": options["language"]},
                "noise_reduction": None,
            },
            "output": {
                "format": {"type": "audio/pcm", "rate": OUT_HZ},
                "voice": options["voice"],
                "speed": options["speed"],
            },
        },
        "firstword": {"events": options["events"], "preempt": options["preempt"], **kept},
    }
