import base64
import io
import json
import threading
from collections.abc import AsyncIterator, Iterator

import httpx2
import openai
import pytest
import soundfile
from fastapi import FastAPI
from speech_loopback import serving

from firstword.testing.voices import ToneEngine
from grant.signer import Signer
from models.lanes import Lanes
from sound import Pcm
from tts import SpeechSource, create_speech
from tts.riff import Header

TEXT = "Hello there. This is one more sentence."
SIGNER = Signer("a secret that is long enough for a test")


def grant() -> str:
    return SIGNER.mint(bot="guide", subject="s", room="r")


@pytest.fixture
async def base() -> AsyncIterator[str]:
    lanes = Lanes()
    app = FastAPI()
    app.include_router(create_speech(SpeechSource(ToneEngine(sample_rate_hz=22_050), lanes.lane("tone")), SIGNER))
    async with serving(app) as address:
        yield address
    lanes.close()


@pytest.fixture
async def client(base: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{base}/v1", api_key=grant(), max_retries=0) as made:
        yield made


@pytest.mark.parametrize(("form", "rate_hz"), [("wav", 22_050), ("mp3", 22_050), ("flac", 22_050), ("opus", 24_000)])
async def test_the_official_client_gets_every_format(client: openai.AsyncOpenAI, form: str, rate_hz: int) -> None:
    answer = await client.audio.speech.create(input=TEXT, voice="tone", model="local", response_format=form)
    assert answer.response.headers["content-type"].startswith("audio/")
    samples, rate = soundfile.read(io.BytesIO(answer.content))
    assert rate in (rate_hz, 48_000)
    assert len(samples) / rate == pytest.approx(len(TEXT) * 0.05, abs=0.25)
    assert abs(samples).max() > 0.2


async def test_pcm_is_24_khz_as_openai_s_is(client: openai.AsyncOpenAI) -> None:
    async with client.audio.speech.with_streaming_response.create(
        input=TEXT, voice="tone", model="local", response_format="pcm"
    ) as answer:
        data = b"".join([chunk async for chunk in answer.iter_bytes()])
        assert answer.headers["content-type"] == "audio/pcm;rate=24000;channels=1"
    assert len(data) % 2 == 0
    assert len(data) / 48_000 == pytest.approx(len(TEXT) * 0.05 + 0.12, abs=0.1)


async def test_a_streamed_wav_has_a_header_of_unknown_length(client: openai.AsyncOpenAI) -> None:  # A5
    answer = await client.audio.speech.create(input=TEXT, voice="tone", model="local", response_format="wav")
    begun = Header().push(answer.content)
    assert begun is not None
    assert begun.rate_hz == 22_050
    assert answer.content[4:8] == answer.content[40:44] == b"\xff\xff\xff\xff"


async def test_events_carry_the_sound_and_an_end(base: str) -> None:
    async with httpx2.AsyncClient() as http:
        answer = await http.post(
            f"{base}/v1/audio/speech",
            headers={"Authorization": f"Bearer {grant()}"},
            json={"input": TEXT, "stream_format": "sse"},
        )
    events = [json.loads(line.removeprefix("data: ")) for line in answer.text.splitlines() if line]
    assert events[-1]["type"] == "speech.audio.done"
    assert {event["type"] for event in events[:-1]} == {"speech.audio.delta"}
    assert sum(len(base64.b64decode(event["audio"])) for event in events[:-1]) > 10_000


async def test_the_official_client_reads_the_events(client: openai.AsyncOpenAI) -> None:
    async with client.audio.speech.with_streaming_response.create(
        input=TEXT, voice="tone", model="local", response_format="pcm", stream_format="sse"
    ) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = [json.loads(line.removeprefix("data: ")) async for line in answer.iter_lines() if line]
    assert [event["type"] for event in events[-2:]] == ["speech.audio.delta", "speech.audio.done"]
    sound = b"".join(base64.b64decode(event["audio"]) for event in events[:-1])
    assert len(sound) / 48_000 == pytest.approx(len(TEXT) * 0.05 + 0.12, abs=0.1)


class Waiting(ToneEngine):
    """It speaks its second piece only once it is let go."""

    def __init__(self) -> None:
        super().__init__(sample_rate_hz=24_000)
        self.let_go = threading.Event()

    def speak(self, piece: str, **how: object) -> Iterator[Pcm]:
        if self.spoken:
            self.let_go.wait(20)
        yield from super().speak(piece)


@pytest.mark.parametrize("form", ["pcm", "wav", "mp3", "opus"])
async def test_sound_leaves_while_later_pieces_are_still_being_made(form: str) -> None:
    engine, lanes, app = Waiting(), Lanes(), FastAPI()
    app.include_router(create_speech(SpeechSource(engine, lanes.lane("tone")), SIGNER))
    text = "This first sentence is long enough to fill a page of sound. And the second."
    async with (
        serving(app) as base,
        openai.AsyncOpenAI(base_url=f"{base}/v1", api_key=grant(), max_retries=0) as client,
    ):
        async with client.audio.speech.with_streaming_response.create(
            input=text, voice="tone", model="local", response_format=form
        ) as answer:
            chunks = answer.iter_bytes()
            first = b""
            while len(first) < 1_500:
                first += await anext(chunks)
            assert not engine.let_go.is_set()
            engine.let_go.set()
            data = first + b"".join([chunk async for chunk in chunks])
        await client.close()
    lanes.close()
    assert len(data) > len(first)


async def test_a_bad_grant_is_a_401_the_client_understands(base: str) -> None:
    async with openai.AsyncOpenAI(base_url=f"{base}/v1", api_key="nothing", max_retries=0) as client:
        with pytest.raises(openai.AuthenticationError):
            await client.audio.speech.create(input=TEXT, voice="tone", model="local")


async def test_an_unknown_voice_is_named_with_the_nearest(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match=r"'tony'.*tone"):
        await client.audio.speech.create(input=TEXT, voice="tony", model="local")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "input"),
        ({"input": "x" * 20_001}, "input"),
        ({"input": "x", "speed": 9}, "speed"),
        ({"input": "x", "response_format": "aac"}, "response_format"),
        (b"\xff{", "the body"),
    ],
)
async def test_a_bad_request_is_a_400_that_names_the_field(base: str, body: object, words: str) -> None:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with httpx2.AsyncClient() as http:
        answer = await http.post(
            f"{base}/v1/audio/speech", headers={"Authorization": f"Bearer {grant()}"}, content=sent
        )
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith(words)


@pytest.mark.parametrize("text", ["", "🎉", " … "])
async def test_with_nothing_to_say_the_answer_is_empty_sound(base: str, text: str) -> None:
    async with httpx2.AsyncClient() as http:
        for form in ("pcm", "wav", "mp3", "flac", "opus"):
            answer = await http.post(
                f"{base}/v1/audio/speech",
                headers={"Authorization": f"Bearer {grant()}"},
                json={"input": text, "response_format": form},
            )
            assert answer.status_code == 200


async def test_an_engine_that_fails_is_a_502_and_none_at_all_a_503() -> None:
    lanes = Lanes()
    broken = SpeechSource(ToneEngine(breaks_on="Hello"), lanes.lane("tone"))
    for source, status, words in ((broken, 502, "break"), (None, 503, "no engine")):
        app = FastAPI()
        app.include_router(create_speech(lambda source=source: source, SIGNER))
        async with serving(app) as base, httpx2.AsyncClient() as http:
            answer = await http.post(
                f"{base}/v1/audio/speech", headers={"Authorization": f"Bearer {grant()}"}, json={"input": "Hello."}
            )
        assert answer.status_code == status
        assert words in answer.json()["error"]["message"]
    lanes.close()
