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
    engine: Engine, lane: Lane, chance: random.Random, *, most: int
) -> tuple[list[Frame], list[Frame]]:
    """Speak, and cancel a few turns of the loop after somebody got a random number of frames, fewer than `most`; the
    frames that they got before and afterwards."""
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
    # Counted in frames: how many turns the loop makes meanwhile is the machine's affair.
    got = chance.randrange(most)
    while len(before) < got and not listening.done():
        await asyncio.sleep(0)
    for _ in range(chance.randrange(20)):
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
            before, after = await frames_around_cancel(engine, lanes.lane("tone"), chance, most=100)
            moments.add(len(before))
            assert len(after) <= 1
            assert all(frame.pcm.duration_s <= 0.0201 for frame in after)
            made = list(engine.spoken)
            await lanes.lane("tone").run(lambda: None)
            # A step that had begun ends by itself; no further one does.
            assert len(engine.spoken) - len(made) <= 1
    finally:
        lanes.close()
    assert len(moments) > 10  # before the first frame, and at many moments among them


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
