"""Recordings: the recogniser itself, `hear`, and `/v1/audio/transcriptions` seen by the official client."""

from __future__ import annotations

import contextlib
import io
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import numpy as np
import pytest
from asr_kit import RATE_HZ, noise, quiet
from fastapi import FastAPI
from openai import APIStatusError, AsyncOpenAI, AuthenticationError, BadRequestError

from asr import (
    EngineRefused,
    HearingSource,
    LanguageRefused,
    Silero,
    SmartTurn,
    WhisperRecogniser,
    create_transcriptions,
    hear,
)
from asr.features import log_mel
from asr.smart_turn import turn_features
from asr.transcriptions import LONGEST_FILE_BYTES
from firstword.serving import serving
from grant import Signer
from models import Lanes
from sound import Pcm, Samples, resample, write_wav

Say = Callable[[str], Samples]
pytestmark = pytest.mark.models
FIRST, SECOND = "What is the capital of France?", "I would like to go to the market tomorrow morning."


def _wer(said: str, wanted: str) -> float:
    a, b = (["".join(c for c in w if c.isalnum()).lower() for w in text.split()] for text in (said, wanted))
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1] / len(b)


def test_features_are_those_that_whisper_was_trained_on(say: Say) -> None:
    from faster_whisper.feature_extractor import FeatureExtractor

    samples = say(FIRST)
    ours, stock = log_mel(samples), FeatureExtractor()(samples, padding=0)
    assert ours.shape[0] == 80
    assert np.abs(ours - stock[:, : ours.shape[1]]).max() < 1e-4


def test_the_sounds_witness_sees_eight_seconds_at_mean_nought(smart_turn: SmartTurn, say: Say) -> None:
    for seconds in (0.5, 8.0, 20.0):
        features = turn_features(noise(seconds, 0.1), round(seconds * RATE_HZ))
        assert features.shape == (80, 800)
        assert np.isfinite(features).all()
    whole, cut = say(FIRST), say("Tell me about, um,")
    assert smart_turn.complete(Pcm(whole, RATE_HZ), speech_end=len(whole)) > 0.5
    assert smart_turn.complete(Pcm(cut, RATE_HZ), speech_end=len(cut)) < 0.5


@pytest.mark.parametrize("lead_s", [0.1, 0.4, 1.5])
@pytest.mark.parametrize("text", [FIRST, SECOND, "Yes.", "Could you please tell me where the station is?"])
def test_a_short_window_hears_a_sentence_once(whisper: WhisperRecogniser, say: Say, text: str, lead_s: float) -> None:
    sound = np.concatenate([quiet(lead_s), say(text), quiet(0.1)])
    heard = whisper.recognise(Pcm(sound, RATE_HZ), language="en", word_times=True)
    assert _wer(heard.text, text) <= 0.1
    assert " ".join(word.text for word in heard.words) == heard.text
    starts = [word.start_s for word in heard.words]
    assert starts == sorted(starts)
    assert abs(starts[0] - lead_s) < 0.45
    assert heard.words[-1].end_s <= len(sound) / RATE_HZ + 0.05


def test_the_careful_ear_hears_the_same(whisper: WhisperRecogniser, say: Say) -> None:
    assert whisper.careful().recognise(Pcm(say(SECOND), RATE_HZ), language="en", hint="market").text == SECOND


@pytest.mark.parametrize("sound", [quiet(3.0), quiet(0.0), quiet(40.0)])
def test_digital_silence_is_no_words(whisper: WhisperRecogniser, sound: Samples) -> None:
    assert whisper.recognise(Pcm(sound, RATE_HZ), language="en").text == ""


def test_speech_longer_than_a_window_is_heard_in_several(whisper: WhisperRecogniser, say: Say) -> None:
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    things = ("bread", "butter", "apples", "flowers", "paper", "coffee", "sugar")
    lines = [
        f"On {day} morning I went to the market and bought some {thing}."
        for day, thing in zip(days, things, strict=True)
    ]
    lines += [FIRST, SECOND, "Could you please tell me where the station is?", "The weather was very nice last summer."]
    text = " ".join(lines)
    sound = np.concatenate([np.concatenate([say(line), quiet(0.3)]) for line in lines])
    assert len(sound) > 30 * RATE_HZ
    heard = whisper.recognise(Pcm(sound, RATE_HZ), language="en", word_times=True)
    assert _wer(heard.text, text) < 0.1
    assert heard.words[-1].end_s == pytest.approx(len(sound) / RATE_HZ, abs=1.0)


def test_an_english_model_refuses_another_language_in_words(whisper: WhisperRecogniser) -> None:
    with pytest.raises(LanguageRefused, match="does not understand 'de', only en"):
        whisper.recognise(Pcm(quiet(1.0), RATE_HZ), language="de")


@pytest.mark.parametrize("missing", [True, pytest.param(False, id="M5")])
def test_weights_that_cannot_be_loaded_are_refused_in_words(tmp_path: Path, missing: bool) -> None:
    if not missing:
        for name in ("model.bin", "config.json", "tokenizer.json"):
            (tmp_path / name).write_bytes(b"\0" * 100)
    with pytest.raises(EngineRefused, match="firstword models pull"):
        WhisperRecogniser(tmp_path)


