"""A person's device in a room: it plays what a session sends, and its microphone hears that and the person.

It does what the page does with sound: a queue, a pause on `firstword.hold`, an empty queue on
`output_audio_buffer.cleared`. The one rule: it keeps nothing that was cleared, and plays each sample once.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from firstword.testing.room import EchoRoom
from sound import Pcm, Samples
from voice.answer import OUT_HZ


class Device:
    """Loudspeaker, room and microphone at 24 kHz. `pauses`: it honours holds. `keeps`: it keeps what it received."""

    def __init__(self, room: EchoRoom, *, pauses: bool = True, keeps: bool = False) -> None:
        self._room = room
        self._pauses = pauses
        self._keeps = keeps
        self.kept = bytearray()
        self.sounding = False
        self._queue = np.zeros(0, dtype=np.float32)
        self._waiting: list[bytes] = []
        self.held = False
        self.received = 0
        self.played = 0

    @property
    def waiting(self) -> int:
        """Samples that were received and not played."""
        self._fetch()
        return len(self._queue)

    def take(self, event: dict[str, Any]) -> None:
        """What the session sends."""
        match event["type"]:
            case "response.output_audio.delta":
                data = base64.b64decode(event["delta"])
                self.received += len(data) // 2
                if self._keeps:
                    self.kept += data
                self._waiting.append(data)
            case "output_audio_buffer.cleared":
                self._waiting.clear()
                self._queue = self._queue[:0]
                self.held = False
            case "firstword.hold":
                self.held = self._pauses and event["held"]

    def hear(self, samples: int, near: Samples | None = None) -> Pcm:
        """Play `samples` samples and give what the microphone reads meanwhile; `near` is what the person says."""
        sounding = np.zeros(samples, dtype=np.float32)
        if not self.held:
            self._fetch()
            now = self._queue[:samples]
            self._queue = self._queue[samples:]
            sounding[: len(now)] = now
            self.played += len(now)
        self.sounding = bool(sounding.any())
        return Pcm(self._room.hear(sounding, near), OUT_HZ)

    def _fetch(self) -> None:
        if self._waiting:
            came = np.frombuffer(b"".join(self._waiting), dtype="<i2").astype(np.float32) / 32768
            self._queue = np.concatenate([self._queue, came])
            self._waiting.clear()
