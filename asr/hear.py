"""Hearing a recording: the utterances in it, with their words, times, and what each took.

It shares activity and recogniser with live listening but waits for nobody: a recording has no turn to end. The one
rule: each utterance is a job of its own, so that a live conversation goes between two of them.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

from asr.activity import Activity, Silero, Tick
from asr.ear import Stretch
from asr.events import Word, moved
from asr.features import RATE_HZ
from asr.intake import Intake
from asr.recogniser import Recogniser
from asr.utterance import quietest
from models.lanes import Lane
from sound import Pcm, Samples

# Speech with less silence than this between is one utterance: a sentence keeps its pauses, subtitles stay readable.
_JOIN = round(0.6 * RATE_HZ)
_BEFORE = round(0.4 * RATE_HZ)
_AFTER = round(0.2 * RATE_HZ)
_LONGEST = 28 * RATE_HZ
_CUT_WITHIN = 4 * RATE_HZ
# Looking for speech in this much sound takes about 30 ms: then others have their turn on the lane.
_BREATHER = 5 * RATE_HZ


@dataclass(frozen=True, slots=True)
class Heard:
    """One utterance of a recording. Times are seconds from the recording's start; so are those of its words."""

    text: str
    start_s: float
    end_s: float
    words: tuple[Word, ...]
    recognise_ms: float
    no_speech: float
    mean_log_probability: float
    compression: float


@dataclass(frozen=True, slots=True)
class _Span:
    begin: int
    end: int
    voiced: int


def hear(
    pcm: Pcm,
    recogniser: Recogniser,
    silero: Silero,
    *,
    language: str = "en",
    hint: str = "",
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Heard]:
    """The utterances in `pcm`, one after the other. Blocking; on a lane use `hear_on`."""
    steps = _steps(pcm, recogniser, silero, language, hint, clock)
    return (heard for heard in steps if heard is not None)


async def hear_on(
    lane: Lane, pcm: Pcm, recogniser: Recogniser, silero: Silero, *, language: str = "en", hint: str = ""
) -> AsyncIterator[Heard]:
    """The same on a lane, behind everybody who is waiting for an answer."""
    steps = lane.stream(
        lambda: _steps(pcm, recogniser, silero, language, hint, time.perf_counter), deadline_s=float("inf")
    )
    async for heard in steps:
        if heard is not None:
            yield heard


def _steps(
    pcm: Pcm, recogniser: Recogniser, silero: Silero, language: str, hint: str, clock: Callable[[], float]
) -> Iterator[Heard | None]:
    """The utterances, and None wherever a job should end because it has been at it for long enough."""
    intake = Intake()
    # Silence behind the end, so that the last window of a short recording is judged and its filter is emptied.
    samples = intake.push(Pcm.join([pcm.mono(), Pcm.silence(0.3, pcm.rate_hz)]))
    for span in _spans(samples, silero):
        if span is None:
            yield None
            continue
        at = max(0, span.begin - _BEFORE)
        cut = samples[at : span.end + _AFTER]
        if not Stretch(cut, span.begin - at, span.end - at, span.voiced).somebody:
            continue
        began = clock()
        heard = recogniser.recognise(Pcm(cut, RATE_HZ), language=language, hint=hint, word_times=True)
        took_ms = (clock() - began) * 1000
        if not heard.text:
            continue
        start_s = at / RATE_HZ
        words = moved(heard.words, start_s)
        yield Heard(
            heard.text,
            round(span.begin / RATE_HZ, 3),
            round(min(span.end, len(samples)) / RATE_HZ, 3),
            words,
            round(took_ms, 1),
            heard.no_speech,
            heard.mean_log_probability,
            heard.compression,
        )


def _spans(samples: Samples, silero: Silero) -> Iterator[_Span | None]:
    """Where somebody speaks, pauses inside a sentence included, at most 28 s each; None now and then."""
    span: _Span | None = None
    for tick in Activity(silero).push(samples):
        if tick.start // _BREATHER != tick.stop // _BREATHER:
            yield None
        if not tick.speech:
            continue
        if span is None:
            span = _begun(tick)
        elif tick.onset - span.end > _JOIN:
            yield span
            span = _begun(tick)
        else:
            span = _Span(span.begin, tick.stop, span.voiced + tick.stop - tick.start)
        if span.end - span.begin > _LONGEST:
            at = span.end - _CUT_WITHIN + quietest(samples[span.end - _CUT_WITHIN : span.end])
            rest = span.end - at
            yield _Span(span.begin, at, span.voiced - rest)
            span = _Span(at, span.end, rest)
    if span is not None:
        yield span


def _begun(tick: Tick) -> _Span:
    return _Span(tick.onset, tick.stop, tick.stop - tick.onset)
