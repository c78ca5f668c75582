"""Whether a line break ends a sentence: before a blank line, before an item, behind a heading.

The one rule: a verdict that is sure holds whatever text follows.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# A blank line, or a line that a bullet, a number or a heading's mark begins.
_BREAK = re.compile(r"\n[ \t\r]*\n|\n[ \t]*(?:[-*+•‣▪◦]|\d{1,3}[.)]|#{1,6})[ \t]{1,4}\S")
_HEADING = re.compile(r" {0,3}#{1,6} ")
_MAYBE_ITEM = re.compile(r"[-*+•‣▪◦][ \t]*$|\d{1,3}[.)]?[ \t]*$|#{1,6}[ \t]*$")
# How far behind a line break is looked.
_REACH = 120


class Verdict(NamedTuple):
    """Whether something ends a sentence; `sure` where no text that follows could change it."""

    ends: bool
    sure: bool = True


def line_break(text: str, at: int) -> Verdict:
    """What the line break at `at` does to the line before it."""
    behind = text[at : at + _REACH]
    seen = len(behind) == _REACH
    if _BREAK.match(behind):
        return Verdict(True, sure=seen or bool(behind.strip()))
    rest = behind[1:].lstrip(" \t\r")
    if not rest and not seen:
        return Verdict(False, sure=False)
    if _HEADING.match(text, text.rfind("\n", 0, at) + 1):
        return Verdict(True)
    return Verdict(False, sure=seen or len(rest) > 8 or not _MAYBE_ITEM.match(rest))
