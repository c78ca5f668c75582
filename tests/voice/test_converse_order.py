"""The turn: every event in any order."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from turn_kit import ended, started, words

from asr.events import SpeechEnded, SpeechPaused
from voice.converse import step
from voice.events import (
    AllSent,
    Asked,
    Audible,
    Broke,
    Cancelled,
    Candidate,
    Committed,
    Discard,
    Drained,
    Hold,
    Interrupt,
    LetGo,
    Line,
    Prepare,
    Resume,
    Said,
    SetMode,
    Tick,
    TurnEvent,
    Typed,
    Voiced,
)
from voice.state import State


class AnyOrder(RuleBasedStateMachine):
    """Every event in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.state = State()
        self.now = 0.0
        self.live: int | None = None
        self.let_go: set[int] = set()
        self.over: set[int] = set()
        self.lines: set[tuple[int, int]] = set()
        self.held: int | None = None

    def feed(self, event: TurnEvent) -> None:
        before = self.state
        self.state, commands = step(self.state, event, self.now)
        for command in commands:
            match command:
                case Prepare(number, _):
                    assert self.live is None
                    assert number not in self.over
                    self.live = number
                case LetGo(number):
                    assert self.live == number
                    assert number not in self.let_go
                    self.let_go.add(number)
                case Discard(number, _) | Interrupt(number, _):
                    assert self.live == number
                    self.end()
                case Hold(number):
                    assert (self.live, self.held) == (number, None)
                    self.held = number
                case Resume(number):
                    assert self.live == self.held == number
                    self.held = None
                case Line(text, spoken):
                    assert text.strip()
                    if spoken:
                        assert isinstance(event, SpeechEnded)
                        stamp = (event.turn, event.generation)
                        assert stamp not in self.lines
                        self.lines.add(stamp)
                case _:
                    pass
        if isinstance(event, Drained) and before.answer and self.state.answer is None and self.live is not None:
            self.end()

    def end(self) -> None:
        assert self.live is not None
        self.over.add(self.live)
        self.live = self.held = None

    stamps = {"turn": st.integers(0, 3), "generation": st.integers(0, 2)}  # noqa: RUF012
    texts = st.sampled_from(["", " ", "hello there", "stop", "mhm", "the shop opens at nine"])
    answers = st.integers(0, 6)

    @rule(**stamps)
    def speech_starts(self, turn: int, generation: int) -> None:
        self.feed(started(turn, generation))

    @rule(**stamps)
    def speech_pauses(self, turn: int, generation: int) -> None:
        self.feed(SpeechPaused(turn, generation, 1.0))

    @rule(
        **stamps,
        text=texts,
        final=st.booleans(),
        verdict=st.sampled_from(["complete", "unsure", "incomplete"]),
    )
    def words_come(self, turn: int, generation: int, text: str, final: bool, verdict: str) -> None:
        self.feed(words(text, turn, generation, final=final, verdict=verdict))

    @rule(**stamps)
    def speech_ends(self, turn: int, generation: int) -> None:
        self.feed(ended(turn, generation))

    @rule(text=texts)
    def a_line_is_typed(self, text: str) -> None:
        self.feed(Typed(text))

    @rule(voiced_s=st.sampled_from([0.0, 0.1, 0.2, 1.0]), leaks=st.booleans())
    def somebody_may_speak(self, voiced_s: float, leaks: bool) -> None:
        self.feed(Candidate(voiced_s, leaks))

    @rule(voiced_s=st.sampled_from([0.0, 0.1, 0.2, 1.0]), leaks=st.booleans())
    def it_has_a_voice(self, voiced_s: float, leaks: bool) -> None:
        self.feed(Voiced(voiced_s, leaks))

    @rule(event=st.sampled_from([Candidate(), Committed(), Asked(), Cancelled(), Tick()]))
    def something_happens(self, event: TurnEvent) -> None:
        self.feed(event)

    @rule(answer=answers, what=st.sampled_from([Audible, AllSent, Drained, Broke]))
    def an_answer_comes_along(self, answer: int, what: type) -> None:
        self.feed(what(answer))

    @rule(answer=answers)
    def an_answer_says(self, answer: int) -> None:
        self.feed(Said(answer, "The shop opens at nine."))

    @rule(mode=st.sampled_from(["open", "push", "typed", "muted"]))
    def the_way_in_changes(self, mode: str) -> None:
        self.feed(SetMode(mode))  # type: ignore[arg-type]

    @rule(seconds=st.floats(0.0, 40.0))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.feed(Tick())

    @invariant()
    def the_state_fits_the_answer(self) -> None:
        answer = self.state.answer
        assert (answer.id if answer else None) == self.live
        if self.state.phase in ("thinking", "speaking", "held"):
            assert answer is not None
            assert answer.let_go
        else:
            assert answer is None or not answer.let_go
        assert (self.state.phase == "held") == (self.held is not None)

    def teardown(self) -> None:
        """It always comes back to listening: silence, and the answer's end."""
        self.now += 100
        self.feed(Tick())
        if self.state.answer is not None and self.state.answer.let_go:
            self.feed(Audible(self.state.answer.id))
            self.feed(Drained(self.state.answer.id))
        if self.state.phase in ("hearing", "pausing"):
            self.feed(SpeechEnded(9, 9, 3.0, "complete", 240.0))
        if self.state.answer is not None:
            self.feed(Drained(self.state.answer.id))
        assert self.state.phase == "listening"


AnyOrder.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestAnyOrder = AnyOrder.TestCase
