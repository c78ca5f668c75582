"""Where a conversation stands: the value that `converse.py` steps from and to.

It decides nothing. The one rule: there is at most one answer in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from voice.events import Mode, Phase


@dataclass(frozen=True, slots=True)
class Answer:
    """The one answer there is: prepared, then let go, then audible."""

    id: int
    text: str
    let_go: bool = False
    audible: bool = False
    ending: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """Where the conversation stands. The fields of the second block are the session's choices."""

    phase: Phase = "listening"
    turn: int = -1
    generation: int = -1
    closed: tuple[int, int] = (-1, -1)
    words: str = ""
    started_at_s: float = 0.0
    answer: Answer | None = None
    answers: int = 0
    since: float = 0.0
    speech_in_hold: bool = False
    voiced_s: float = float("inf")
    leaks: bool = False
    said: str = ""
    said_until: float = float("-inf")
    committing_until: float = float("-inf")
    wanted: bool = False

    mode: Mode = "open"
    preempt: bool = True
    respond: bool = True
    interruptible: bool = True
    language: str = "en"
