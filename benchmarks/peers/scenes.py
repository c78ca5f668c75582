"""What the person does before each system, and what is counted of it.

Five scenes: questions, interruptions, coughs, a loudspeaker that leaks into the microphone, and texts that are hard to
read aloud. The one rule: a scene is the same for every system, and what is counted is what sounded and how often the
loudspeaker was cleared, never what a system says of itself: who speculates asks the brain in vain and is not heard.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.peers.brain import Brain
from benchmarks.peers.loudspeaker import RATE_HZ
from benchmarks.peers.person import Person
from sound import Pcm, Samples, resample

# 219 characters, about twelve seconds.
LONG = (
    "The museum opens at nine o'clock. Tickets are sold at the gate and in the shop beside it. On Sundays the garden "
    "is free for people who live in the town. If it rains, the tour begins in the large hall on the first floor."
)
SHORT = "The museum opens at nine o'clock. Tickets are sold at the gate."
LEAK = 0.35
# After the last sample of a question an answer has this long to begin.
_PATIENCE_S = 8.0
_INTO_S = 1.5
_ECHO_S = 20.0
_QUIET_S = 1.2


@dataclass(frozen=True, slots=True)
class Line:
    """A text to read aloud: words that must be heard and words that must not, as patterns."""

    text: str
    wants: tuple[str, ...] = ()
    refuses: tuple[str, ...] = ()


LINES = (
    Line("The gate is **always** open.", ("always",), ("aster", "star")),
    Line("# Hours\n\n- Monday\n- Friday", ("monday", "friday"), ("hash", "pound", "dash", "minus")),
    Line(
        "It costs $12.50 a day.", (r"(twelve|12)( dollars)?( and)? ?(fifty|\.? ?50)",), ("dollar twelve", "five zero")
    ),
    Line("Ask Dr. Smith, e.g. on Monday.", ("doctor|dr", "for (example|instance)"), ("egg", r"\be g\b")),
    Line("Well done! 🎉 See you soon.", ("well done", "see you soon"), ("emoji", "party", "popper")),
    Line("We meet at 14:30 in room 5.", (r"(fourteen|14|two|2)[ :.]*(thirty|30)",), ("hundred", "colon")),
    Line("Read [the plan](https://example.org/plan) first.", ("the plan", "first"), ("http", "slash", "example")),
    Line("It is 20 °C, about 50 % humid.", ("degrees", "percent|%"), ("degree sign",)),
)


@dataclass(slots=True)
class Seen:
    """What came of a system's scenes. Times in ms; `None` where nothing sounded."""

    first_word_ms: list[float | None] = field(default_factory=list)
    paused: list[bool] = field(default_factory=list)
    cut_off: list[bool] = field(default_factory=list)
    silence_ms: list[float | None] = field(default_factory=list)
    coughs_lost: list[bool] = field(default_factory=list)
    echoes_interrupted: list[bool] = field(default_factory=list)
    echo_questions: list[int] = field(default_factory=list)
    read: list[tuple[str, Samples]] = field(default_factory=list)
    hung_up: str = ""


async def ask(person: Person, brain: Brain, pcm: Pcm, seen: Seen, *, paused: bool) -> None:
    """A question; the beginning of speech to its end is known, and so is when something sounded."""
    brain.script = SHORT
    person.loudspeaker.forget()
    samples = resample(pcm, RATE_HZ).samples
    end_s = await person.say(samples) + end_of_speech_s(samples)
    first = await _until_first(person, end_s)
    await person.until_quiet(quiet_s=_QUIET_S, limit_s=12.0)
    # An answer sounded before the end, or was broken off for another: the pause was taken for the end.
    cut = first is not None and (first < end_s or person.loudspeaker.broken_off > 0)
    seen.first_word_ms.append(None if first is None or cut else round((first - end_s) * 1000, 1))
    seen.paused.append(paused)
    seen.cut_off.append(cut)


