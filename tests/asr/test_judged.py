"""Two witnesses: the words are told at once, and what is made of them when the sound was heard too."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import cast

import numpy as np
import pytest
from asr_kit import RATE_HZ, Scripted, quiet

from asr import Ear, Judged, Listener, ListenSettings, Silero, SmartTurn, WhisperRecogniser, Words
from models import Lanes
from sound import Pcm, Samples

Say = Callable[[str], Samples]
pytestmark = pytest.mark.models


async def test_both_witnesses_are_heard(
    silero: Silero, whisper: WhisperRecogniser, smart_turn: SmartTurn, say: Say
) -> None:
    lanes = Lanes()
    ear = Ear(whisper, lanes.lane("ear"), silero=silero, smart_turn=smart_turn, careful=whisper.careful())
    listener = Listener(ear, settings=ListenSettings(partials=False))
    whole = np.concatenate([quiet(0.5), say("What is the capital of France?"), quiet(0.6)])
    listener.push(Pcm(whole, RATE_HZ))
    await listener.settled()
    await listener.close()
    told = [event async for event in listener.events() if isinstance(event, Words | Judged)]
    lanes.close()
    assert [event.text for event in told if isinstance(event, Words)] == ["What is the capital of France?"]
    judged = told[-1]
    assert isinstance(judged, Judged)
    assert (judged.verdict, judged.decided_by) == ("complete", "both")
    assert judged.sound is not None
    assert judged.sound >= 0.5


async def test_words_do_not_wait_for_the_witness_of_the_sound(silero: Silero, say: Say) -> None:
    told = threading.Event()

    class Slow:
        def complete(self, _pcm: Pcm, *, speech_end: int) -> float:
            assert told.wait(30), "the words were not told before the sound was asked"
            return 0.1

    lanes = Lanes()
    slow = cast("SmartTurn", Slow())
    listener = Listener(Ear(Scripted(lambda _pcm: "It is free."), lanes.lane("ear"), silero=silero, smart_turn=slow))
    listener.push(Pcm(np.concatenate([quiet(0.5), say("It is free."), quiet(0.4)]), RATE_HZ))
    verdicts = []
    async for event in listener.events():
        if isinstance(event, Words) and event.kind == "final":
            told.set()
            verdicts.append((event.text, event.verdict))
        elif isinstance(event, Judged):
            verdicts.append((event.decided_by, event.verdict))
            break
    await listener.close()
    lanes.close()
    assert verdicts == [("It is free.", "complete"), ("sound", "unsure")]
