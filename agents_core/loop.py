"""The decision: what a run does next.

Not the doing: nothing here touches a database, a model or a clock. The one rule: `decide` is pure and total, so every
awkward case is an ordinary input, and the same rows give the same decision in any process.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from agents_core.events import Ceilings, Ending


@dataclass(frozen=True, slots=True)
class Call:
    """A tool the model asked for. `arguments` is the text it wrote, JSON or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened in a run: a model answered, or a tool did. `n` counts from 0 without gaps.

    A tool that must not happen twice is written `open` before it is called, and closed in the same row by its answer.
    A model's answer that somebody or the clock broke off is `cut`: what there was of it was said and paid for.
    """

    n: int
    kind: Literal["model", "tool"]
    text: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    open: bool = False
    cut: bool = False
    provider: str = ""
    model: str = ""
    spent: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    skipped: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Run:
    """What the decision needs to know of a run. Times are seconds of one clock; money is in millionths."""

    ceilings: Ceilings
    began_s: float
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class AskModel:
    """Ask the model once more."""


@dataclass(frozen=True, slots=True)
class CallTool:
    """Answer this call."""

    call: Call


@dataclass(frozen=True, slots=True)
class SayUnknown:
    """This call was begun in step `n`, and whoever began it is gone: say that nobody knows, and never call it again."""

    call: Call
    n: int


@dataclass(frozen=True, slots=True)
class Finish:
    """The run is over, in this way."""

    ending: Ending


Decision = AskModel | CallTool | SayUnknown | Finish


def decide(run: Run, steps: tuple[Step, ...], now_s: float) -> Decision:
    """What `run` does next, given what happened (`steps`, in order) and the time.

    A cancel wins over everything. An answer that is there is given even where it used up the last of a ceiling:
    it is paid for. Ceilings are asked before the next call of a model or a tool, never after. What was begun and not
    finished is put down as unknown before anything else is bought.
    """
    if run.cancelled:
        return Finish("cancelled")
    waiting = _unanswered(steps)
    last = steps[-1] if steps else None
    if last is not None and last.kind == "model" and not waiting and not last.cut:
        return Finish("answered" if last.text.strip() else "nothing_to_add")
    if last is not None and last.open:
        return SayUnknown(_asked_for(steps, last.call_id), last.n)
    if sum(step.spent for step in steps) >= run.ceilings.spend:
        return Finish("out_of_money")
    if len(steps) >= run.ceilings.steps:
        return Finish("out_of_steps")
    if not time_left_s(run, now_s) > 0:
        return Finish("out_of_time")
    return CallTool(waiting[0]) if waiting else AskModel()


def time_left_s(run: Run, now_s: float) -> float:
    """What is left of the run's minutes. A clock or a ceiling that is no number leaves nothing: fail closed."""
    left_s = run.ceilings.minutes * 60 - (now_s - run.began_s)
    return 0.0 if math.isnan(left_s) else left_s


def _unanswered(steps: tuple[Step, ...]) -> tuple[Call, ...]:
    """The calls of the last model step that no later tool step answered, in the order they were asked.

    Counted rather than looked up: a model may give two calls one id, and both want an answer.
    """
    for at in range(len(steps) - 1, -1, -1):
        if steps[at].kind == "model":
            answered = Counter(step.call_id for step in steps[at + 1 :])
            waiting = []
            for call in steps[at].calls:
                if answered[call.id] > 0:
                    answered[call.id] -= 1
                else:
                    waiting.append(call)
            return tuple(waiting)
    return ()


def _asked_for(steps: tuple[Step, ...], call_id: str) -> Call:
    """The latest call of that id. Rows that hold none (nobody writes such) still get an answer."""
    for step in reversed(steps):
        for call in step.calls:
            if call.id == call_id:
                return call
    return Call(call_id, "a tool", "{}")
