"""What stands at the beginning of a line and is not read: headings, bullets, rules, quotes, rows, fences, definitions.

Each rule is given the rest of the line and says how much of it is decided: (0, "") where it is not its case, None where
more text must come first. The one rule: a list, a row or a heading is a pause, never a mark.
"""

from __future__ import annotations

import re

from tts import marks
from tts.hidden import call_in_json, call_in_lines
from tts.place import Found, Place

# What a line can begin with that is a mark; digits too.
_STARTS = frozenset("`~:#|[{A_=" + marks.BULLETS)
_NOT_MINE: Found = (0, "")
_ITEM = re.compile(r"\d{1,3}[.)][ \t]")
_ITEM_BEGUN = re.compile(r"\d{1,3}(?:[.)](?:[ \t]|$)?|$)")


def in_fence(view: str, place: Place, *, final: bool) -> Found | None:
    """Drop a line of code, up to the fence that closes."""
    end = view.find("\n")
    if end < 0:
        return (len(view), "") if final else None
    line = view[:end].strip()
    if line.startswith(place.fence) and not line.strip(place.fence[0]):
        place.fence = ""
        place.line_start = place.pause = True
    return end + 1, ""


def at_line_start(view: str, place: Place, *, final: bool) -> Found | None:
    """The marks that open a line, its indentation with them."""
    rest = view.lstrip(" \t")
    lead = len(view) - len(rest)
    if not rest:
        return (len(view), view) if final else None
    if rest[0] == ">" and lead < 4:
        if len(rest) < 2 and not final:
            return None
        return lead + (2 if rest[1:2] == " " else 1), ""
    for rule in _RULES if rest[0] in _STARTS or rest[0].isdigit() or place.loose_table else ():
        verdict = rule(rest, place, final=final)
        if verdict is None:
            return None
        if verdict[0]:
            return lead + verdict[0], verdict[1]
    place.line_start = False
    if rest[0] != "\n":
        if place.in_item and lead >= 2:
            place.pause = False
        place.in_item = place.in_item and lead >= 2
    return lead, view[:lead]


def _fence(rest: str, place: Place, *, final: bool) -> Found | None:
    if rest[0] not in "`~":
        return _NOT_MINE
    run = len(rest) - len(rest.lstrip(rest[0]))
    if run < 3:
        return _NOT_MINE if run < len(rest) or final else None
    end = rest.find("\n")
    if end < 0 and not final:
        return None
    line = rest if end < 0 else rest[:end]
    if rest[0] in line[run:]:
        return _NOT_MINE  # code within a line
    place.fence = rest[0] * run
    place.pause = True
    silent = line[run:].strip().lower() in marks.CALL_FENCES
    return len(line) + (0 if end < 0 else 1), "" if silent else marks.CODE


def _ruling(rest: str, place: Place, *, final: bool) -> Found | None:
    """The line below the head of a table that has no outer pipes."""
    if rest[0] not in ":-":
        return _NOT_MINE
    run = len(rest) - len(rest.lstrip(" \t:|-"))
    if run == len(rest) and not final:
        return None if len(rest) > 1 or rest == "-" else _NOT_MINE
    if not marks.LOOSE_RULING.match(rest[:run]) or rest[run : run + 1] not in ("\n", ""):
        return _NOT_MINE
    place.loose_table = True
    place.pause = True
    return min(len(rest), run + 1), ""


def _rule_or_item(rest: str, place: Place, *, final: bool) -> Found | None:
    first = rest[0]
    if first not in marks.BULLETS + "_=":
        return _NOT_MINE
    run = 0
    while run < len(rest) and rest[run] in (first, " ", "\t"):
        run += 1
    if run == len(rest) and not final:
        return None
    if first in "-*_=" and rest[:run].count(first) >= 3 and rest[run : run + 1] in ("\n", ""):
        place.pause = True
        place.line_start = False
        return run, ""
    if first in marks.BULLETS and rest[1:2] in (" ", "\t") and rest[run : run + 1] not in ("\n", ""):
        place.begin_block(item=True)
        return len(rest) - len(rest[1:].lstrip(" \t")), ""
    return _NOT_MINE


def _heading(rest: str, place: Place, *, final: bool) -> Found | None:
    if rest[0] != "#":
        return _NOT_MINE
    run = len(rest) - len(rest.lstrip("#"))
    if run == len(rest) and not final:
        return None
    if run > 6 or rest[run : run + 1] not in (" ", "\t"):
        return _NOT_MINE
    place.begin_block()
    return run + 1, ""


def _number(rest: str, place: Place, *, final: bool) -> Found | None:
    """A number that counts items is read."""
    if not rest[0].isdigit():
        return _NOT_MINE
    begun = _ITEM_BEGUN.match(rest)
    if begun and begun.end() == len(rest) and rest[-1] not in " \t" and not final:
        return None
    item = _ITEM.match(rest)
    if not item:
        return _NOT_MINE
    place.begin_block(item=True)
    return item.end(), item.group()


def _row(rest: str, place: Place, *, final: bool) -> Found | None:
    if rest[0] != "|":
        if place.loose_table:
            place.begin_block()
        return _NOT_MINE
    run = len(rest) - len(rest.lstrip(" \t:|+-"))
    if run == len(rest) and not final:
        return None
    if "-" in rest[:run] and rest[run : run + 1] in ("\n", ""):
        return min(len(rest), run + 1), ""
    place.begin_block()
    place.table = True
    return len(rest) - len(rest.lstrip(" \t|")), ""


def _definition(rest: str, _: Place, *, final: bool) -> Found | None:
    """Where a link of the text leads: "[1]: https://…"."""
    if rest[0] != "[":
        return _NOT_MINE
    whole = marks.DEFINITION.match(rest)
    if whole and (final or whole.group()[-1] == "\n"):
        return whole.end(), ""
    return None if not final and marks.DEFINITION_BEGUN.match(rest) and rest[1:2] not in ("^", " ") else _NOT_MINE


def _json(rest: str, _: Place, *, final: bool) -> Found | None:
    return call_in_json(rest, final=final)


def _action(rest: str, _: Place, *, final: bool) -> Found | None:
    return call_in_lines(rest, final=final)


_RULES = (_fence, _ruling, _rule_or_item, _heading, _number, _row, _definition, _json, _action)
