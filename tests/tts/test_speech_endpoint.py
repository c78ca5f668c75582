import asyncio
import struct
from collections.abc import AsyncIterator

import httpx2
import numpy as np
import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from hypothesis import given, settings
from hypothesis import strategies as st
from speech_loopback import serving

from firstword.testing.clock import VirtualLoop
from firstword.testing.voices import ToneEngine
from models.lanes import Lanes
from sound import Pcm
from tts import EndpointEngine, Speaker, TtsError
from tts.endpoint_engine import _Reader, speech_url
from tts.riff import Header, endless_header

TONE = Pcm((0.3 * np.sin(np.arange(4_800) * 0.1)).astype(np.float32), 24_000)


def wav(pcm: Pcm, channels: int = 1) -> bytes:
    data = pcm.to_s16le()
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, channels, pcm.rate_hz, pcm.rate_hz * 2 * channels, 2 * channels, 16)
    extra = struct.pack("<4sI", b"LIST", 3) + b"abc\0"
    return struct.pack("<4sI4s", b"RIFF", 0, b"WAVE") + extra + fmt + struct.pack("<4sI", b"data", len(data)) + data


@given(sizes=st.lists(st.integers(1, 60), min_size=1, max_size=10))
@settings(max_examples=60, deadline=None)
def test_a_wav_header_is_stripped_once_wherever_the_body_is_cut(sizes: list[int]) -> None:  # A3
    body = wav(Pcm(TONE.samples, 16_000))
    reader, made, at, n = _Reader(24_000, "", "host"), [], 0, 0
    while at < len(body):
        pcm = reader.push(body[at : at + sizes[n % len(sizes)]])
        made += [pcm] if pcm is not None and len(pcm) else []
        at, n = at + sizes[n % len(sizes)], n + 1
    reader.end()
    whole = Pcm.join(made)
    assert whole.rate_hz == 16_000
    assert whole.to_s16le() == TONE.to_s16le()


def test_sound_that_looks_like_a_header_later_is_sound() -> None:
    header = Header()
    assert header.push(b"RI") is None
    begun = header.push(b"XX" + b"RIFF" * 4)
    assert begun is not None
    assert begun.rest == b"RIXX" + b"RIFF" * 4


def test_our_own_endless_header_is_read_back() -> None:
    begun = Header().push(endless_header(22_050) + b"ab")
    assert begun is not None
    assert (begun.rest, begun.rate_hz, begun.channels) == (b"ab", 22_050, 1)


def test_stereo_is_counted() -> None:  # A6
    left_right = np.repeat(TONE.samples[:, None], 2, axis=1)
    begun = Header().push(wav(Pcm(left_right, 48_000, 2), channels=2))
    assert begun is not None
    assert Pcm.from_s16le(begun.rest, begun.rate_hz, begun.channels).duration_s == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("https://voice.example", "https://voice.example/v1/audio/speech"),
        ("https://voice.example/v1/", "https://voice.example/v1/audio/speech"),
        ("http://voice.example/tts/v1/audio/speech", "http://voice.example/tts/v1/audio/speech"),
    ],
)
def test_a_base_and_the_full_path_both_work(address: str, url: str) -> None:
    assert speech_url(address) == url


@pytest.mark.parametrize("address", ["", "voice.example", "ftp://voice.example/v1"])
def test_what_is_no_address_is_refused_in_words(address: str) -> None:
    with pytest.raises(TtsError, match="give http"):
        EndpointEngine(address)


def upstream(answer: object) -> FastAPI:
    app = FastAPI()
    app.state.asked = []

    @app.post("/v1/audio/speech")
    async def speech(request: Request) -> Response:
        app.state.asked.append((await request.json(), request.headers.get("authorization")))
        return answer(len(app.state.asked))  # type: ignore[operator]

    return app


async def drain(engine: EndpointEngine, text: str = "Hello.") -> list[Pcm]:
    return await asyncio.to_thread(lambda: list(engine.speak(text, speed=1.2)))


async def test_the_request_is_openai_s_and_the_rate_travels() -> None:
    data = TONE.to_s16le()

    async def odd() -> AsyncIterator[bytes]:
        for at in range(0, len(data), 333):
            yield data[at : at + 333]

    app = upstream(lambda n: StreamingResponse(odd(), media_type="audio/pcm;rate=16000"))
    async with serving(app) as base:
        engine = EndpointEngine(base, key="k", model="m", voice="v")
        made = Pcm.join(await drain(engine))
        engine.close()
    assert made.to_s16le() == data
    assert made.rate_hz == engine.sample_rate_hz == 16_000
    body = {"input": "Hello.", "response_format": "pcm", "model": "m", "voice": "v", "speed": 1.2}
    assert app.state.asked == [(body, "Bearer k")]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(lambda n: Response(status_code=502), "502", id="bad gateway"),
        pytest.param(lambda n: Response(wav(TONE)[:30], media_type="audio/wav"), "WAV header", id="half a header"),
        pytest.param(lambda n: Response(b"ID3", media_type="audio/mpeg"), "pcm or wav", id="mp3"),
    ],
)
async def test_what_is_wrong_upstream_is_said_in_words(answer: object, words: str) -> None:
    async with serving(upstream(answer)) as base:
        engine = EndpointEngine(base)
        with pytest.raises(TtsError, match=words):
            await drain(engine)
        engine.close()


