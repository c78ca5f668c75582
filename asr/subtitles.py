"""Utterances in the five shapes in which a transcription is asked for. Pure; it reads no sound.

The one rule: what a client of the official library parses is what is written here, field for field.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from asr.hear import Heard

# A subtitle longer than this is cut between words: two lines of 42 characters, as broadcasters have it.
_LONGEST_CHARS = 84
_NAMES = {
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "ja": "japanese",
    "nl": "dutch",
    "pt": "portuguese",
    "zh": "chinese",
}


def plain(heard: Sequence[Heard]) -> str:
    """The text alone."""
    return " ".join(one.text for one in heard)


def verbose(heard: Sequence[Heard], *, language: str, duration_s: float, words: bool, segments: bool) -> dict[str, Any]:
    """OpenAI's `verbose_json`."""
    body: dict[str, Any] = {
        "task": "transcribe",
        "language": _NAMES.get(language, language),
        "duration": round(duration_s, 3),
        "text": plain(heard),
    }
    if segments:
        body["segments"] = [
            {
                "id": number,
                "seek": 0,
                "start": one.start_s,
                "end": one.end_s,
                "text": one.text,
                "tokens": [],
                "temperature": 0.0,
                "avg_logprob": round(one.mean_log_probability, 4),
                "compression_ratio": round(one.compression, 4),
                "no_speech_prob": round(one.no_speech, 4),
            }
            for number, one in enumerate(heard)
        ]
    if words:
        body["words"] = [
            {"word": word.text, "start": word.start_s, "end": word.end_s} for one in heard for word in one.words
        ]
    return body


def srt(heard: Sequence[Heard]) -> str:
    """SubRip."""
    cues = [
        f"{number}\n{_clock(start, ',')} --> {_clock(end, ',')}\n{text}\n"
        for number, (start, end, text) in enumerate(_cues(heard), start=1)
    ]
    return "\n".join(cues)


def vtt(heard: Sequence[Heard]) -> str:
    """WebVTT."""
    cues = [f"{_clock(start, '.')} --> {_clock(end, '.')}\n{text}\n" for start, end, text in _cues(heard)]
    return "\n".join(["WEBVTT\n", *cues])


def _cues(heard: Sequence[Heard]) -> list[tuple[float, float, str]]:
    cues: list[tuple[float, float, str]] = []
    for one in heard:
        if len(one.text) <= _LONGEST_CHARS or not one.words:
            cues.append((one.start_s, one.end_s, one.text))
            continue
        held: list[str] = []
        start_s = one.start_s
        for word in one.words:
            if held and len(" ".join([*held, word.text])) > _LONGEST_CHARS:
                cues.append((start_s, word.start_s, " ".join(held)))
                held, start_s = [], word.start_s
            held.append(word.text)
        cues.append((start_s, max(start_s, one.end_s), " ".join(held)))
    return cues


def _clock(at_s: float, point: str) -> str:
    ms = max(0, round(at_s * 1000))
    hours, ms = divmod(ms, 3_600_000)
    minutes, ms = divmod(ms, 60_000)
    seconds, ms = divmod(ms, 1000)
    return f"{hours:02}:{minutes:02}:{seconds:02}{point}{ms:03}"
