"""What people and models send that is no text to speak, and settings that an engine does not know."""

from collections.abc import Iterator

import pytest

from firstword.testing.voices import ToneEngine
from models.lanes import Lanes
from sound import Pcm
from tts import Frame, Speaker, SpeechHandle, UnknownVoice


@pytest.fixture
def lanes() -> Iterator[Lanes]:
    made = Lanes()
    yield made
    made.close()


class Voiced(ToneEngine):
    """It knows one voice, and refuses others as every engine does."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str | None, str]] = []

    def speak(self, piece: str, *, voice: str | None = None, language: str = "en", **how: object) -> Iterator[Pcm]:
        self.asked.append((voice, language))
        if voice not in (None, "tone"):
            raise UnknownVoice(voice, ["tone"])
        yield from super().speak(piece)


async def take(handle: SpeechHandle) -> list[Frame]:
    return [frame async for frame in handle.frames()]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(" \n\t ", id="only space"),
        pytest.param("… -- ** __ !!! ?", id="only marks"),
        pytest.param("🎉👩‍🚀🏳️‍🌈✨", id="only emoji"),
        pytest.param("\x00\x07\u200b\ufeff", id="only what is not printed"),
        pytest.param("┌──┐\n│  │\n└──┘", id="only a box"),
    ],
)
async def test_with_nothing_to_say_the_engine_is_not_asked(lanes: Lanes, text: str) -> None:
    engine = ToneEngine()
    handle = Speaker(engine, lanes.lane("tone")).say(text)
    assert await take(handle) == []
    assert engine.spoken == []
    ended = await handle.done()
    assert (ended.made_s, ended.faults, ended.cancelled) == (0.0, (), False)


@pytest.mark.parametrize("letter", ["a", "é", "字", "7"])
async def test_a_hundred_thousand_characters_without_a_space_are_spoken_in_pieces(lanes: Lanes, letter: str) -> None:
    engine = ToneEngine(seconds_per_char=0.0002, sample_rate_hz=8_000)
    frames = await take(Speaker(engine, lanes.lane("tone"), gap_s=0.0).say(letter * 100_000))
    assert max(len(piece) for piece in engine.spoken if piece.isalpha()) <= 300 if letter != "7" else engine.spoken
    sources = {frame.piece.n: frame.piece.source for frame in frames}
    assert "".join(sources.values()) == letter * 100_000


async def test_a_language_that_nobody_knows_is_spoken_all_the_same(lanes: Lanes) -> None:
    engine = Voiced()
    handle = Speaker(engine, lanes.lane("tone")).say("Hello there. Good day.", language="xx")
    assert await take(handle)
    assert {language for _, language in engine.asked} == {"xx"}
    assert (await handle.done()).faults == ()


async def test_an_unknown_voice_is_named_once_with_the_nearest_and_the_engine_s_own_speaks(lanes: Lanes) -> None:
    engine = Voiced()
    spare = ToneEngine()
    speaker = Speaker(engine, lanes.lane("tone"), fallback=spare, fallback_lane=lanes.lane("spare"))
    handle = speaker.say("Hello there. Good day. And so on.", voice="tony")
    frames = await take(handle)
    assert (
        "".join({frame.piece.n: frame.piece.source for frame in frames}.values()) == "Hello there. Good day. And so on."
    )
    (fault,) = (await handle.done()).faults
    assert "'tony'" in str(fault)
    assert "nearest: tone" in str(fault)
    assert [voice for voice, _ in engine.asked].count("tony") == 1
    assert speaker.fallen is None
    assert spare.spoken == []


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
async def test_speed_reaches_the_engine(lanes: Lanes, speed: float) -> None:
    frames = await take(Speaker(ToneEngine(), lanes.lane("tone")).say("Twenty letters, all in.", speed=speed))
    assert sum(frame.pcm.duration_s for frame in frames) == pytest.approx(23 * 0.05 / speed, abs=0.01)


async def test_an_engine_says_how_long_a_piece_may_be(lanes: Lanes) -> None:
    engine = ToneEngine(seconds_per_char=0.001)
    engine.cap = 60
    await take(Speaker(engine, lanes.lane("tone")).say("These sentences are about as long as this. " * 8))
    assert max(len(piece) for piece in engine.spoken) <= 60
