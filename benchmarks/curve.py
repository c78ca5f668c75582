"""The curve of waiting: how long an answer waits for each choice of waits, and how often somebody is cut off. Pure
but for `pauses_in`, which listens once with the longest waits so that every pause is seen to its end.

The one rule: what the judge said at each pause is kept as it was said, so that any waits can be tried on it afterwards.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asr import Ear, Judged, Judgement, Listener, ListenEvent, ListenSettings, SpeechPaused, SpeechStarted, Verdict
from asr.activity import WINDOW
from asr.endpoint import GRADES, WAIT_MS, graded_ms, manner
from benchmarks.spread import spread
from benchmarks.utterances import RATE_HZ, Utterance
from sound import Pcm

_TICK_MS = WINDOW / RATE_HZ * 1000
_COMPLETE_MS = (96.0, 160.0, 192.0, 224.0, 256.0, 288.0, 416.0)
_UNSURE_MS = (320.0, 416.0, 544.0, 608.0)
# An end so long before the last speech is no end.
EARLY_S = 0.25
# Scales every wait past the longest: nobody is cut off while we look.
_FOR_EVER = 100.0
_UNJUDGED = Judgement("unsure", "")


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence and what the judge said of the words before it. The last one of an utterance has no length.

    `noticed_ms` is how long after the last audible sample the detector's speech ended; `manner` is what the waits are
    multiplied by for how the utterance was heard.
    """

    silence_ms: float | None
    judgement: Judgement
    noticed_ms: float = 0.0
    manner: float = 1.0


async def pauses_in(ear: Ear, utterance: Utterance, *, crowded: bool) -> list[Pause]:
    """The pauses that the detector finds in an utterance, its end among them."""
    listener = Listener(ear, settings=ListenSettings(wait=_FOR_EVER, partials=False))
    for at in range(0, len(utterance.samples), RATE_HZ // 50):
        listener.push(Pcm(utterance.samples[at : at + RATE_HZ // 50], RATE_HZ))
        await listener.settled()
    await listener.close()
    return pauses([event async for event in listener.events()], utterance.end / RATE_HZ, crowded=crowded)


def pauses(events: Sequence[ListenEvent], end_s: float, *, crowded: bool = False) -> list[Pause]:
    """The pauses in `events` of one utterance whose last speech is at `end_s`."""

    def heard_as(spoke_s: float, judged: Judgement) -> float:
        return manner(judged.verdict, voiced_ms=spoke_s * 1000, crowded=crowded)

    found: list[Pause] = []
    began_s = paused_s = 0.0
    pausing = False
    judged = _UNJUDGED
    for event in events:
        if isinstance(event, SpeechPaused):
            paused_s, pausing, judged = event.at_s, True, _UNJUDGED
        elif isinstance(event, Judged):
            judged = Judgement(event.verdict, event.decided_by, event.sound)
        elif isinstance(event, SpeechStarted):
            if not pausing:
                began_s = event.at_s
                continue
            if paused_s >= end_s - EARLY_S:
                break
            found.append(Pause((event.at_s - paused_s) * 1000, judged, manner=heard_as(paused_s - began_s, judged)))
            pausing = False
    if pausing:
        found.append(Pause(None, judged, (paused_s - end_s) * 1000, heard_as(paused_s - began_s, judged)))
    return found


def by_verdict(waits_ms: Mapping[Verdict, float]) -> Callable[[Judgement], float]:
    """One wait for each verdict, however sure the sound was of it."""
    return lambda judgement: waits_ms[judgement.verdict]


def outcome(found: Sequence[Pause], wait_ms: Callable[[Judgement], float]) -> tuple[bool, float | None]:
    """Whether these waits cut the utterance off, and how long after the last speech they end it."""
    cut_off, ended_ms = False, None
    for pause in found:
        wait = -(-wait_ms(pause.judgement) * pause.manner // _TICK_MS) * _TICK_MS
        if pause.silence_ms is None:
            ended_ms = pause.noticed_ms + wait
        elif pause.silence_ms > wait:
            cut_off = True
    return cut_off, ended_ms


def curve(utterances: Sequence[Sequence[Pause]]) -> list[dict[str, Any]]:
    """A row for each choice of waits, ours first: the wait for the end, and the share of utterances cut off, in %."""
    rows = [{"waits_ms": [*(ms for _, ms in GRADES), *WAIT_MS.values()], **_tried(utterances, graded_ms)}]
    for complete, unsure in itertools.product(_COMPLETE_MS, _UNSURE_MS):
        waits: dict[Verdict, float] = {**WAIT_MS, "complete": complete, "unsure": unsure}
        rows.append({"waits_ms": list(waits.values()), **_tried(utterances, by_verdict(waits))})
    return rows


def _tried(utterances: Sequence[Sequence[Pause]], wait_ms: Callable[[Judgement], float]) -> dict[str, Any]:
    outcomes = [outcome(found, wait_ms) for found in utterances]
    return {
        "wait_ms": spread([ended_ms for _, ended_ms in outcomes if ended_ms is not None]),
        "cut_off": round(100 * sum(cut for cut, _ in outcomes) / max(1, len(outcomes)), 2),
    }
