"""`POST /v1/audio/speech`: OpenAI's shape, spoken by the engine of this house.

It holds no engine and no policy: who may speak says the grant, how it sounds says the engine. The one rule: the status
is sent after the first sound exists, so that a failure is a status and not a broken 200.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grant.http import error_response, granted, refusal
from grant.signer import GrantRefused, Signer
from models.lanes import Lane
from sound import Pcm, Resampler
from tts.encoded import FORMATS, Encoder
from tts.engine import Engine, paced
from tts.errors import UnknownVoice
from tts.frames import Frame
from tts.handle import SpeechHandle
from tts.riff import endless_header
from tts.speaker import Speaker

# OpenAI's `pcm` is 24 kHz, and its clients play it so; Opus has no 22 050 Hz.
OPENAI_RATE_HZ = 24_000
# Longer than OpenAI's 4 096, short enough that one request is no hour of work.
LONGEST_INPUT = 20_000
LONGEST_BODY_BYTES = 200_000

_KINDS = {"pcm": "audio/pcm", "wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "opus": "audio/ogg"}


class SpeechRequest(BaseModel):
    """The body. `model` and `instructions` are taken and change nothing: there is one model here."""

    model_config = ConfigDict(extra="ignore")

    input: str = Field(max_length=LONGEST_INPUT)
    voice: str | dict[str, Any] | None = None
    response_format: Literal["pcm", "wav", "mp3", "flac", "opus"] = "pcm"
    stream_format: Literal["audio", "sse"] = "audio"
    speed: float = Field(1.0, ge=0.25, le=4.0)
    language: str = Field("en", max_length=16)


@dataclass(frozen=True, slots=True)
class SpeechSource:
    """What speaks: an engine, and the lane it runs on."""

    engine: Engine
    lane: Lane


def create_speech(source: SpeechSource | Callable[[], SpeechSource | None] | None, signer: Signer) -> APIRouter:
    """The route. `source` (or what it gives when called) is None where this server has no engine: 503, in words."""
    router = APIRouter()

    @router.post("/v1/audio/speech")
    async def speech(request: Request) -> Response:
        try:
            granted(signer, request.headers)
        except GrantRefused:
            return refusal()
        body = await request.body()
        if len(body) > LONGEST_BODY_BYTES:
            return error_response(413, f"the body is larger than {LONGEST_BODY_BYTES} bytes; send less text at a time")
        try:
            asked = SpeechRequest.model_validate_json(body)
        except ValidationError as fault:
            return error_response(400, _in_words(fault))
        speaking = source() if callable(source) else source
        if speaking is None:
            return error_response(
                503,
                "this server has no engine that speaks; install one (pip install 'firstword[piper]') "
                "and fetch its weights (firstword models pull)",
                type_="server_error",
                code="no_engine",
            )
        return await _answer(asked, speaking)

    return router


async def _answer(asked: SpeechRequest, source: SpeechSource) -> Response:
    voice = asked.voice.get("id") if isinstance(asked.voice, dict) else asked.voice
    offered = source.engine.voices()
    # An engine that names its languages knows its voices; an endpoint's are its own affair.
    if voice and offered[0].languages and voice not in [known.name for known in offered]:
        refused = UnknownVoice(str(voice), [known.name for known in offered])
        return error_response(400, str(refused), code="unknown_voice")
    speaker = Speaker(source.engine, source.lane)
    handle = speaker.say(asked.input, voice=voice or None, language=asked.language, speed=paced(asked.speed))
    frames = handle.frames()
    try:
        first = await anext(frames, None)
        if first is None and (faults := (await handle.done()).faults):
            return error_response(502, str(faults[0]), type_="server_error", code="speech_failed")
    except BaseException:
        handle.cancel()
        raise
    rate_hz = OPENAI_RATE_HZ if asked.response_format in ("pcm", "opus") else source.engine.sample_rate_hz
    sound = _sound(handle, first, frames, rate_hz)
    data = _encoded(asked.response_format, sound, rate_hz)
    headers = {"X-Sample-Rate": str(rate_hz), "Cache-Control": "no-store"}
    if asked.stream_format == "sse":
        return StreamingResponse(_events(data), media_type="text/event-stream", headers=headers)
    kind = _KINDS[asked.response_format]
    if asked.response_format == "pcm":
        kind += f";rate={rate_hz};channels=1"
    return StreamingResponse(data, media_type=kind, headers=headers)


async def _sound(
    handle: SpeechHandle, first: Frame | None, frames: AsyncIterator[Frame], rate_hz: int
) -> AsyncIterator[Pcm]:
    """All of it at one rate; a client that leaves ends the utterance."""
    resampler = Resampler(rate_hz)
    try:
        if first is not None:
            yield resampler.push(first.pcm)
        async for frame in frames:
            yield resampler.push(frame.pcm)
        yield resampler.flush()
    finally:
        handle.cancel()


async def _encoded(form: str, sound: AsyncIterator[Pcm], rate_hz: int) -> AsyncIterator[bytes]:
    encoder = Encoder(form, rate_hz) if form in FORMATS else None
    if form == "wav":
        yield endless_header(rate_hz)
    async for pcm in sound:
        if len(pcm):
            data = pcm.to_s16le() if encoder is None else await asyncio.to_thread(encoder.push, pcm)
            if data:
                yield data
    if encoder is not None:
        yield await asyncio.to_thread(encoder.flush)


async def _events(data: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """OpenAI's events of a speech stream."""
    async for chunk in data:
        yield _event({"type": "speech.audio.delta", "audio": base64.b64encode(chunk).decode()})
    yield _event({"type": "speech.audio.done", "usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}})


def _event(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _in_words(fault: ValidationError) -> str:
    first = fault.errors()[0]
    where = ".".join(str(part) for part in first["loc"]) or "the body"
    return f"{where}: {first['msg']}"
