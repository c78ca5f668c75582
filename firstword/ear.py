"""The ear on its own: what `firstword hear` does.

No server and no session; the same activity, recogniser and listener. The one rule: silence gives an empty text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from asr import Ear, Listener, Silero, SpeechEnded, Words, hear
from firstword.house import recogniser_for
from firstword.settings import Settings
from models import Lanes
from sound import Pcm

# The listener needs to see that nobody goes on: longer than the longest wait for the end of a turn.
_TAIL_S = 3.0
_FRAME_S = 0.02


def listen(
    settings: Settings, pcm: Pcm, *, language: str, live: bool, on_partial: Callable[[str], None] | None
) -> dict[str, Any]:
    """What is said in `pcm`: text, and each utterance with its times in seconds and its cost in milliseconds."""
    recogniser = recogniser_for(settings)
    recogniser.check_language(language)
    recogniser.warm()
    if live:
        lanes = Lanes()
        try:
            ear = Ear(recogniser, lanes.lane("ear"), language=language)
            utterances = asyncio.run(_live(ear, pcm, on_partial))
        finally:
            lanes.close()
    else:
        utterances = [asdict(heard) for heard in hear(pcm, recogniser, Silero(), language=language)]
    text = " ".join(utterance["text"] for utterance in utterances if utterance["text"])
    return {"text": text, "language": language, "model": recogniser.name, "utterances": utterances}


async def _live(ear: Ear, pcm: Pcm, on_partial: Callable[[str], None] | None) -> list[dict[str, Any]]:
    """Feed the file in real time, as a microphone would."""
    listener = Listener(ear)
    heard: list[dict[str, Any]] = []
    final: dict[str, Any] = {}

    async def read() -> None:
        async for event in listener.events():
            if isinstance(event, Words) and event.kind == "partial" and on_partial is not None:
                on_partial(event.text)
            elif isinstance(event, Words) and event.kind == "final":
                final.clear()
                final.update(text=event.text, end_s=event.speech_end_s, recognise_ms=event.recognise_ms)
            elif isinstance(event, SpeechEnded) and final.get("text"):
                heard.append({**final, "verdict": event.verdict, "waited_ms": event.waited_ms})
                final.clear()
                listener.answer_heard()

    reading = asyncio.create_task(read())
    sound = Pcm.join([pcm.mono(), Pcm.silence(_TAIL_S, pcm.rate_hz)])
    step = round(pcm.rate_hz * _FRAME_S)
    loop = asyncio.get_running_loop()
    due = loop.time()
    for at in range(0, len(sound), step):
        listener.push(sound.part(at, at + step))
        due += _FRAME_S
        await asyncio.sleep(max(0.0, due - loop.time()))
    await listener.close()
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    return heard
