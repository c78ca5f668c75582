"""Three hundred people talk over one session, with the real voice, recogniser and canceller: memory is flat."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import numpy as np
import pytest
from alone import alone, resident_bytes

from asr import Ear, Silero
from benchmarks.barge_in_runs import FIT_S, RECOGNISE_S
from benchmarks.barge_in_scenes import ANSWERS, GREETING
from firstword.hearing import recogniser_for
from firstword.settings import Settings, load_settings
from firstword.testing.clock import run_virtually
from firstword.testing.device import Device
from firstword.testing.lanes import RememberingEngine, VirtualLane
from firstword.testing.room import EchoRoom
from firstword.testing.talks import Talk, hears_with
from firstword.voices import engine_for
from sound import Pcm, resample
from voice.answer import OUT_HZ

TIMES = 300
# Higher and faster than the assistant, whose voice it is.
FASTER = 1.18


def spoken(engine: RememberingEngine, text: str, level: float) -> np.ndarray:
    """A person who says `text`, at 24 kHz."""
    said = Pcm.join(list(engine.speak(text)))
    samples = resample(Pcm(said.samples, round(said.rate_hz * FASTER)), OUT_HZ).samples
    return np.asarray(samples / np.abs(samples).max() * level, dtype=np.float32)


async def talked_over(settings: Settings) -> tuple[int, list[int]]:
    """How often somebody was let in, and the memory of this process at a third of the way and at its end."""
    loop = asyncio.get_running_loop()
    recogniser = recogniser_for(settings)
    # No recogniser that remembers: what it keeps would be what is left behind.
    ear = Ear(
        recogniser, VirtualLane(job_s=RECOGNISE_S), careful=recogniser.careful(), silero=Silero(), clock=loop.time
    )
    voice = engine_for(settings)
    engine = RememberingEngine(voice, sample_rate_hz=voice.sample_rate_hz)
    person = spoken(engine, "Wait a moment.", 0.6)
    room = EchoRoom(gain=0.3, delay_s=0.1, rate_hz=OUT_HZ, reverberation_s=0.15, noise=0.001)
    talk = Talk(
        Device(room),
        answers=[GREETING, ANSWERS[0]],
        engine=engine,
        listener=hears_with(ear),
        lane=VirtualLane(),
        fit_s=FIT_S,
    )
    resident = []
    try:
        talk.ask("Hello.")
        await talk.until_quiet()
        for n in range(TIMES):
            if talk.session.state.answer is None:
                talk.ask("Tell me more.")
            await talk.run(1.2)
            await talk.say(person)
            await talk.run(1.0)
            if n + 1 in (TIMES // 3, TIMES):
                gc.collect()
                resident.append(resident_bytes())
    finally:
        await talk.close()
    return len(talk.of("output_audio_buffer.cleared")), resident


def all_talk_over(data: Path) -> tuple[int, list[int]]:
    """`talked_over` with the settings of a fresh house in `data`."""
    return run_virtually(talked_over(load_settings(single_user=True, data=data)))


@pytest.mark.models
@pytest.mark.timeout(1_800)
def test_l5_three_hundred_people_who_talk_over_it_leave_memory_as_it_was(tmp_path: Path) -> None:
    interrupted, resident = alone(all_talk_over, tmp_path)
    assert interrupted >= 0.9 * TIMES
    # The sound of two hundred answers of 14 s at 24 kHz would be 270 MB; the events that the test keeps are a few.
    assert resident[1] - resident[0] < 30_000_000
