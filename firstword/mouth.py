"""The mouth on its own: what `firstword say` does.

No server and no session; the same cut, engine and speaker. The one rule: what is timed is timed from the text handed
over, with the engine warm, as a conversation finds it.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from firstword.errors import CannotStart
from firstword.settings import Settings
from firstword.voices import engine_for
from models import Lanes
from sound import Pcm, write_wav
from tts import Frame, Speaker


def speak(
    settings: Settings, text: str, *, out: Path | None, voice: str | None, language: str | None, speed: float
) -> dict[str, Any]:
    """Speak `text` into `out`; gives the pieces, and ms to the first audible sample and to the last."""
    engine = engine_for(settings)
    lanes = Lanes()
    try:
        engine.warm()
        frames, first_ms, whole_ms = asyncio.run(
            _collect(Speaker(engine, lanes.lane("voice")), text, voice, language or settings.language, speed)
        )
    finally:
        lanes.close()
    if not frames:
        raise CannotStart("nothing in this text can be spoken: it holds no words")
    sound = Pcm.join([frame.pcm for frame in frames])
    if out is not None:
        write_wav(out, sound)
    pieces = {frame.piece.n: frame.piece.spoken for frame in frames}
    return {
        "pieces": [{"n": n, "spoken": spoken} for n, spoken in sorted(pieces.items())],
        "first_sample_ms": round(first_ms, 1),
        "whole_ms": round(whole_ms, 1),
        "duration_s": round(sound.duration_s, 3),
        "engine": engine.name,
        "out": str(out) if out is not None else None,
    }


async def _collect(
    speaker: Speaker, text: str, voice: str | None, language: str, speed: float
) -> tuple[list[Frame], float, float]:
    started = time.perf_counter()
    first_ms: float | None = None
    frames: list[Frame] = []
    handle = speaker.say(text, turn=0, generation=0, voice=voice, language=language, speed=speed)
    async for frame in handle.frames():
        if first_ms is None and frame.pcm.first_audible is not None:
            first_ms = (time.perf_counter() - started) * 1000
        frames.append(frame)
    await handle.done()
    whole_ms = (time.perf_counter() - started) * 1000
    return frames, first_ms if first_ms is not None else whole_ms, whole_ms
