"""Hear it: a voice block spoken once, as a conversation would speak it, and how soon.

It changes nothing. The one rule: what is timed is timed from the words handed over to the first audible sample, as the
receipt under an answer times it, with one voice at a time.
"""

from __future__ import annotations

import asyncio
import io
import time
from dataclasses import dataclass

from agents_core import BotVoice
from sound import Pcm, write_wav
from web.desk.parts import Mouth

# Said by a bot that says nothing first.
SAMPLE = "This is how I sound."


@dataclass(frozen=True, slots=True)
class Heard:
    """What it sounded like: a WAV, milliseconds to the first audible sample, who spoke, and what to know about it."""

    wav: bytes
    first_word_ms: float
    engine: str
    note: str


class NothingHeard(Exception):
    """No sound came; the words say why."""


class Hearing:
    """One voice at a time: two at once would time each other."""

    def __init__(self) -> None:
        self._alone = asyncio.Lock()

    async def hear(self, mouth: Mouth, voice: BotVoice) -> Heard:
        """Speak the first sentence of `voice`. Raises `NothingHeard`."""
        async with self._alone:
            speaker, said = mouth.speaker, voice.first or SAMPLE
            began_s, first_s = time.perf_counter(), None
            frames: list[Pcm] = []
            handle = speaker.say(said, voice=voice.voice or None, language=voice.language, speed=voice.speed)
            try:
                async for frame in handle.frames():
                    if first_s is None and frame.pcm.first_audible is not None:
                        first_s = time.perf_counter()
                    frames.append(frame.pcm)
                spoken = await handle.done()
            finally:
                await speaker.close()
        faults = [str(fault) for fault in spoken.faults]
        if first_s is None:
            raise NothingHeard(faults[0] if faults else "there is nothing to say in the first sentence")
        whole = io.BytesIO()
        write_wav(whole, Pcm.join(frames))
        note = "; ".join(each for each in (mouth.note, *faults) if each)
        return Heard(whole.getvalue(), (first_s - began_s) * 1000, mouth.engine, note)
