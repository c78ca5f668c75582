"""The ear on its own: what `firstword hear` does.

No server and no session; the same activity, recogniser and listener. The one rule: silence gives an empty text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from asr import Judged, Listener, ListenSettings, Silero, SpeechEnded, SpeechStarted, Words, hear
from firstword.hearing import ear_for, recogniser_for
from firstword.settings import Settings
from models import Lanes
from sound import Pcm

# The listener needs to see that nobody goes on: longer than the longest wait for the end of a turn.
_TAIL_S = 3.0
_FRAME_S = 0.02

# What is told while a file is heard in real time: the guess, and the part of it that will stand.
Partial = Callable[[str, str], None]


def listen(settings: Settings, pcm: Pcm, *, language: str, live: bool, on_partial: Partial | None) -> dict[str, Any]:
    """What is said in `pcm`: text, words, and each utterance with its times in seconds and its cost in milliseconds."""
    if live:
        name, utterances = asyncio.run(_live(settings.model_copy(update={"language": language}), pcm, on_partial))
    else:
        recogniser = recogniser_for(settings)
        recogniser.check_language(language)
        recogniser.warm()
        name, utterances = (
            recogniser.name,
            [asdict(heard) for heard in hear(pcm, recogniser, Silero(), language=language)],
        )
    return {
        "text": " ".join(utterance["text"] for utterance in utterances if utterance["text"]),
        "language": language,
        "model": name,
        "duration_s": round(pcm.duration_s, 3),
        "words": [word for utterance in utterances for word in utterance["words"]],
        "utterances": utterances,
    }


async def _live(settings: Settings, pcm: Pcm, on_partial: Partial | None) -> tuple[str, list[dict[str, Any]]]:
    """Feed the file in real time, as a microphone would."""
    lanes = Lanes()
    try:
        ear = ear_for(settings, lanes.lane("ear"))
        await ear.lane.run(ear.warm)
        utterances = Utterances(on_partial)
        listener = Listener(ear, settings=ListenSettings(word_times=True))
        opened = asyncio.get_running_loop().time()
        reading = asyncio.create_task(_read(listener, utterances, opened))
        await _play(listener, Pcm.join([pcm.mono(), Pcm.silence(_TAIL_S, pcm.rate_hz)]), opened)
        await listener.close()
        await reading
    finally:
        lanes.close()
    return ear.recogniser.name, utterances.heard


async def _read(listener: Listener, utterances: Utterances, opened: float) -> None:
    async for event in listener.events():
        utterances.fold(event, asyncio.get_running_loop().time() - opened)
        if isinstance(event, SpeechEnded):
            # Nobody answers a file: what comes next is another turn.
            listener.answer_heard()


async def _play(listener: Listener, sound: Pcm, opened: float) -> None:
    step = round(sound.rate_hz * _FRAME_S)
    for number, at in enumerate(range(0, len(sound), step), start=1):
        await asyncio.sleep(max(0.0, opened + number * _FRAME_S - asyncio.get_running_loop().time()))
        listener.push(sound.part(at, at + step))


class Utterances:
    """The events of a session, folded into what was said and how soon it was known."""

    def __init__(self, on_partial: Partial | None = None) -> None:
        self.heard: list[dict[str, Any]] = []
        self._on_partial = on_partial
        self._start_s = 0.0
        self._final: tuple[float, Words] | None = None
        self._judged = Judged(0, 0, "unsure", "")

    def fold(self, event: object, at_s: float) -> None:
        """Take in one event, which came `at_s` seconds after the microphone was opened."""
        if isinstance(event, SpeechStarted):
            if event.generation == 1:
                self._start_s = event.at_s
        elif isinstance(event, Words) and event.kind == "partial":
            if self._on_partial is not None:
                self._on_partial(event.text, event.stable)
        elif isinstance(event, Words):
            self._final = (at_s, event)
        elif isinstance(event, Judged):
            self._judged = event
        elif isinstance(event, SpeechEnded) and self._final is not None:
            words_at_s, final = self._final
            if final.text:
                self.heard.append(_utterance(self._start_s, words_at_s, final, self._judged, event, at_s))
            self._final = None


def _utterance(
    start_s: float, words_at_s: float, final: Words, judged: Judged, ended: SpeechEnded, ended_at_s: float
) -> dict[str, Any]:
    return {
        "text": final.text,
        "start_s": round(start_s, 3),
        "end_s": round(final.speech_end_s, 3),
        "words": [asdict(word) for word in final.words],
        "recognise_ms": final.recognise_ms,
        # After the last speech: when the words were known, and when the turn was over.
        "words_ms": round((words_at_s - final.speech_end_s) * 1000, 1),
        "end_ms": round((ended_at_s - final.speech_end_s) * 1000, 1),
        "verdict": ended.verdict,
        "decided_by": judged.decided_by,
        "sound": judged.sound,
        "waited_ms": ended.waited_ms,
    }
