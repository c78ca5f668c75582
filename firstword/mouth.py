"""The mouth on its own: what `firstword say` does.

No server and no session; the same cut, engine and speaker. The one rule: what is timed is timed from the text handed
over, with the engine warm, as a conversation finds it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from firstword.errors import CannotStart
from firstword.loudspeaker import Loudspeaker
from firstword.settings import Settings
from firstword.voices import EngineName, engine_for
from models import Lanes
from sound import Pcm, write_wav
from tts import Engine, Frame, Speaker, Spoken, UnknownVoice


@dataclass(frozen=True, slots=True)
class Say:
    """How it is said: `out` is a WAV file, `play` the loudspeaker, `opening` the solver's steps for the first piece."""

    engine: EngineName | None = None
    voice: str | None = None
    language: str | None = None
    speed: float = 1.0
    opening: int | None = None
    out: Path | None = None
    play: bool = False


@dataclass(slots=True)
class _Heard:
    frames: list[Frame] = field(default_factory=list)
    first_ms: float | None = None
    whole_ms: float = 0.0


def speak(settings: Settings, text: str, how: Say) -> dict[str, Any]:
    """Speak `text`; gives the pieces, and ms to the first audible sample and to the last.

    Raises `CannotStart` where nothing of it can be spoken, `UnknownVoice`, and what an engine that is missing raises.
    """
    engine = engine_for(settings, how.engine)
    _refuse_unknown(engine, how.voice)
    lanes = Lanes()
    try:
        with Loudspeaker(engine.sample_rate_hz) if how.play else contextlib.nullcontext() as loudspeaker:
            engine.warm()
            speaker = Speaker(engine, lanes.lane("voice"), opening_steps=how.opening)
            heard, spoken = asyncio.run(_say(speaker, text, how, how.language or settings.language, loudspeaker))
    finally:
        lanes.close()
    if not heard.frames:
        raise CannotStart(str(spoken.faults[0]) if spoken.faults else "nothing can be spoken: the text holds no words")
    sound = Pcm.join([frame.pcm for frame in heard.frames])
    if how.out is not None:
        write_wav(how.out, sound)
    pieces = {frame.piece.n: frame.piece.spoken for frame in heard.frames}
    return {
        "pieces": [{"n": n, "spoken": said} for n, said in sorted(pieces.items())],
        "first_sample_ms": round(heard.first_ms if heard.first_ms is not None else heard.whole_ms, 1),
        "whole_ms": round(heard.whole_ms, 1),
        "duration_s": round(sound.duration_s, 3),
        "engine": engine.name,
        "faults": [str(fault) for fault in spoken.faults],
        "out": str(how.out) if how.out is not None else None,
    }


def _refuse_unknown(engine: Engine, voice: str | None) -> None:
    names = [offered.name for offered in engine.voices()]
    if voice is not None and voice not in names:
        raise UnknownVoice(voice, names)


async def _say(
    speaker: Speaker, text: str, how: Say, language: str, loudspeaker: Loudspeaker | None
) -> tuple[_Heard, Spoken]:
    started = time.perf_counter()
    heard = _Heard()
    handle = speaker.say(text, voice=how.voice, language=language, speed=how.speed)
    async for frame in handle.frames():
        if heard.first_ms is None and frame.pcm.first_audible is not None:
            heard.first_ms = (time.perf_counter() - started) * 1000
        heard.frames.append(frame)
        if loudspeaker is not None:
            await asyncio.to_thread(loudspeaker.play, frame.pcm)
    heard.whole_ms = (time.perf_counter() - started) * 1000
    return heard, await handle.done()