@pytest.mark.parametrize(
    "answer",
    [wav(TONE)[:30], wav(TONE)[:44], b"RI", b""],
    ids=["half a header", "a header alone", "two bytes", "nothing"],
)
async def test_where_no_sound_comes_the_local_voice_says_all_of_it_and_why_is_kept(answer: bytes) -> None:
    lanes, local = Lanes(at_once=2), ToneEngine()
    async with serving(upstream(lambda n: Response(answer, media_type="audio/wav"))) as base:
        engine = EndpointEngine(base)
        speaker = Speaker(engine, lanes.lane("endpoint"), fallback=local, fallback_lane=lanes.lane("tone"))
        frames = [frame async for frame in speaker.say("Hello there. Good day.").frames()]
        engine.close()
    lanes.close()
    assert local.spoken == ["Hello there.", "Good day."]
    assert {frame.piece.n for frame in frames} == {0, 1}
    assert "the speech endpoint 127.0.0.1" in str(speaker.fallen)


async def test_half_a_sample_at_the_end_is_no_sample() -> None:
    data = TONE.to_s16le()[:-1]
    async with serving(upstream(lambda n: Response(data, media_type="audio/pcm;rate=16000"))) as base:
        engine = EndpointEngine(base)
        made = Pcm.join(await drain(engine))
        engine.close()
    assert made.to_s16le() == data[:-1]


async def test_nobody_there_is_said_in_words() -> None:
    engine = EndpointEngine("http://127.0.0.1:9/v1")
    with pytest.raises(TtsError, match="did not answer"):
        await drain(engine)
    engine.close()


async def test_an_endpoint_that_says_nothing_is_given_up_and_the_local_voice_speaks() -> None:
    release = asyncio.Event()

    async def silent() -> AsyncIterator[bytes]:
        await release.wait()
        yield b""

    lanes, local = Lanes(at_once=2), ToneEngine()
    async with serving(upstream(lambda n: StreamingResponse(silent(), media_type="audio/pcm"))) as base:
        engine = EndpointEngine(base, silent_s=0.2)
        speaker = Speaker(engine, lanes.lane("endpoint"), fallback=local, fallback_lane=lanes.lane("tone"))
        frames = [frame async for frame in speaker.say("Hello there. Good day.").frames()]
        release.set()
        engine.close()
    lanes.close()
    assert local.spoken == ["Hello there.", "Good day."]
    assert {frame.piece.n for frame in frames} == {0, 1}


class Stalling(httpx2.AsyncBaseTransport):
    """It gives `data` and then nothing, for ever."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.closed = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        async def body() -> AsyncIterator[bytes]:
            try:
                if self.data:
                    yield self.data
                await asyncio.Event().wait()
            finally:
                self.closed = True

        return httpx2.Response(200, headers={"content-type": "audio/pcm"}, content=body())


@pytest.mark.parametrize("data", [b"", TONE.to_s16le()], ids=["from the start", "after a fifth of a second of sound"])
async def test_nothing_for_ten_seconds_is_given_up(data: bytes) -> None:
    loop, transport = VirtualLoop(), Stalling(data)
    engine = EndpointEngine("http://voice.example", loop=lambda: loop, transport=transport)
    made: list[Pcm] = []

    def pull() -> None:
        made.extend(engine.speak("Hello."))

    with pytest.raises(TtsError, match=r"voice\.example said nothing for 10 s"):
        await asyncio.to_thread(pull)
    assert b"".join(pcm.to_s16le() for pcm in made) == data
    assert loop.time() == pytest.approx(10.0, abs=0.1)
    assert transport.closed
    engine.close()


async def test_a_502_after_the_first_sentence_falls_back_for_good() -> None:
    lanes, local = Lanes(at_once=2), ToneEngine()

    def answer(n: int) -> Response:
        return Response(TONE.to_s16le(), media_type="audio/pcm") if n == 1 else Response(status_code=502)

    app = upstream(answer)
    async with serving(app) as base:
        engine = EndpointEngine(base)
        speaker = Speaker(engine, lanes.lane("endpoint"), fallback=local, fallback_lane=lanes.lane("tone"), cap=30)
        async for _ in speaker.say("Hello there. Good day to you, friend. And one more of them.").frames():
            pass
        engine.close()
    lanes.close()
    assert len(app.state.asked) == 2
    assert local.spoken == ["Good day to you, friend.", "And one more of them."]


async def test_cancelling_closes_the_request() -> None:
    closed = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield TONE.to_s16le()
                await asyncio.sleep(0.01)
        finally:
            closed.set()

    lanes = Lanes(at_once=2)
    async with serving(upstream(lambda n: StreamingResponse(endless(), media_type="audio/pcm"))) as base:
        engine = EndpointEngine(base)
        handle = Speaker(engine, lanes.lane("endpoint")).say("Hello there.")
        await anext(handle.frames())
        handle.cancel()
        await asyncio.wait_for(closed.wait(), 10)
        engine.close()
    lanes.close()
