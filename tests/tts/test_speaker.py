import asyncio
import itertools
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstword.testing.clock import run_virtually
from firstword.testing.voices import ToneEngine
from models.lanes import Lane, Lanes
from sound import Pcm
from tts import Frame, Speaker, SpeechHandle

T = TypeVar("T")


@pytest.fixture
def lanes() -> Iterator[Lanes]:
    made = Lanes()
    yield made
    made.close()


async def take(handle: SpeechHandle) -> list[Frame]:
    return [frame async for frame in handle.frames()]


def said(frames: list[Frame]) -> str:
    return "".join({frame.piece.n: frame.piece.source for frame in frames}.values())


async def test_an_answer_comes_out_in_order_with_its_turn_and_text(lanes: Lanes) -> None:
    speaker = Speaker(ToneEngine(), lanes.lane("tone"))
    handle = speaker.say("Hello there. This is **bold** news.", turn=3, generation=5)
    frames = await take(handle)
    assert (await handle.done()).made_s == pytest.approx(sum(frame.pcm.duration_s for frame in frames))
    assert [frame.piece.opening for frame in frames if frame.last] == [True, False]
    assert said(frames) == "Hello there. This is bold news."
    assert {(frame.turn, frame.generation) for frame in frames} == {(3, 5)}
    assert [frame.piece.n for frame in frames if frame.last] == [0, 1]
    assert max(frame.pcm.duration_s for frame in frames[:20]) <= 0.021


@pytest.mark.parametrize("rate_hz", [22_050, 24_000, 16_000])
async def test_the_pause_between_pieces_is_whole_samples(lanes: Lanes, rate_hz: int) -> None:  # A1
    engine = ToneEngine(sample_rate_hz=rate_hz)
    frames = await take(Speaker(engine, lanes.lane("tone"), gap_s=0.25).say("Hello there. Good day."))
    quiet = [frame for frame in frames if frame.pcm.peak == 0]
    assert sum(len(frame.pcm) for frame in quiet) == round(0.25 * rate_hz)
    assert all(len(frame.pcm.to_s16le()) % 2 == 0 for frame in frames)


async def test_the_first_piece_is_spoken_while_the_rest_is_being_written(lanes: Lanes) -> None:
    go = asyncio.Event()

    async def deltas() -> AsyncIterator[str]:
        yield "Of course. The rest"
        await go.wait()
        yield " follows."

    handle = Speaker(ToneEngine(), lanes.lane("tone")).say(deltas())
    frames = handle.frames()
    assert (await anext(frames)).piece.source == "Of course. "
    go.set()
    assert said([frame async for frame in frames]).endswith("The rest follows.")


class HereAndNow(Lane):
    """A lane that works on the spot: virtual time does not wait for threads."""

    def __init__(self) -> None:
        self.name = "here"

    async def run(self, work: Callable[[], T], *, deadline_s: float | None = None) -> T:
        return work()


@pytest.mark.parametrize("end", ["Of course. ", "Of course.", "Of course! ", "Of course!", "Of **course**. "])
def test_a_sentence_is_spoken_150_ms_after_the_sender_paused_whatever_it_ends_with(end: str) -> None:
    async def run() -> float:
        loop, ticks = asyncio.get_running_loop(), itertools.count()

        def clock() -> float:
            """It goes on while somebody looks at it, as a real one does."""
            return loop.time() + next(ticks) * 1e-6

        async def deltas() -> AsyncIterator[str]:
            yield end
            await asyncio.sleep(10)
            yield "And more."

        handle = Speaker(ToneEngine(), HereAndNow(), clock=clock).say(deltas())
        await anext(handle.frames())
        heard_s = clock()
        handle.cancel()
        await handle.done()
        return heard_s

    assert run_virtually(run()) == pytest.approx(0.15, abs=0.002)


async def test_the_last_utterance_wins(lanes: Lanes) -> None:  # S3
    engine = ToneEngine()
    speaker = Speaker(engine, lanes.lane("tone"))
    first = speaker.say("One here. " * 40, turn=1)
    frames = first.frames()
    await anext(frames)
    second = speaker.say("Something else.", turn=2)
    assert [frame async for frame in frames] == []
    assert (await first.done()).cancelled
    assert {frame.turn for frame in await take(second)} == {2}


