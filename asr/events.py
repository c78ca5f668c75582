"""What listening says: five events. They are values; they know nothing of sockets or sessions.

Times (`*_s`) are seconds of sound since the microphone was opened, so that they mean the same in a test and on a bad
network. The one rule: every event carries its turn and its generation, and whoever holds a newer generation of that
turn drops it.

A turn begins with the person's first sound. Speech that comes back before the answer was heard continues the same turn
under the next generation. Within one generation the order is: SpeechStarted, (Words partial)*, SpeechPaused,
Words final, Judged, SpeechEnded. The final words come as soon as they are known, which may be long before SpeechEnded:
that is the speculation. If speech comes back first, a SpeechStarted of the next generation voids them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

Verdict = Literal["complete", "unsure", "incomplete"]


@dataclass(frozen=True, slots=True)
class Word:
    """One recognised word with where it was said: in seconds from the start of what was recognised, in an event from
    the opening of the microphone."""

    text: str
    start_s: float
    end_s: float
    probability: float


def moved(words: Iterable[Word], by_s: float) -> tuple[Word, ...]:
    """`words`, said `by_s` seconds later."""
    return tuple(replace(w, start_s=round(w.start_s + by_s, 3), end_s=round(w.end_s + by_s, 3)) for w in words)


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """Somebody began to speak at `at_s` (the first speech sample, not when it was noticed)."""

    turn: int
    generation: int
    at_s: float


@dataclass(frozen=True, slots=True)
class SpeechPaused:
    """No speech since `at_s` (the last speech sample); this may or may not be the end."""

    turn: int
    generation: int
    at_s: float


@dataclass(frozen=True, slots=True)
class Words:
    """Words heard. `final` ones cover everything uncommitted up to `speech_end_s`; `text` is "" where nobody spoke.

    `stable` is the beginning of a partial that two guesses in a row agree on, and all of the final text. `verdict` is
    what the words alone say of the phrase (partials carry "unsure"), and `recognise_ms` what the recogniser took.
    `words` have their times where `ListenSettings.word_times` asks for them. `no_speech` and `mean_log_probability` are
    the recogniser's own doubts; 0 from one that has none to tell.
    """

    kind: Literal["partial", "final"]
    turn: int
    generation: int
    text: str
    language: str
    speech_end_s: float
    words: tuple[Word, ...] = ()
    verdict: Verdict = "unsure"
    recognise_ms: float = 0.0
    stable: str = ""
    no_speech: float = 0.0
    mean_log_probability: float = 0.0


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether the phrase is over, by every witness there is; `decided_by` is which one decided.

    `sound` is how likely the sound's witness thinks that, 0 to 1; None where it was not asked.

    The sound's witness takes nearly as long as the words took, and they do not wait for it: an answer to words that
    look whole is begun meanwhile.
    """

    turn: int
    generation: int
    verdict: Verdict
    decided_by: str
    sound: float | None = None


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    """The turn is committed: the words of this generation stand. `waited_ms` is the silence that was waited for."""

    turn: int
    generation: int
    at_s: float
    verdict: Verdict
    waited_ms: float


ListenEvent = SpeechStarted | SpeechPaused | Words | Judged | SpeechEnded
