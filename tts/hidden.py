"""What a model writes among its words that is not for a listener: reasoning, and calls of tools written as words.

A recogniser of spellings; it runs nothing. The one rule: from where such a span could begin nothing is given until it
is known, and inside it nothing is given at all.
"""

from __future__ import annotations

import json
import re

from tts import marks
from tts.place import Found, Place

_DECODER = json.JSONDecoder()
# What is kept of a hidden span: no closing mark is longer.
_KEPT = 48


def inside(view: str, place: Place, *, final: bool) -> Found | None:
    """Drop up to the mark that closes the span; what could be its beginning is kept."""
    small = marks.small(view)
    found = [(at, close) for close in place.hidden if (at := small.find(close)) >= 0]
    if found:
        at, close = min(found)
        place.hidden = ()
        place.skip_space = True
        return at + (0 if close == "\n" else len(close)), ""
    if final:
        return len(view), ""
    return (len(view) - _KEPT, "") if len(view) > 2 * _KEPT else None


def span(view: str, place: Place, *, final: bool) -> Found | None:
    """A span that begins here: (0, "") where none does, None where one still could."""
    small = marks.small(view[: marks.LONGEST_SPAN])
    opener = next((opener for opener in marks.SPANS if small.startswith(opener)), None)
    if not final and any(len(other) > len(opener or "") for other in marks.SPANS if other.startswith(small)):
        return None
    if opener is None:
        return 0, ""
    place.hidden = marks.SPANS[opener]
    if not place.hidden:
        place.skip_space = True
    return len(opener), ""


def call_in_json(rest: str, *, final: bool) -> Found | None:
    """A tool call that was written as a JSON object at the beginning of a line."""
    if rest[0] != "{" or not re.match(r"\{\s*(?:\"|$)", rest):
        return 0, ""
    if "}" in rest:
        try:
            value, end = _DECODER.raw_decode(rest)
        except ValueError:
            return (0, "") if final else None
        keys = set(value)
        is_call = keys & marks.CALL_NAMES and keys & marks.CALL_INPUTS
        return (end, "") if is_call or "tool_calls" in keys else (0, "")
    return (0, "") if final else None


def call_in_lines(rest: str, *, final: bool) -> Found | None:
    """A tool call that was written as a line "Action: …" with a line "Action Input: …" behind it."""
    if "Action:".startswith(rest[:7]) and not final and len(rest) < 7:
        return None
    if not rest.startswith("Action:"):
        return 0, ""
    line = rest.find("\n")
    behind = rest[line + 1 :].lstrip() if line >= 0 else ""
    if behind.startswith("Action Input:"):
        end = rest.find("\n", rest.index("Action Input:"))
        return (end if end >= 0 else len(rest), "") if end >= 0 or final else None
    if not final and ((line < 0 and len(rest) < 80) or (line >= 0 and "Action Input:".startswith(behind))):
        return None
    return 0, ""


def begins_call(name: str, attributes: str, behind: str, close: str) -> bool | None:
    """Whether a tag whose name is a plain word too ("the <function> keyword") hides; None while unknown."""
    if name not in marks.PLAIN_WORDS or "=" in attributes or behind.lstrip()[:1] in tuple("{[<"):
        return True
    return True if close in marks.small(behind) else None
