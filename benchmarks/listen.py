"""`firstword bench turn --stage listen`: last speech to final words, ours against the stock faster-whisper call.

Forty utterances, each in one of three rooms or in all. The stock way waits for 500 ms of silence and calls `transcribe`
as it comes; ours is the session's own listener, fed as a microphone feeds it. The one rule: both hear the same samples,
in one run.
"""

from __future__ import annotations

import asyncio
import importlib
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from asr import Activity, Ear, Listener, ListenEvent, ListenSettings, Silero, SpeechEnded, Words
from asr.endpoint import GRADES, WAIT_MS
from benchmarks.curve import EARLY_S, Pause, curve, pauses_in
from benchmarks.machine import head
from benchmarks.rooms import among_people, babble, impulse_response, in_a_room
from benchmarks.spread import spread
from benchmarks.upkeep import measure_upkeep
from benchmarks.utterances import RATE_HZ, Name, Utterance, lines, spoken
from benchmarks.word_errors import word_errors
from firstword.hearing import ear_for, store_for
from firstword.settings import Settings
from firstword.voices import engine_for
from models import Lanes
from sound import Pcm, Samples

ROOMS = ("clean", "babble", "room")
# What a plain pipeline waits for before it calls the recogniser.
STOCK_SILENCE_MS = 500.0
# An end that comes later than this after the last speech is late.
LATE_MS = 700.0
_FRAME = RATE_HZ // 50
# The beginning of an utterance is handed over at once; from this long before its end on, as a microphone does.
_LIVE_S = 0.8
_GIVEN_UP_S = 2.9
_STOCK_BEFORE, _STOCK_AFTER = round(0.4 * RATE_HZ), round(0.2 * RATE_HZ)


@dataclass(frozen=True, slots=True)
class Turned:
    """What one way made of one utterance; times in milliseconds after the last speech, None where they never came."""

    said: str
    heard: str
    words_ms: float | None
    end_ms: float | None
    call_ms: float
    cut_off: bool


async def measure(settings: Settings, *, which: Name = "exam", repeats: int = 1, quick: bool = False) -> dict[str, Any]:
    """Hear every utterance in both ways; gives the result object.

    Each is heard in one of the rooms, with `repeats` of three in all of them. `quick`: two of them, for shape.
    """
    said = lines(which)[-2:] if quick else lines(which)
    lanes = Lanes()
    try:
        ear = ear_for(settings, lanes.lane("ear"))
        stock = Stock(settings, ear.silero)
        ear.warm()
        stock.warm()
        turns: dict[str, dict[str, list[Turned]]] = {"stock": {}, "ours": {}}
        pauses: list[list[Pause]] = []
        heard_in = rooms(settings, said)
        for number, room in itertools.chain(*(_round(n, len(said)) for n in range(repeats))):
            utterance = heard_in[room][number]
            turns["stock"].setdefault(room, []).append(stock.hear(utterance))
            turns["ours"].setdefault(room, []).append(await hear_live(ear, utterance))
            pauses.append(await pauses_in(ear, utterance, crowded=room == "babble"))
    finally:
        lanes.close()
    return {
        "bench": "listen",
        **head(
            threads=settings.engine_threads, models={"listen": settings.listen_model, "voice": settings.voice_model}
        ),
        "set": which,
        "utterances": len(said),
        "repeats": repeats,
        "waits_ms": dict(WAIT_MS),
        "graded_ms": [list(grade) for grade in GRADES],
        **summary(turns),
        "curve": curve(pauses),
        "upkeep": await measure_upkeep(quick=quick),
    }


def _round(number: int, count: int) -> list[tuple[int, str]]:
    """Which utterance is heard in which room in round `number`."""
    return [(n, ROOMS[(n + number) % len(ROOMS)]) for n in range(count)]


def rooms(settings: Settings, said: Sequence[str]) -> dict[str, list[Utterance]]:
    """The lines, spoken by the local voice, in each room."""
    engine = engine_for(settings)
    utterances = [spoken(line, lambda text: Pcm.join(engine.speak(text))) for line in said]
    speech = [utterance.samples[: utterance.end] for utterance in utterances]
    response = impulse_response(RATE_HZ)

    def change(room: str, number: int, samples: Samples) -> Samples:
        if room == "babble":
            # Everybody else's sentences, so that nobody talks over himself.
            others = [one for at, one in enumerate(speech) if at != number] or speech
            return among_people(samples, babble(others, len(samples), seed=number))
        return in_a_room(samples, response) if room == "room" else samples

    return {
        room: [one.heard_as(change(room, number, one.samples)) for number, one in enumerate(utterances)]
        for room in ROOMS
    }


