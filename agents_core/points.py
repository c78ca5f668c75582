"""Named points at which a process may die.

Nothing happens at them: a test hands in a `reach` that raises, kills, or stops the clock at one exact line, and the
rows must come out as if nothing had. The one rule: each point stands right after what its name says, and before the
next thing begins.
"""

from __future__ import annotations

from collections.abc import Callable

POINTS = {
    "begun": "the run is written, held by whoever was asked",
    "claimed": "a run that nobody held is held",
    "answered": "a model answered, and its step is not written yet",
    "step_written": "a step is written, and the next is not begun",
    "about_to_call": "a tool that must not happen twice is written as begun, and not called yet",
    "called": "a tool was called, and its answer is not written yet",
    "ended": "the run's end is written, and nobody was told",
}
Reach = Callable[[str], None]


def nothing(_point: str) -> None:
    """What happens at a point outside a test."""
