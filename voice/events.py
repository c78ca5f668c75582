"""What happens to a turn, and what is to be done about it: the events and commands of `converse.py`.

Values only. Listening's four events (`asr/events.py`) are events here too. The one rule: an answer is named by a number
that is never used again, so that what comes late from an abandoned one is known by its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from asr.events import ListenEvent

Mode = Literal["open", "push", "typed", "muted"]
Phase = Literal["listening", "hearing", "pausing", "thinking", "speaking", "held"]
Who = Literal["person", "own", "nobody"]
# Why an answer was dropped before it was heard: the person went on, the words changed, it broke, somebody cancelled.
Why = Literal["went_on", "changed", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Sound over the bar while the assistant is audible: perhaps a person.

    `voiced_s`: so much of it has had a person's pitch. `leaks`: our own voice comes back here, or may.
    """

    voiced_s: float = float("inf")
    leaks: bool = False


@dataclass(frozen=True, slots=True)
class Voiced:
    """So much of the candidate has had a person's pitch by now; `leaks`: our own voice may still be in it."""

    seconds: float
    leaks: bool = True


@dataclass(frozen=True, slots=True)
class Committed:
    """The key was released, or the client committed its sound: words are on their way."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A typed line, or any line that did not come through the microphone."""

    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """The client asks for an answer to what has been said."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The client wants the answer to stop."""


@dataclass(frozen=True, slots=True)
class Audible:
    """The first sound of `answer` went out."""

    answer: int


@dataclass(frozen=True, slots=True)
class Said:
    """What `answer` says so far, for telling our own voice."""

    answer: int
    text: str


@dataclass(frozen=True, slots=True)
class AllSent:
    """All sound of `answer` has left: it is over within a third of a second."""

    answer: int


@dataclass(frozen=True, slots=True)
class Drained:
    """`answer` has been played to its end, or ended without a sound."""

    answer: int


@dataclass(frozen=True, slots=True)
class Broke:
    """`answer` failed before it made a sound."""

    answer: int


@dataclass(frozen=True, slots=True)
class SetMode:
    """The way in changed."""

    mode: Mode


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passed."""


TurnEvent = (
    ListenEvent | Candidate | Voiced | Committed | Typed | Asked | Cancelled | Audible | Said | AllSent | Drained
    | Broke | SetMode | Tick
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prepare:
    """Begin to make `answer` to `text` (after what is in the history), and let nothing of it out. "" adds no line."""

    answer: int
    text: str


@dataclass(frozen=True, slots=True)
class LetGo:
    """`answer` may be shown and heard."""

    answer: int


@dataclass(frozen=True, slots=True)
class Discard:
    """Stop making `answer`; nobody heard any of it."""

    answer: int
    why: Why


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Stop `answer`, which was partly heard; keep what was. `by_person` is false where the client cancelled."""

    answer: int
    by_person: bool


@dataclass(frozen=True, slots=True)
class Hold:
    """Pause playback of `answer`."""

    answer: int


@dataclass(frozen=True, slots=True)
class Resume:
    """Play on at the same sample."""

    answer: int


@dataclass(frozen=True, slots=True)
class Line:
    """Show and keep the person's line. It comes once a turn and generation."""

    text: str
    spoken: bool


@dataclass(frozen=True, slots=True)
class Live:
    """Show the words as they come."""

    text: str


@dataclass(frozen=True, slots=True)
class Started:
    """Tell the client that a person speaks."""

    at_s: float


@dataclass(frozen=True, slots=True)
class Stopped:
    """Tell the client that the person has finished."""

    at_s: float


@dataclass(frozen=True, slots=True)
class Nobody:
    """An utterance came to nothing. `wanted` says that the client waits for an answer to it."""

    wanted: bool


@dataclass(frozen=True, slots=True)
class CloseTurn:
    """The listener's turn is closed: the next speech is a turn of its own."""


@dataclass(frozen=True, slots=True)
class ForgetSound:
    """What the listener holds is not wanted."""


@dataclass(frozen=True, slots=True)
class Learn:
    """Tell the bar who the candidate was: somebody, the assistant itself, or nobody."""

    who: Who


Command = (
    Prepare | LetGo | Discard | Interrupt | Hold | Resume | Line | Live | Started | Stopped | Nobody | CloseTurn
    | ForgetSound | Learn
)  # fmt: skip
