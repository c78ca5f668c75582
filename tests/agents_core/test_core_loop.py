"""The decision, on awkward rows."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_core.events import Ceilings
from agents_core.loop import AskModel, Call, CallTool, Finish, Run, SayUnknown, Step, decide, time_left_s

CALL = Call("c1", "look", "{}")
OTHER = Call("c2", "look", "{}")
ROOMY = Run(Ceilings(), 0.0)


def model(n: int, text: str = "", *, calls: tuple[Call, ...] = (), spent: int = 0) -> Step:
    return Step(n, "model", text=text, calls=calls, spent=spent)


ASKED = (model(0, calls=(CALL,)),)
BEGUN = (*ASKED, Step(1, "tool", call_id="c1", open=True))
TWINS = (model(0, calls=(CALL, Call("c1", "stamp", "{}"))), Step(1, "tool", call_id="c1"))
CASES = {
    "nothing-happened-yet": (ROOMY, (), 1.0, AskModel()),
    "answered": (ROOMY, (model(0, "Yes."),), 1.0, Finish("answered")),
    "only-blank": (ROOMY, (model(0, " \n"),), 1.0, Finish("nothing_to_add")),
    "asks-for-a-tool": (ROOMY, ASKED, 1.0, CallTool(CALL)),
    "second-of-two-calls": (
        ROOMY,
        (model(0, calls=(CALL, OTHER)), Step(1, "tool", call_id="c1")),
        1.0,
        CallTool(OTHER),
    ),
    "begun-and-nobody-knows": (ROOMY, BEGUN, 1.0, SayUnknown(CALL, 1)),
    "begun-and-cancelled": (Run(Ceilings(), 0.0, cancelled=True), BEGUN, 1.0, Finish("cancelled")),
    "begun-and-out-of-everything": (Run(Ceilings(0, 0, 0), 0.0), BEGUN, 1.0, SayUnknown(CALL, 1)),
    "begun-and-its-call-is-nowhere": (ROOMY, BEGUN[1:], 1.0, SayUnknown(Call("c1", "a tool", "{}"), 1)),
    "begun-was-put-down-as-unknown": (ROOMY, (*ASKED, Step(1, "tool", "?", call_id="c1")), 1.0, AskModel()),
    "two-calls-with-one-id": (ROOMY, TWINS, 1.0, CallTool(Call("c1", "stamp", "{}"))),
    "two-calls-with-one-id-both-answered": (ROOMY, (*TWINS, Step(2, "tool", call_id="c1")), 1.0, AskModel()),
    "broken-off-and-out-of-time": (
        Run(Ceilings(minutes=1), 0.0),
        (Step(0, "model", text="Well, ", cut=True),),
        60.0,
        Finish("out_of_time"),
    ),
    "broken-off-and-there-is-time": (ROOMY, (Step(0, "model", text="Well, ", cut=True),), 1.0, AskModel()),
    "the-tool-answered": (ROOMY, (*ASKED, Step(1, "tool", call_id="c1")), 1.0, AskModel()),
    "cancelled-before-its-tool": (Run(Ceilings(), 0.0, cancelled=True), ASKED, 1.0, Finish("cancelled")),
    "answered-with-the-last-step": (Run(Ceilings(steps=1), 0.0), (model(0, "Yes."),), 1.0, Finish("answered")),
    "out-of-steps": (Run(Ceilings(steps=1), 0.0), ASKED, 1.0, Finish("out_of_steps")),
    "spent-to-the-millionth": (
        Run(Ceilings(spend=10), 0.0),
        (model(0, calls=(CALL,), spent=10),),
        1.0,
        Finish("out_of_money"),
    ),
    "one-millionth-left": (Run(Ceilings(spend=10), 0.0), (model(0, calls=(CALL,), spent=9),), 1.0, CallTool(CALL)),
    "no-money-at-all": (Run(Ceilings(spend=0), 0.0), (), 1.0, Finish("out_of_money")),
    "exactly-out-of-time": (Run(Ceilings(minutes=1), 0.0), (), 60.0, Finish("out_of_time")),
    "still-in-time": (Run(Ceilings(minutes=1), 0.0), (), 59.9, AskModel()),
    "a-clock-that-is-no-number": (ROOMY, (), math.nan, Finish("out_of_time")),
    "a-ceiling-that-is-no-number": (Run(Ceilings(minutes=math.nan), 0.0), (), 1.0, Finish("out_of_time")),
    "the-clock-went-back": (ROOMY, (), -5.0, AskModel()),
}


@pytest.mark.parametrize(
    ("run", "steps", "now_s", "decision"), [pytest.param(*c, id=name) for name, c in CASES.items()]
)
def test_what_is_next(run: Run, steps: tuple[Step, ...], now_s: float, decision: object) -> None:
    assert decide(run, steps, now_s) == decision


STEPS = st.lists(
    st.builds(
        Step,
        st.integers(),
        st.sampled_from(["model", "tool"]),
        text=st.text(max_size=3),
        calls=st.lists(st.builds(Call, st.sampled_from("abc"), st.just("look"), st.just("{}")), max_size=3).map(tuple),
        call_id=st.sampled_from("abc"),
        spent=st.integers(-5, 10**12),
        open=st.booleans(),
        cut=st.booleans(),
    ),
    max_size=6,
).map(tuple)
RUNS = st.builds(
    Run, st.builds(Ceilings, st.integers(-1, 5), st.integers(-1, 10**9), st.floats()), st.floats(), st.booleans()
)


@settings(max_examples=200, deadline=None)
@given(RUNS, STEPS, st.floats())
def test_every_history_has_a_decision_and_no_ceiling_is_passed(run: Run, steps: tuple[Step, ...], now_s: float) -> None:
    decision = decide(run, steps, now_s)
    if run.cancelled:
        assert decision == Finish("cancelled")
    if steps and steps[-1].open and not run.cancelled:
        assert not isinstance(decision, CallTool | AskModel), "what was begun is put down before anything is bought"
    if isinstance(decision, CallTool | AskModel):
        assert time_left_s(run, now_s) > 0
        assert len(steps) < run.ceilings.steps
        assert sum(step.spent for step in steps) < run.ceilings.spend