class Stock:
    """The plain way: 500 ms of silence, and the library's call on its 30 s window.

    The voice detector is ours: with Silero alone it would wait for ever among people.
    """

    def __init__(self, settings: Settings, silero: Silero) -> None:
        faster_whisper: Any = importlib.import_module("faster_whisper")
        folder = store_for(settings).path(settings.listen_model)
        threads = settings.heavy_threads
        self._model = faster_whisper.WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=threads)
        self._silero = silero
        self._language = settings.language

    def warm(self) -> None:
        """One call, so that the first utterance does not pay for it."""
        self._call(Pcm.silence(1.0, RATE_HZ).samples)

    def hear(self, utterance: Utterance) -> Turned:
        """What it hears, and when: the silence in samples, the call on the clock."""
        texts: list[str] = []
        cut_off = False
        for begin, stop, ended in self._stretches(utterance.samples):
            began = time.perf_counter()
            texts.append(self._call(utterance.samples[max(0, begin - _STOCK_BEFORE) : stop + _STOCK_AFTER]))
            call_ms = (time.perf_counter() - began) * 1000
            if stop < utterance.end - EARLY_S * RATE_HZ:
                cut_off = True
                continue
            words_ms = (ended - utterance.end) / RATE_HZ * 1000 + call_ms
            return Turned(utterance.text, " ".join(texts), words_ms, words_ms, call_ms, cut_off)
        return Turned(utterance.text, " ".join(texts), None, None, 0.0, cut_off)

    def _stretches(self, samples: Samples) -> list[tuple[int, int, int]]:
        """Where speech begins and stops, and where it has been silent for long enough."""
        found: list[tuple[int, int, int]] = []
        begin = stop = 0
        speaking = False
        for tick in Activity(self._silero, foreground=True).push(samples):
            if tick.speech:
                begin, speaking = (begin if speaking else tick.onset), True
                stop = tick.stop
            elif speaking and tick.stop - stop >= STOCK_SILENCE_MS / 1000 * RATE_HZ:
                found.append((begin, stop, tick.stop))
                speaking = False
        return found

    def _call(self, samples: Samples) -> str:
        segments, _ = self._model.transcribe(samples, language=self._language)
        return " ".join(segment.text.strip() for segment in segments)


