"""`firstword bench peers`: Firstword, Pipecat and LiveKit Agents on the same recordings, voice, recogniser and brain.

The systems of a setting are up together and take turns, question by question, so that a busy machine troubles all
alike; the microphone of the others is shut meanwhile. The one rule: each is given what its documentation advises, and
where its settings differ from its defaults, they are in the result.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from asr import Silero, hear
from benchmarks.machine import head
from benchmarks.peers import scenes
from benchmarks.peers.brain import Brain, serving_brain
from benchmarks.peers.loudspeaker import RATE_HZ
from benchmarks.peers.person import Person
from benchmarks.peers.scenes import LINES, Seen, read_wrongly
from benchmarks.peers.systems import SYSTEMS, System, refuse_unprepared, started, versions
from benchmarks.questions import QUESTIONS, Question, Spoken, record
from benchmarks.spread import spread
from firstword.hearing import recogniser_for
from firstword.settings import Settings
from firstword.voices import engine_for
from sound import Pcm

INTERRUPTION = Question("Stop, that is not what I asked.")
TIMES = 5
# Seven in one breath, five with a pause for thought inside.
_ASKED = tuple(QUESTIONS[n] for n in (1, 6, 4, 8, 5, 11, 10, 12, 16, 17, 13, 0))
Doing = Callable[[Person, Seen], Awaitable[None]]


async def measure(
    settings: Settings, *, repeats: int, quick: bool, told: Callable[[str], None], only: Sequence[str] = ()
) -> dict[str, Any]:
    """All scenes before every system; the interruptions at the defaults alone. Raises `BenchRefused` without the peers.

    `only` leaves out the systems that are not named; `quick`: one question each.
    """
    chosen = [system for system in SYSTEMS if not only or system.kind in only or system.name in only]
    if any(system.kind != "firstword" for system in chosen):
        refuse_unprepared()
    engine = engine_for(settings)
    warm, stop, *asked = record(engine, [Question("Hello there."), INTERRUPTION, *(_ASKED[:1] if quick else _ASKED)])
    seen: dict[str, Seen] = {system.name: Seen() for system in chosen}
    async with serving_brain(scenes.SHORT) as (brain, brain_url):
        for setting in ("defaults", "fast"):
            systems = [system for system in chosen if system.name.endswith(setting)]
            told(f"starting {', '.join(system.name for system in systems)}")
            async with contextlib.AsyncExitStack() as opened:
                people = {
                    system.name: await opened.enter_async_context(started(system, settings, brain_url))
                    for system in systems
                }
                await _in_turns(people, seen, told, _scenes(brain, warm, stop, asked * repeats, quick, setting))
    heard = _heard(settings, seen)
    return {
        "bench": "peers",
        **head(
            threads=settings.engine_threads, models={"listen": settings.listen_model, "voice": settings.voice_model}
        ),
        "peer_versions": versions() if any(system.kind != "firstword" for system in chosen) else {},
        "questions": len(asked) * repeats,
        "systems": {system.name: summary(system, seen[system.name], heard[system.name]) for system in chosen},
    }


def _scenes(
    brain: Brain, warm: Spoken, stop: Spoken, asked: Sequence[Spoken], quick: bool, setting: str
) -> list[tuple[str, Doing]]:
    """Everything that is done before each, in order. The first is not counted, and left out with `quick`."""

    def asking(one: Spoken) -> Doing:
        return lambda person, seen: scenes.ask(person, brain, one.pcm, seen, paused=one.question.pause_ms > 0)

    doing: list[tuple[str, Doing]] = [(one.question.text, asking(one)) for one in asked]
    if quick:
        return doing
    doing.insert(0, ("a first question", lambda person, _: asking(warm)(person, Seen())))
    if setting != "defaults":
        return doing
    question = asked[0].pcm
    doing += [
        ("an interruption", lambda person, seen: scenes.interrupt(person, brain, question, stop.pcm, seen))
        for _ in range(TIMES)
    ]
    doing += [
        ("a cough", lambda person, seen, sound=sound: scenes.cough(person, brain, question, sound, seen))  # type: ignore[misc]
        for sound in scenes.coughs(TIMES)
    ]
    doing += [
        ("a hard line", lambda person, seen, line=line: scenes.read(person, brain, question, line, seen))  # type: ignore[misc]
        for line in LINES
    ]
    # Last: who answers himself without end is hard to talk to afterwards.
    doing += [("a loudspeaker", lambda person, seen: scenes.echo(person, brain, question, seen)) for _ in range(3)]
    return doing


async def _in_turns(
    people: Mapping[str, Person],
    seen: Mapping[str, Seen],
    told: Callable[[str], None],
    doing: Sequence[tuple[str, Doing]],
) -> None:
    for n, (name, do) in enumerate(doing, 1):
        told(f"{n} of {len(doing)}: {name}")
        for system, person in people.items():
            if seen[system].hung_up:
                continue
            person.listen(on=True)
            try:
                await person.wait(0.3)
                await do(person, seen[system])
            except ConnectionError as gone:
                seen[system].hung_up = f"{name}: {gone}"
                told(f"{system} hung up")
            finally:
                person.listen(on=False)


def _heard(settings: Settings, seen: Mapping[str, Seen]) -> dict[str, list[tuple[str, str]]]:
    """What the recogniser hears of the hard lines that were read aloud."""
    if not any(one.read for one in seen.values()):
        return {name: [] for name in seen}
    recogniser, silero = recogniser_for(settings), Silero()
    return {
        name: [
            (
                text,
                " ".join(said.text for said in hear(Pcm(samples, RATE_HZ), recogniser, silero, language="en")),
            )
            for text, samples in one.read
        ]
        for name, one in seen.items()
    }


def summary(system: System, seen: Seen, heard: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """What came of one system. Shares are of `times` each; None where a scene was not played."""
    lines = {line.text: line for line in LINES}
    wrong = [text for text, words in heard if read_wrongly(lines[text], words)]
    stopped = [value for value in seen.silence_ms if value is not None]
    return {
        "settings": dict(system.settings) or "its defaults",
        "hung_up": seen.hung_up,
        "questions": len(seen.first_word_ms),
        "unanswered": sum(
            value is None and not cut for value, cut in zip(seen.first_word_ms, seen.cut_off, strict=True)
        ),
        "first_word_ms": spread([value for value in seen.first_word_ms if value is not None]),
        "paused": sum(seen.paused),
        "cut_off": sum(seen.cut_off),
        "interruptions": len(seen.silence_ms),
        "not_stopped": len(seen.silence_ms) - len(stopped),
        "silence_ms": spread(stopped),
        "coughs": len(seen.coughs_lost),
        "coughs_lost": sum(seen.coughs_lost),
        "echoes": len(seen.echoes_interrupted),
        "echoes_interrupted": sum(seen.echoes_interrupted),
        "echo_questions": sum(seen.echo_questions),
        "lines": len(heard),
        "lines_wrong": len(wrong),
        "wrong": [{"text": text, "heard": words} for text, words in heard if text in wrong],
    }


def table(result: Mapping[str, Any]) -> str:
    """The result for a terminal."""
    rows = [
        f"{'system':20}{'p50 ms':>8}{'p95 ms':>8}{'cut off':>9}{'silence ms':>12}{'coughs lost':>13}{'echo':>7}"
        f"{'misread':>9}"
    ]
    for name, one in result["systems"].items():
        first = one["first_word_ms"]
        rows.append(
            f"{name:20}{first['p50'] or '-':>8}{first['p95'] or '-':>8}{_of(one, 'cut_off', 'questions'):>9}"
            f"{one['silence_ms']['p50'] or '-':>12}{_of(one, 'coughs_lost', 'coughs'):>13}"
            f"{_of(one, 'echoes_interrupted', 'echoes'):>7}{_of(one, 'lines_wrong', 'lines'):>9}"
        )
    rows += [f"{name}: {one['settings']}" for name, one in result["systems"].items()]
    rows.append(", ".join(f"{name} {version}" for name, version in result["peer_versions"].items()))
    return "\n".join(rows)


def _of(one: Mapping[str, Any], part: str, whole: str) -> str:
    return f"{one[part]}/{one[whole]}" if one[whole] else "-"