def test_a_recording_is_heard_as_utterances_with_their_times(
    whisper: WhisperRecogniser, silero: Silero, say: Say
) -> None:
    sound = np.concatenate([quiet(1.0), say(FIRST), quiet(1.5), say(SECOND)])
    both = list(hear(resample(Pcm(sound, RATE_HZ), 44_100), whisper, silero))
    assert [one.text for one in both] == [FIRST, SECOND]
    assert both[0].start_s == pytest.approx(1.05, abs=0.15)
    assert both[1].words[0].start_s == pytest.approx(2.5 + len(say(FIRST)) / RATE_HZ, abs=0.3)
    assert both[1].end_s <= len(sound) / RATE_HZ + 0.2


@pytest.mark.parametrize("sound", [quiet(4.0), noise(4.0, 0.002), noise(4.0, 0.1)])
def test_nobody_in_a_recording_is_no_utterance(whisper: WhisperRecogniser, silero: Silero, sound: Samples) -> None:
    assert list(hear(Pcm(sound, RATE_HZ), whisper, silero)) == []


@contextlib.asynccontextmanager
async def _client(source: HearingSource | None) -> AsyncIterator[AsyncOpenAI]:
    signer = Signer("a secret for tests")
    app = FastAPI()
    app.include_router(create_transcriptions(source, signer))
    grant = signer.mint(bot="guide", subject="somebody", room="r")
    async with (
        serving(lambda _base_url: app) as base_url,
        AsyncOpenAI(api_key=grant, base_url=f"{base_url}/v1", max_retries=0) as client,
    ):
        yield client


@pytest.fixture
async def client(whisper: WhisperRecogniser, silero: Silero) -> AsyncIterator[AsyncOpenAI]:
    lanes = Lanes()
    async with _client(HearingSource(whisper, lanes.lane("ear"), silero)) as opened:
        yield opened
    lanes.close()


@pytest.fixture
def wav(say: Say) -> bytes:
    held = io.BytesIO()
    write_wav(held, Pcm(np.concatenate([quiet(0.5), say(FIRST), quiet(1.5), say(SECOND), quiet(0.5)]), RATE_HZ))
    return held.getvalue()


async def test_the_official_client_gets_all_five_formats(client: AsyncOpenAI, wav: bytes) -> None:
    create = client.audio.transcriptions.create
    file = ("speech.wav", wav)
    text = f"{FIRST} {SECOND}"
    assert (await create(file=file, model="whisper-1")).text == text
    assert (await create(file=file, model="whisper-1", response_format="text")).strip() == text
    srt = await create(file=file, model="whisper-1", response_format="srt")
    assert srt.startswith("1\n00:00:00,5")
    assert srt.count("-->") == 2
    assert (await create(file=file, model="whisper-1", response_format="vtt")).startswith("WEBVTT\n")
    full = await create(
        file=file,
        model="whisper-1",
        response_format="verbose_json",
        timestamp_granularities=["word", "segment"],
        language="en",
    )
    assert full.text == text
    assert full.duration == pytest.approx(len(wav) / 2 / RATE_HZ, abs=0.1)
    assert [segment.text for segment in full.segments or []] == [FIRST, SECOND]
    assert [word.word for word in full.words or []] == text.split()


async def test_bad_requests_are_answered_in_words(client: AsyncOpenAI, wav: bytes) -> None:
    create = client.audio.transcriptions.create
    for change, words in (
        ({"file": ("a.wav", b"no recording")}, "not a recording"),
        ({"file": ("a.wav", b"")}, "empty"),
        ({"language": "de"}, "does not understand 'de'"),
        ({"response_format": "diarized_json"}, "choose one of"),
        ({"stream": True}, "stream is not served"),
        ({"timestamp_granularities": ["letter"]}, "word and segment"),
    ):
        with pytest.raises(BadRequestError, match=words):
            await create(**{"file": ("a.wav", wav), "model": "whisper-1", **change})  # type: ignore[call-overload]
    with pytest.raises(APIStatusError, match="larger than 25 MB") as large:
        await create(file=("a.wav", bytes(LONGEST_FILE_BYTES + 1)), model="whisper-1")
    assert large.value.status_code == 413
    with pytest.raises(BadRequestError, match="multipart field 'file'"):
        await client.post("/audio/transcriptions", cast_to=object, body={"model": "whisper-1"})
    with pytest.raises(AuthenticationError):
        await client.with_options(api_key="nothing").audio.transcriptions.create(file=("a.wav", wav), model="whisper-1")


async def test_a_server_that_cannot_hear_says_how_it_could(wav: bytes) -> None:
    async with _client(None) as client:
        with pytest.raises(APIStatusError, match="firstword models pull") as missing:
            await client.audio.transcriptions.create(file=("a.wav", wav), model="whisper-1")
        assert missing.value.status_code == 503
