"""The receipt of one answer: where its wait went.

Numbers and names, never words. The one rule: a moment that did not come is None, not 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asr.events import Judged, SpeechEnded, Words

if TYPE_CHECKING:
    from voice.answer import Answer


@dataclass(slots=True)
class Measured:
    """What listening measured of the turn that is being answered, and what was made for nothing."""

    ended_at: float | None = None
    words_at: float | None = None
    committed_at: float | None = None
    heard_at_s: float | None = None
    waited_ms: float | None = None
    recognise_ms: float | None = None
    verdict: str = ""
    decided_by: str = ""
    sound: float | None = None
    wasted: int = 0

    def words(self, event: Words, now: float) -> None:
        """The final words of a generation, known at `now` on the session's clock."""
        self.words_at = now
        self.recognise_ms = event.recognise_ms
        self.verdict, self.decided_by, self.sound = event.verdict, "words", None

    def judged(self, event: Judged) -> None:
        """What the judge made of them."""
        self.verdict, self.decided_by, self.sound = event.verdict, event.decided_by, event.sound

    def ended(self, event: SpeechEnded, at: float, now: float) -> None:
        """The commit at `now`; `at` is the end of speech; both on the session's clock."""
        self.committed_at = now
        self.ended_at, self.heard_at_s, self.waited_ms = at, event.at_s, event.waited_ms
        self.verdict = event.verdict


def trace_of(answer: Answer, measured: Measured, *, interrupted: bool, fallen: str | None = None) -> dict[str, Any]:
    """The fields of `firstword.trace`. Times in ms; `heard_at` is seconds of sound since the microphone opened; `sound`
    is how likely the turn was over by its melody, 0 to 1; `fallen` is why the voice stopped working, with the first
    answer since. `moments` are ms after the end of speech: what was prepared while the silence was waited for may come
    before the commit.
    """
    times = answer.times
    moments = {
        "words": measured.words_at,
        "asked": times.asked_at,
        "first_token": times.first_token_at,
        "first_sound": times.first_frame_at,
        "committed": measured.committed_at,
        "audible": times.first_audible_at,
    }
    return {
        "response_id": answer.response_id,
        "heard_at": measured.heard_at_s,
        "eot_wait_ms": _rounded(measured.waited_ms),
        "words_ms": _rounded(measured.recognise_ms),
        "first_token_ms": _between(times.asked_at, times.first_token_at),
        "first_sound_ms": _between(times.first_token_at, times.first_frame_at),
        "first_word_ms": _between(measured.ended_at, times.first_audible_at),
        "moments": {name: _between(measured.ended_at, at) for name, at in moments.items()},
        "verdict": measured.verdict,
        "decided_by": measured.decided_by,
        "sound": None if measured.sound is None else round(measured.sound, 3),
        "speculated": answer.speculated,
        "wasted": measured.wasted,
        "cushion_ms": _rounded(answer.cushion_s * 1000),
        "underruns": answer.playout.dry,
        "interrupted": interrupted,
        "fallen": fallen,
        "provider": answer.trace.get("provider", ""),
        "model": answer.trace.get("model", ""),
        "run": answer.trace.get("run", ""),
        "tokens": {
            "prompt": answer.trace.get("prompt_tokens"),
            "completion": answer.trace.get("completion_tokens"),
        },
    }


def _between(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else _rounded((end - start) * 1000)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
