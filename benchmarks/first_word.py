"""`firstword bench first-word`: from the words to the first audible sample, by engine, by text and by way of speaking.

Four ways of one text: whole, its first sentence whole, its opening whole, and as a conversation speaks it (cut, on a
lane, from inside the piece). The one rule: the ways of a text take turns inside one run, and each time ends where
somebody would hear something: at the first sample over the audible bound, the silence before it included.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from benchmarks.machine import head
from benchmarks.spread import spread
from firstword.settings import Settings
from firstword.voices import ENGINES, EngineName, engine_for
from models import Lane, Lanes, ModelsError
from sound import Pcm
from tts import Cutter, Engine, NoVoice, Speaker, sentences, speakable, spoken

WAYS = ("one_piece", "sentence_first", "opening", "streamed")
REPEATS = 9
# A piece may take as long as an engine needs that is too slow to converse with: here it is measured.
LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Text:
    """What is spoken, and its language."""

    words: str
    language: str = "en"


TEXTS: Mapping[str, Text] = {
    "four sentences": Text(
        "The museum opens at nine o'clock. Tickets are sold at the gate and in the shop beside it. On Sundays the "
        "garden is free for people who live in the town. If it rains, the tour begins in the large hall on the "
        "first floor."
    ),
    "clause at 60": Text(
        "When the last boat has left the harbour late in the evening, the lamps along the quay are put out one by one "
        "and the town goes quiet. Nobody minds."
    ),
    "twelve words": Text("The train to the coast leaves from platform four at half past."),
    "no clause": Text(
        "The old man who had kept the lighthouse on the northern point for more than forty years walked down to the "
        "village every Saturday morning with an empty basket on his arm and came back before noon with bread and "
        "cheese and the letters that the postman had left for him at the shop beside the church on the square."
    ),
    "cjk": Text("こんにちは。今日は天気がとてもいいです。午後は公園まで散歩しましょう。", "ja"),
    "markdown list": Text(
        "## What to bring\n\n- **Boots** that are dry\n- A *warm* coat\n- Something to eat: bread, cheese, apples\n\n"
        "See [the plan](https://example.org/plan) for the way."
    ),
}


async def measure(
    settings: Settings, *, engines: Sequence[EngineName] = (), repeats: int = REPEATS, texts: Sequence[str] = ()
) -> dict[str, Any]:
    """Every text by every engine that can be had (or those named). Raises `NoVoice` where a named one cannot."""
    wanted = {name: TEXTS[name] for name in texts or TEXTS}
    results = {}
    for name in engines or ENGINES:
        try:
            engine = engine_for(settings, name)
        except (NoVoice, ModelsError):
            if engines:
                raise
            continue
        lanes = Lanes()
        try:
            results[name] = await _engine(engine, plain_engine(settings, name), lanes.lane(name), wanted, repeats)
        finally:
            lanes.close()
    return {
        "bench": "first-word",
        **head(
            threads=settings.engine_threads, models={"voice": settings.voice_model, "kokoro": settings.kokoro_model}
        ),
        "repeats": repeats,
        "engines": results,
    }


def plain_engine(settings: Settings, name: EngineName) -> Engine:
    """The engine as it comes: Piper by the graph as it is exported, a piece at a time."""
    return engine_for(settings.model_copy(update={"streaming": False}), name)


async def _engine(engine: Engine, whole: Engine, lane: Lane, texts: Mapping[str, Text], repeats: int) -> dict[str, Any]:
    for each in (engine, whole):
        await lane.run(each.warm)
    taken: dict[str, dict[str, list[float]]] = {name: {way: [] for way in WAYS} for name in texts}
    for _ in range(repeats):
        for name, text in texts.items():
            for way in WAYS:
                taken[name][way].append(await _once(way, engine, whole, lane, text))
    return {name: summary(text.words, taken[name]) for name, text in texts.items()}


async def _once(way: str, engine: Engine, whole: Engine, lane: Lane, text: Text) -> float:
    if way == "streamed":
        return await _streamed(engine, lane, text)
    said = part_of(way, text)
    return await lane.run(lambda: _whole(whole, said, text.language))


def part_of(way: str, text: Text) -> str:
    """What an engine is given that does not stream: all of it, the first sentence, or the opening."""
    clean = speakable(text.words)
    if way == "one_piece":
        return spoken(clean, text.language)
    if way == "sentence_first":
        return spoken(sentences(clean, text.language)[0], text.language)
    cutter = Cutter(language=text.language)
    return [*cutter.push(clean), *cutter.flush()][0].spoken


def _whole(engine: Engine, said: str, language: str) -> float:
    started = time.perf_counter()
    parts = list(engine.speak(said, language=language))
    made_s = time.perf_counter() - started
    return heard_ms([(made_s, Pcm.join(parts))])


async def _streamed(engine: Engine, lane: Lane, text: Text) -> float:
    started = time.perf_counter()
    handle = Speaker(engine, lane, limit_s=LIMIT_S).say(text.words, language=text.language)
    arrived: list[tuple[float, Pcm]] = []
    async with aclosing(handle.frames()) as frames:  # type: ignore[type-var]
        async for frame in frames:
            arrived.append((time.perf_counter() - started, frame.pcm))
            if frame.pcm.first_audible is not None:
                break
    handle.cancel()
    await handle.done()
    # A step that had begun runs to its end; the next way waits for it, so that it is not measured with it.
    await lane.run(lambda: None)
    return heard_ms(arrived)


def heard_ms(arrived: Sequence[tuple[float, Pcm]]) -> float:
    """When the first audible sample sounds, where playing begins with the first stretch and waits for late ones.

    `arrived` holds stretches of sound with the second at which each was there. Raises `ValueError` where none is heard.
    """
    plays_s = 0.0
    for at_s, pcm in arrived:
        plays_s = max(plays_s, at_s)
        audible = pcm.first_audible
        if audible is not None:
            return (plays_s + audible / pcm.rate_hz) * 1000
        plays_s += pcm.duration_s
    raise ValueError("no sample of it is audible")


def summary(words: str, taken: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """The spread of each way in ms, and what streaming takes of the plain way at the median."""
    medians = {way: statistics.median(taken[way]) for way in WAYS}
    return {
        "characters": len(words),
        **{f"{way}_ms": spread(taken[way]) for way in WAYS},
        "ratio": round(medians["streamed"] / medians["one_piece"], 3),
    }


def table(result: dict[str, Any]) -> str:
    """The result as a table for a terminal."""
    lines = [f"{'engine':11}{'text':16}" + "".join(f"{way:>16}" for way in WAYS) + f"{'ratio':>8}"]
    for engine, texts in result["engines"].items():
        for name, found in texts.items():
            figures = "".join(f"{found[f'{way}_ms']['p50']:>16}" for way in WAYS)
            lines.append(f"{engine:11}{name:16}{figures}{found['ratio']:>8}")
    lines.append(f"ms to the first audible sample, median of {result['repeats']}")
    return "\n".join(lines)