async def hear_live(ear: Ear, utterance: Utterance, *, settings: ListenSettings | None = None) -> Turned:
    """What the session's listener hears, fed as a microphone feeds it, on the clock."""
    listener = Listener(ear, settings=settings)
    loop = asyncio.get_running_loop()
    came: list[tuple[float, ListenEvent]] = []
    over = asyncio.Event()
    end_s = utterance.end / RATE_HZ

    async def read() -> None:
        async for event in listener.events():
            came.append((loop.time(), event))
            if isinstance(event, SpeechEnded) and event.at_s >= end_s - EARLY_S:
                over.set()

    reading = asyncio.create_task(read())
    frames = [Pcm(utterance.samples[at : at + _FRAME], RATE_HZ) for at in range(0, len(utterance.samples), _FRAME)]
    live_from = max(0, round((end_s - _LIVE_S) * RATE_HZ) // _FRAME)
    for frame in frames[:live_from]:
        listener.push(frame)
        await listener.settled()
    opened = loop.time() - live_from * _FRAME / RATE_HZ
    for number, frame in enumerate(frames[live_from:], live_from + 1):
        await asyncio.sleep(max(0.0, opened + number * _FRAME / RATE_HZ - loop.time()))
        listener.push(frame)
        if over.is_set() or loop.time() > opened + end_s + _GIVEN_UP_S:
            break
    await listener.close()
    await reading
    return turned(utterance, came, opened + end_s)


def turned(utterance: Utterance, came: Sequence[tuple[float, ListenEvent]], end_at: float) -> Turned:
    """What the events say: `came` is each with the second at which it came, `end_at` the second of the last speech."""
    end_s = utterance.end / RATE_HZ
    words: dict[tuple[int, int], tuple[float, Words]] = {}
    texts: list[str] = []
    cut_off = False
    for at, event in came:
        if isinstance(event, Words) and event.kind == "final":
            words[event.turn, event.generation] = (at, event)
        elif isinstance(event, SpeechEnded):
            words_at, final = words[event.turn, event.generation]
            texts.append(final.text)
            if event.at_s < end_s - EARLY_S:
                cut_off = True
                continue
            words_ms, end_ms = (words_at - end_at) * 1000, (at - end_at) * 1000
            return Turned(utterance.text, " ".join(texts), words_ms, end_ms, final.recognise_ms, cut_off)
    return Turned(utterance.text, " ".join(texts), None, None, 0.0, cut_off)


def summary(turns: dict[str, dict[str, list[Turned]]]) -> dict[str, Any]:
    """Each way in each room and in all; and what the goal is measured by, as ratios and differences inside the run."""
    ways = {
        way: {
            **{room: figures(heard) for room, heard in by_room.items()},
            "all": figures(list(itertools.chain(*by_room.values()))),
        }
        for way, by_room in turns.items()
    }
    ours, plain = ways["ours"]["all"], ways["stock"]["all"]
    goal = {
        "words_ratio": _ratio(ours["words_ms"]["p50"], plain["words_ms"]["p50"]),
        "end_ratio": _ratio(ours["end_ms"]["p50"], plain["end_ms"]["p50"]),
        "call_ratio": _ratio(ours["call_ms"]["p50"], plain["call_ms"]["p50"]),
        "word_errors_more": round(ours["word_errors"] - plain["word_errors"], 2),
    }
    return {"ways": ways, "goal": goal}


def figures(turns: Sequence[Turned]) -> dict[str, Any]:
    """Times in milliseconds, errors and shares in percent."""
    wrong = [word_errors(turn.heard, turn.said) for turn in turns]
    said = sum(words for _, words in wrong)
    return {
        "utterances": len(turns),
        "words_ms": spread([turn.words_ms for turn in turns if turn.words_ms is not None]),
        "end_ms": spread([turn.end_ms for turn in turns if turn.end_ms is not None]),
        "call_ms": spread([turn.call_ms for turn in turns if turn.words_ms is not None]),
        "word_errors": _percent(sum(errors for errors, _ in wrong), said),
        "cut_off": _percent(sum(turn.cut_off for turn in turns), len(turns)),
        "late": _percent(sum(turn.end_ms is None or turn.end_ms > LATE_MS for turn in turns), len(turns)),
    }


def _percent(part: float, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 0.0


def _ratio(ours: float | None, plain: float | None) -> float | None:
    return round(ours / plain, 3) if ours is not None and plain else None


def table(result: dict[str, Any]) -> str:
    """The result as tables for a terminal."""
    columns = ("words p50", "p95", "end p50", "p95", "call p50", "errors %", "cut off %", "late %")
    lines_ = [f"{'way':14}{'room':8}" + "".join(f"{column:>11}" for column in columns)]
    for way, by_room in result["ways"].items():
        for room, row in by_room.items():
            cells = [row[name][part] for name in ("words_ms", "end_ms") for part in ("p50", "p95")]
            cells += [row["call_ms"]["p50"], row["word_errors"], row["cut_off"], row["late"]]
            lines_.append(f"{way:14}{room:8}" + "".join(f"{'-' if c is None else c:>11}" for c in cells))
    goal = result["goal"]
    lines_.append(
        f"ours / stock: final words {goal['words_ratio']}, end of turn {goal['end_ratio']}, call {goal['call_ratio']}; "
        f"{goal['word_errors_more']:+} points of word errors"
    )
    lines_.append(f"{'waits ms (graded; then one a verdict)':42}{'wait p50':>10}{'wait p95':>10}{'cut off %':>11}")
    for row in result["curve"]:
        waits = " ".join(f"{wait:.0f}" for wait in row["waits_ms"])
        lines_.append(f"{waits:42}{row['wait_ms']['p50']:>10}{row['wait_ms']['p95']:>10}{row['cut_off']:>11}")
    for name, value in result["upkeep"].items():
        lines_.append(f"{name}: {value}")
    return "\n".join(lines_)
