"""What one person may spend on one bot, in windows that roll.

Not a calendar: a day is the last 24 hours, a month the last 30 days. Integer millionths throughout, because ten times
0.1 is not 1. The one rule: what an answer may cost at most is reserved before it begins, in the transaction that writes
it down, and settled when it ends; so however many ask at once, no ceiling is passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

Window = Literal["minute", "hour", "day", "week", "month"]
WINDOWS: Mapping[str, int] = dict(
    zip(get_args(Window), (60, 3600, 24 * 3600, 7 * 24 * 3600, 30 * 24 * 3600), strict=True)
)
"""Each window's seconds. Something exactly that old is out of it."""

Per = Mapping[str, int]
"""A ceiling in millionths for each window that has one; every one of them must hold."""


def grant(per: Per, spent: Mapping[str, int], wanted: int) -> tuple[int, str | None]:
    """How much of `wanted` an answer may reserve, and the window that leaves nothing (then the amount is 0).

    Less than `wanted` where less is left: the answer then ends when that is used, rather than not being begun.
    An answer that costs nothing is refused only where a window is spent already.
    """
    left = {window: ceiling - spent.get(window, 0) for window, ceiling in per.items()}
    full = next((window for window, room in left.items() if room <= 0), None)
    if full:
        return 0, full
    return max(0, min([wanted, *left.values()])), None