@given(after=st.integers(0, 60))
@settings(max_examples=40, deadline=None)
def test_after_cancel_no_frame_leaves_at_any_moment(after: int) -> None:  # S1
    async def run() -> None:
        lanes = Lanes()
        try:
            handle = Speaker(ToneEngine(), lanes.lane("tone")).say("A sentence that is long. " * 6)
            frames = handle.frames()
            for _ in range(after):
                await anext(frames)
            handle.cancel()
            assert [frame async for frame in frames] == []
            assert (await handle.done()).cancelled
        finally:
            lanes.close()

    asyncio.run(run())


async def test_cancelling_closes_the_sender_of_the_text(lanes: Lanes) -> None:
    closed = asyncio.Event()

    async def deltas() -> AsyncIterator[str]:
        try:
            yield "Of course. And"
            await asyncio.Event().wait()
        finally:
            closed.set()

    handle = Speaker(ToneEngine(), lanes.lane("tone")).say(deltas())
    await anext(handle.frames())
    handle.cancel()
    await handle.done()
    assert closed.is_set()


async def test_synthesis_runs_ahead_no_further_than_the_lead(lanes: Lanes) -> None:
    engine = ToneEngine()
    handle = Speaker(engine, lanes.lane("tone"), lead_s=5.0).say("This is one sentence of many. " * 60)
    frames = handle.frames()
    taken_s = 0.0
    while taken_s < 10:
        taken_s += (await anext(frames)).pcm.duration_s
        await asyncio.sleep(0)
        assert handle.ahead_s <= 5.02
    assert len(engine.spoken) < 6
    handle.cancel()
    await handle.done()


async def test_marks_alone_make_no_call(lanes: Lanes) -> None:  # T23
    engine = ToneEngine()
    handle = Speaker(engine, lanes.lane("tone")).say("🎉🎉 … **")
    assert await take(handle) == []
    assert engine.spoken == []


async def test_a_piece_that_fails_is_named_and_the_next_is_spoken(lanes: Lanes) -> None:  # S10
    engine = ToneEngine(breaks_on="second")
    text = "First one here. " + "The second is too long to be packed with others in one piece of speech. " * 2
    handle = Speaker(engine, lanes.lane("tone"), cap=80).say(text + "Then the third.")
    frames = await take(handle)
    assert said(frames).startswith("First one here. ")
    assert said(frames).endswith("Then the third.")
    assert {fault.piece for fault in (await handle.done()).faults} == {1, 2}


async def test_a_failed_voice_falls_back_and_stays_fallen(lanes: Lanes) -> None:  # S13
    first, second = ToneEngine(breaks_on="broken"), ToneEngine(sample_rate_hz=16_000)
    speaker = Speaker(first, lanes.lane("first"), fallback=second, fallback_lane=lanes.lane("second"))
    frames = await take(speaker.say("This is fine. This is broken."))
    assert said(frames) == "This is fine. This is broken."
    assert speaker.fallen == "the tone engine was told to break on this piece"
    await take(speaker.say("This would be fine."))
    assert first.spoken == ["This is fine."]
    assert second.spoken == ["This is broken.", "This would be fine."]


class StuckEngine(ToneEngine):
    """It hangs for ever on "stuck"."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = threading.Event()

    def speak(self, piece: str, **how: object) -> Iterator[Pcm]:
        if "stuck" in piece:
            self.let_go.wait()
        yield from super().speak(piece)


async def test_a_stuck_piece_is_an_error_and_the_next_goes_on(lanes: Lanes) -> None:  # T31, S8
    engine = StuckEngine()
    handle = Speaker(engine, lanes.lane("tone"), limit_s=1.0).say("I am stuck here. And on it goes.")
    frames = await take(handle)
    engine.let_go.set()
    assert said(frames) == "And on it goes."
    assert [fault.piece for fault in (await handle.done()).faults] == [0]


async def test_a_sender_that_breaks_off_is_told_to_whoever_waits(lanes: Lanes) -> None:
    async def deltas() -> AsyncIterator[str]:
        yield "Of course. And"
        raise ConnectionError("the door went away")

    handle = Speaker(ToneEngine(), lanes.lane("tone")).say(deltas())
    assert said(await take(handle)) == "Of course. "
    with pytest.raises(ConnectionError):
        await handle.done()


async def test_a_closed_speaker_is_silent(lanes: Lanes) -> None:
    speaker = Speaker(ToneEngine(), lanes.lane("tone"))
    handle = speaker.say("A sentence that is long. " * 20)
    await speaker.close()
    assert await take(handle) == []
