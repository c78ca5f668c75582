"""`POST /v1/audio/transcriptions`: OpenAI's shape, recognised here.

It holds no model: who may ask says the grant, what was said says the recogniser. The one rule: the body is counted as
it arrives, so that nobody fills the memory with what would be refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.types import Message

from asr.activity import Silero
from asr.errors import LanguageRefused
from asr.hear import hear_on
from asr.recogniser import Recogniser
from asr.subtitles import plain, srt, verbose, vtt
from grant.http import error_response, granted, refusal
from grant.signer import GrantRefused, Signer
from models.lanes import Lane, LanesClosed
from sound import NotSound, read_recording

# OpenAI's own limit for a recording; the envelope around it is small.
LONGEST_FILE_BYTES = 25 * 1024 * 1024
_ENVELOPE_BYTES = 64 * 1024
# Twenty-five megabytes of a lossy format can be a day; this is as much as one request may hold in memory as samples.
_LONGEST_S = 3 * 3600.0
_FORMATS = ("json", "text", "srt", "verbose_json", "vtt")
_GRAINS = ("word", "segment")


@dataclass(frozen=True, slots=True)
class HearingSource:
    """What hears: a recogniser with the lane it runs on, the detector of voices, and the language heard by default."""

    recogniser: Recogniser
    lane: Lane
    silero: Silero
    language: str = "en"


@dataclass(frozen=True, slots=True)
class _Asked:
    data: bytes
    name: str
    language: str
    hint: str
    shape: str
    grains: frozenset[str]


class _Wrong(Exception):
    """A request that cannot be answered, with its status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def create_transcriptions(
    source: HearingSource | Callable[[], HearingSource | None] | None, signer: Signer
) -> APIRouter:
    """The route. `source` (or what it gives when called) is None where this server cannot hear: 503, in words."""
    router = APIRouter()

    @router.post("/v1/audio/transcriptions")
    async def transcriptions(request: Request) -> Response:
        try:
            granted(signer, request.headers)
            hearing = source() if callable(source) else source
            if hearing is None:
                raise _Wrong(503, "this server cannot hear yet; fetch the weights: firstword models pull")
            return await _answer(await _read(request, hearing.language), hearing)
        except GrantRefused:
            return refusal()
        except _Wrong as wrong:
            kind = "invalid_request_error" if wrong.status < 500 else "server_error"
            return error_response(wrong.status, str(wrong), type_=kind)
        except LanesClosed:
            return error_response(503, "the server is stopping", type_="server_error")

    return router


async def _answer(asked: _Asked, source: HearingSource) -> Response:
    known = source.recogniser.languages
    if known is not None and asked.language not in known:
        raise _Wrong(400, str(LanguageRefused(asked.language, source.recogniser.name, known)))
    try:
        pcm = await source.lane.run(lambda: read_recording(asked.data, name=asked.name), deadline_s=float("inf"))
    except NotSound as fault:
        raise _Wrong(400, str(fault)) from fault
    if pcm.duration_s > _LONGEST_S:
        raise _Wrong(413, f"{pcm.duration_s / 3600:.1f} hours are more than {_LONGEST_S / 3600:.0f}; cut the recording")
    try:
        steps = hear_on(source.lane, pcm, source.recogniser, source.silero, language=asked.language, hint=asked.hint)
        heard = [one async for one in steps]
    except LanguageRefused as fault:
        raise _Wrong(400, str(fault)) from fault
    if asked.shape == "text":
        return PlainTextResponse(plain(heard) + "\n")
    if asked.shape == "srt":
        return PlainTextResponse(srt(heard))
    if asked.shape == "vtt":
        return PlainTextResponse(vtt(heard), media_type="text/vtt")
    usage = {"type": "duration", "seconds": max(1, round(pcm.duration_s))}
    if asked.shape == "json":
        return JSONResponse({"text": plain(heard), "usage": usage})
    body = verbose(
        heard,
        language=asked.language,
        duration_s=pcm.duration_s,
        words="word" in asked.grains,
        segments="segment" in asked.grains or not asked.grains,
    )
    return JSONResponse({**body, "usage": usage})


async def _read(request: Request, language: str) -> _Asked:
    form = await _form(request)
    try:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise _Wrong(400, "there is no recording: send one as the multipart field 'file'")
        data = await file.read()
        name = file.filename or "the recording"
    finally:
        await form.close()
    if len(data) > LONGEST_FILE_BYTES:
        raise _too_large()
    if _text(form, "stream").lower() in {"true", "1"}:
        raise _Wrong(400, "stream is not served here; ask without it, or listen live on /v1/realtime")
    shape = _text(form, "response_format") or "json"
    if shape not in _FORMATS:
        raise _Wrong(400, f"response_format {shape!r} is not served; choose one of {', '.join(_FORMATS)}")
    fields = ("timestamp_granularities[]", "timestamp_granularities")
    grains = frozenset(str(grain) for field in fields for grain in form.getlist(field))
    if not grains <= set(_GRAINS):
        raise _Wrong(400, f"timestamp_granularities are {' and '.join(_GRAINS)}, not {', '.join(sorted(grains))}")
    spoken = (_text(form, "language") or language).lower().split("-")[0]
    return _Asked(data, name, spoken, _text(form, "prompt"), shape, grains)


async def _form(request: Request) -> FormData:
    """The multipart body, refused as soon as it is too long."""
    most = LONGEST_FILE_BYTES + _ENVELOPE_BYTES
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most:
        raise _too_large()
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise _too_large()

    async def receive() -> Message:
        return {"type": "http.request", "body": bytes(body), "more_body": False}

    try:
        return await Request(request.scope, receive).form(max_files=1, max_fields=32)
    except HTTPException as fault:
        raise _Wrong(
            400, f"the body is not a form that can be read ({fault.detail}); send multipart/form-data"
        ) from fault
    except MultiPartException as fault:
        raise _Wrong(
            400, f"the body is not a form that can be read ({fault.message}); send multipart/form-data"
        ) from fault


def _text(form: FormData, field: str) -> str:
    value: Any = form.get(field)
    return value.strip() if isinstance(value, str) else ""


def _too_large() -> _Wrong:
    return _Wrong(413, f"the recording is larger than {LONGEST_FILE_BYTES // (1024 * 1024)} MB; cut or compress it")
