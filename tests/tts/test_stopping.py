"""Cancelling at any moment, with an engine that is fast and one that is real."""

import asyncio
import os
import random
from pathlib import Path

import pytest

from firstword.testing.voices import ToneEngine
from models.lanes import Lane, Lanes
from tts import Engine, Frame, PiperEngine, Speaker

VOICE = Path(os.environ.get("FIRSTWORD_MODELS") or Path.home() / ".cache/firstword/models") / "piper-en_US-joe-medium"
TEXT = (
    "Of course. The shop opens at nine, and closes at six; on Sundays it stays closed. Come whenever you like to. " * 2
)


async def frames_around_cancel(
    engine: Engine, lane: Lane, chance: random.Random, *, yields: int
) -> tuple[list[Frame], list[Frame]]:
    """Speak, cancel after a random number of turns of the loop; the frames that somebody got before and afterwards."""
    handle = Speaker(engine, lane).say(TEXT)
    cancelled = False
    before: list[Frame] = []
    after: list[Frame] = []

    async def listen() -> None:
        async for frame in handle.frames():
            (after if cancelled else before).append(frame)
            if chance.random() < 0.5:
                await asyncio.sleep(0)

    listening = asyncio.create_task(listen())
    for _ in range(chance.randrange(yields)):
        await asyncio.sleep(0)
    cancelled = True
    handle.cancel()
    ended = await handle.done()
    await listening
    # A text that was made to its end before the moment came was not cancelled; nothing of it may leave all the same.
    assert ended.cancelled or ended.made_s > 0
    return before, after


@pytest.mark.parametrize("seed", range(10))
async def test_at_most_one_frame_leaves_after_a_cancel_at_any_of_a_thousand_moments(seed: int) -> None:  # S1
    chance, lanes = random.Random(seed), Lanes()
    moments: set[int] = set()
    try:
        for _ in range(100):
            engine = ToneEngine(seconds_per_char=0.01)
            before, after = await frames_around_cancel(engine, lanes.lane("tone"), chance, yields=400)
            moments.add(len(before))
            assert len(after) <= 1
            assert all(frame.pcm.duration_s <= 0.0201 for frame in after)
            made = list(engine.spoken)
            await lanes.lane("tone").run(lambda: None)
            # A step that had begun ends by itself; no further one does.
            assert len(engine.spoken) - len(made) <= 1
    finally:
        lanes.close()
    # Before the first frame, and among them; how many more depends on how fast the machine makes sound.
    assert len(moments) > 2


@pytest.mark.models
async def test_at_most_one_frame_leaves_after_a_cancel_with_the_real_voice() -> None:  # S1
    if not (VOICE / "voice.onnx").exists():
        pytest.skip(f"the weights are not in {VOICE}; fetch them: firstword models pull")
    chance, lanes, engine = random.Random(7), Lanes(), PiperEngine(VOICE)
    try:
        lane = lanes.lane("voice")
        for n in range(12):
            # The loop turns idly while the lane works: moments are counted in frames, and in turns before the first.
            handle = Speaker(engine, lane).say(TEXT)
            frames = handle.frames()
            for _ in range(n and chance.randrange(60)):
                await anext(frames)
            handle.cancel()
            assert [frame async for frame in frames] == []
            assert (await handle.done()).cancelled
            assert handle.ahead_s == 0.0
    finally:
        lanes.close()
