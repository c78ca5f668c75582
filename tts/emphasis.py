"""Emphasis: stars, underscores, tildes and equals signs around words.

The one rule: a mark goes only where its other half is in sight or a bold passage is too long to wait for; `5*3`,
`snake_case`, `__dunder__` and `2 ** 3` stay.
"""

from __future__ import annotations

import re

from tts.place import Found, Place

# How far the end of an emphasis is looked for before the words are let go.
REACH = 80


def emphasis(view: str, place: Place, *, final: bool) -> Found | None:
    """Decide the run of marks at the beginning of `view`."""
    mark = view[0]
    run = len(view) - len(view.lstrip(mark))
    if run == len(view) and not final:
        return None
    token, follower = view[:run], view[run : run + 1]
    before = place.before
    if token in place.open and not before.isspace() and not (mark == "_" and before.isalnum() and follower.isalnum()):
        place.open.remove(token)
        return run, ""
    if not _may_open(mark, run, before, follower):
        return run, token
    reach = view[run : run + REACH]
    blank = reach.find("\n\n")
    inner = reach if blank < 0 else reach[:blank]
    close = re.search(rf"(?<=[^\s{re.escape(mark)}]){re.escape(token)}(?![{re.escape(mark)}])", inner)
    if close and mark == "_" and run == 2:
        name = re.match(rf"\w*{token}(?!\w)", inner)
        if name and name.end() == close.end():
            return run + close.end(), view[: run + close.end()]  # __dunder__
    if close and (close.end() < len(inner) or len(reach) >= REACH or blank >= 0 or final):
        place.open.append(token)
        return run, ""
    if len(reach) < REACH and blank < 0 and not final:
        return None
    if mark == "*" and run >= 2 and len(reach) >= REACH and blank < 0:
        place.open.append(token)  # a long bold passage: do not wait for its end
        return run, ""
    return run, token


def _may_open(mark: str, run: int, before: str, follower: str) -> bool:
    if not (run == 2 if mark in "~=" else run <= 3) or not follower or follower.isspace():
        return False
    # In scripts without spaces marks stand between letters: 这是**重点**内容.
    return not before.isalnum() or (mark == "*" and run >= 2 and "\u2e80" <= before <= "\ud7ff")
