"""A conversation fed by hand, and what listening says, for the tests of the turn."""

from __future__ import annotations

from asr.events import SpeechEnded, SpeechPaused, SpeechStarted, Words
from voice.converse import step
from voice.events import Audible, Command, Said, Tick, TurnEvent
from voice.state import State


class Talk:
    """A conversation fed by hand."""

    def __init__(self, **chosen: object) -> None:
        self.state = State(**chosen)  # type: ignore[arg-type]
        self.now = 0.0

    def __call__(self, *events: TurnEvent) -> list[Command]:
        done: list[Command] = []
        for event in events:
            self.state, commands = step(self.state, event, self.now)
            done += commands
        return done

    def later(self, seconds: float) -> list[Command]:
        self.now += seconds
        return self(Tick())

    def speaking(self, text: str = "The shop opens at nine. It closes at five.") -> int:
        """A question was asked and its answer is audible; gives the answer's number."""
        self(*utterance("when does it open", turn=0))
        answer = self.state.answer
        assert answer is not None
        self(Said(answer.id, text), Audible(answer.id))
        assert self.state.phase == "speaking"
        return answer.id


def started(turn: int = 1, generation: int = 0) -> SpeechStarted:
    return SpeechStarted(turn, generation, 1.0)


def words(text: str, turn: int = 1, generation: int = 0, *, final: bool = True, verdict: str = "complete") -> Words:
    return Words("final" if final else "partial", turn, generation, text, "en", 2.0, verdict=verdict)  # type: ignore[arg-type]


def ended(turn: int = 1, generation: int = 0) -> SpeechEnded:
    return SpeechEnded(turn, generation, 2.0, "complete", 240.0)


def utterance(text: str, turn: int = 1, generation: int = 0) -> list[TurnEvent]:
    return [
        started(turn, generation),
        SpeechPaused(turn, generation, 2.0),
        words(text, turn, generation),
        ended(turn, generation),
    ]


def kinds(commands: list[Command]) -> list[type]:
    return [type(command) for command in commands]