async def interrupt(person: Person, brain: Brain, question: Pcm, words: Pcm, seen: Seen) -> None:
    """A question, and somebody who talks over the answer: from their first sample to the last that sounded."""
    if not await _long_answer(person, brain, question):
        seen.silence_ms.append(None)
        return
    samples = resample(words, RATE_HZ).samples
    onset_s = await person.say(samples) + onset_of_s(samples)
    until_s = person.now
    last = person.loudspeaker.last_audible_s(until_s)
    stopped = last is not None and until_s - last > 0.15
    seen.silence_ms.append(round((last - onset_s) * 1000, 1) if stopped and last is not None else None)
    await person.until_quiet(quiet_s=2.5, limit_s=25.0)


async def cough(person: Person, brain: Brain, question: Pcm, sound: Samples, seen: Seen) -> None:
    """A question, and a cough over the answer: lost where it is broken off."""
    if not await _long_answer(person, brain, question):
        return
    await person.say(sound)
    await person.until_quiet(quiet_s=3.5, limit_s=30.0)
    seen.coughs_lost.append(_broken_off(person))


async def echo(person: Person, brain: Brain, question: Pcm, seen: Seen) -> None:
    """A question with the loudspeaker in the room: whatever interrupts the answer is the answer itself."""
    brain.script = LONG
    person.loudspeaker.forget()
    person.leak = LEAK
    try:
        asked = brain.asked
        await person.say(resample(question, RATE_HZ).samples)
        await person.wait(_ECHO_S)
        seen.echo_questions.append(max(0, brain.asked - asked - 1))
        seen.echoes_interrupted.append(_broken_off(person))
    finally:
        person.leak = 0.0
    await person.until_quiet(quiet_s=3.0, limit_s=30.0)


async def read(person: Person, brain: Brain, question: Pcm, line: Line, seen: Seen) -> None:
    """A question whose answer is hard to read aloud; what sounded is kept for a recogniser."""
    brain.script = line.text
    person.loudspeaker.forget()
    await person.say(resample(question, RATE_HZ).samples)
    await _until_first(person, person.now)
    await person.until_quiet(quiet_s=1.5, limit_s=15.0)
    seen.read.append((line.text, person.loudspeaker.all()))


def read_wrongly(line: Line, heard: str) -> bool:
    """Whether what a recogniser heard of a line misses what must be heard, or holds what must not."""
    words = heard.casefold()
    return any(not re.search(want, words) for want in line.wants) or any(re.search(bad, words) for bad in line.refuses)


# Three quarters of the long answer: less of it sounded where it was broken off.
_LONG_LEAST_S = 8.0


def _broken_off(person: Person) -> bool:
    """Whether the long answer was broken off: it is cleared while it sounds, or most of it never sounds."""
    sounded = int(np.count_nonzero(person.loudspeaker.all()))
    return person.loudspeaker.broken_off > 0 or sounded < _LONG_LEAST_S * RATE_HZ


async def _long_answer(person: Person, brain: Brain, question: Pcm) -> bool:
    """Ask for the long answer and listen to its beginning; False where none came."""
    brain.script = LONG
    person.loudspeaker.forget()
    samples = resample(question, RATE_HZ).samples
    end_s = await person.say(samples) + end_of_speech_s(samples)
    if await _until_first(person, end_s) is None:
        return False
    await person.wait(_INTO_S)
    return True


async def _until_first(person: Person, end_s: float) -> float | None:
    """When the first sample sounded, or None once patience is over."""
    while person.now < end_s + _PATIENCE_S:
        first = person.loudspeaker.first_audible_s(0.0)
        if first is not None:
            return first
        await person.wait(0.02)
    return None


def end_of_speech_s(samples: Samples) -> float:
    """Where `Pcm.loud` ends, from the first sample."""
    loud = Pcm(samples, RATE_HZ).loud
    return loud[1] / RATE_HZ if loud else 0.0


def onset_of_s(samples: Samples) -> float:
    """Where it begins."""
    loud = Pcm(samples, RATE_HZ).loud
    return loud[0] / RATE_HZ if loud else 0.0


def coughs(count: int, *, rate_hz: int = RATE_HZ) -> Sequence[Samples]:
    """Coughs of our own making: no recording, and for every system the same."""
    from sound.noises import cough as made

    found = []
    for seed in range(count):
        sound = made(np.random.default_rng(seed), rate_hz).astype(np.float32)
        found.append(0.3 * sound / max(1e-6, float(np.abs(sound).max())))
    return found
