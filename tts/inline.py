"""What stands within a line and is not read: emphasis, links, images, code marks, tags, citations, emoji, formulas.

Each rule is given the view that begins with its mark and says how much of it is decided and what it gives; None where
more text must come first. The one rule: what is not surely a mark is read as it is.
"""

from __future__ import annotations

import html
import re
from html.entities import html5

from tts import marks
from tts.emphasis import emphasis
from tts.formula import readable
from tts.hidden import span
from tts.place import Found, Place
from tts.tags import host, tag

# How long the label of a link, a formula within a line and a displayed one can be.
_LABEL = 400
_FORMULA = 200
_DISPLAYED = 1_500

_LENTICULAR = re.compile(r"【[^】\n]{0,60}】")
_BRACKETS = {"[": re.compile(r"[\[\]]|\n[ \t]*\n"), "(": re.compile(r"[()]|\n[ \t]*\n")}
# Prices and names of variables: no formula begins so.
_PRICE = re.compile(
    r"(?:\d[\d.,]*(?:[kKMBT]|bn|mn|/\w+|[-–]\d[\d.,]*\w?|\+|\s(?:[mb]illion|thousand))?|[A-Za-z_]{2,})[.,;:!?)]*\s(?![+=*<>^\\-])\S"
)
# What no formula begins with: "(about 5 $), and".
_NO_FORMULA = tuple(" \t\n\r\u00a0\u202f.,;:!?)]}\"'”’»")
# What makes a formula of what stands between two dollars; prices have nothing of it.
_MATHS = re.compile(r"\\[A-Za-z]|[\^_{}]|(?<![\d.,])\s?[=<>+*/-]|^[A-Za-z]$|^\d*[A-Za-z]$|[a-z]\s*=")


def inline(view: str, place: Place, *, final: bool) -> Found | None:
    """Decide what stands at the beginning of `view`."""
    item_start, place.item_start = place.item_start, False
    found = _decide(view, place, final=final, item_start=item_start)
    if found is None:
        place.item_start = item_start
    return found


def plain(label: str) -> str:
    """A label without its marks."""
    place = Place(line_start=False)
    out, at = "", 0
    while at < len(label):
        used, text = inline(label[at:], place, final=True) or (1, label[at])
        out += text
        place.before = label[at + used - 1]
        at += used
    return out


def _decide(view: str, place: Place, *, final: bool, item_start: bool) -> Found | None:
    first = view[0]
    rule = _RULES.get(first)
    if first == "\n":
        return _newline(place)
    if first == "[":
        return _bracket(view, place, final=final, item_start=item_start)
    if rule is not None:
        return rule(view, place, final=final)
    if silent := marks.SILENT.match(view):
        place.skip_space = True
        return silent.end(), ""
    if first in marks.UNSEEN or (first == "\u200d" and marks.SILENT.match(place.before or "a")):
        return 1, ""
    return _words(view, place, final=final)


def _newline(place: Place) -> Found:
    if place.before == "\n":
        place.open.clear()
        place.loose_table = False
    place.line_start = True
    place.table = False
    if place.block:
        place.pause, place.block = True, False
    return 1, "\n"


def _space(view: str, place: Place, *, final: bool) -> Found | None:
    run = len(view) - len(view.lstrip(" \t"))
    if run == len(view):
        return (run, view) if final else None
    follower = view[run]
    if follower in "[【":
        rule = _bracket if follower == "[" else _lenticular
        found = rule(view[run:], place, final=final)
        if found is None:
            return None
        if not found[1] and found[0]:
            return run + found[0], ""
    if follower == "|" and (place.table or place.loose_table):
        return run, ""
    return run, view[:run]


def _image(view: str, place: Place, *, final: bool) -> Found | None:
    if len(view) == 1:
        return (1, "!") if final else None
    if view[1] != "[":
        return 1, "!"
    found = _bracket(view[1:], place, final=final, image=True)
    if found is None:
        return None
    return (1 + found[0], found[1]) if found[0] > 1 else (1, "!")


def _bracket(view: str, place: Place, *, final: bool, item_start: bool = False, image: bool = False) -> Found | None:
    """A link is its label, an image its alt text, a citation nothing; other brackets stay."""
    hidden = (0, "") if image else span(view, place, final=final)
    if hidden is None or hidden[0]:
        return hidden
    close = _closing(view[:_LABEL], "[")
    if close is None:
        return (1, "[") if final or len(view) > _LABEL or "\n\n" in view else None
    label, after = view[1:close], view[close + 1 :]
    if item_start and label in (" ", "x", "X"):
        place.skip_space = True
        return close + 1, ""
    if not after and not final:
        return None
    if after[:1] in ("(", "["):
        stop = _closing(after, after[0])
        if stop is None and not final and "\n" not in after:
            return None
        if stop is not None:
            is_cited = not image and marks.CITATION.fullmatch(label) and after[0] == "["
            return (close + 1, "") if is_cited else (close + 2 + stop, plain(label))
    if marks.CITATION.fullmatch(label):
        place.skip_space = True
        return close + (2 if label[0] == "^" and after[:1] == ":" else 1), ""
    return 1, "["


def _closing(view: str, opener: str) -> int | None:
    """The index of the bracket that closes the one at 0."""
    if {"[": "]", "(": ")"}[opener] not in view:
        return None
    depth = 0
    for found in _BRACKETS[opener].finditer(view):
        if found.group() == opener:
            depth += 1
        elif len(found.group()) > 1:
            return None
        else:
            depth -= 1
            if not depth:
                return found.start()
    return None


def _code(view: str, _: Place, *, final: bool) -> Found | None:
    run = len(view) - len(view.lstrip("`"))
    if run == len(view) and not final:
        return None
    close = re.search(rf"(?<!`)`{{{run}}}(?!`)", view[run:].partition("\n\n")[0])
    if close and (close.end() + run < len(view) or final):
        return run + close.end(), view[run : run + close.start()].strip()
    return (run, view[:run]) if final or "\n\n" in view else None


def _escape(view: str, _: Place, *, final: bool) -> Found | None:
    if len(view) == 1:
        return (1, "\\") if final else None
    if view[1] == "\n":
        return 1, ""
    for opener, closer, reach in (("(", "\\)", _FORMULA), ("[", "\\]", _DISPLAYED)):
        if view[1] == opener:
            end = view.find(closer, 2)
            if 0 < end <= reach:
                return end + 2, readable(view[2:end])
            if not final and len(view) <= reach:
                return None
    return (2, view[1]) if view[1] in "*_#`[]|~" else (1, "\\")


def _dollar(view: str, place: Place, *, final: bool) -> Found | None:
    """A formula between dollars; a price is none."""
    run = len(view) - len(view.lstrip("$"))
    if run == len(view) and not final and run < 3:
        return None
    reach = _DISPLAYED if run == 2 else _FORMULA
    behind = view[1:2]
    if run > 2 or place.before.isalnum() or (run == 1 and (behind in _NO_FORMULA or _PRICE.match(view, 1))):
        return run, "$" * run
    near = view[run:reach].partition("\n\n" if run == 2 else "\n")[0]
    cut_short = len(near) < len(view) - run
    end = near.find("$" * run)
    while run == 1 and end > 0 and (near[end - 1] in " \t\\" or near[end + 1 : end + 2].isdigit()):
        end = near.find("$", end + 1)
    if (end < 0 or end + run >= len(near)) and not final and not cut_short:
        return None
    if end > 0 and _is_maths(near[:end], displayed=run == 2):
        return end + 2 * run, readable(near[:end])
    return run, "$" * run


def _is_maths(inside: str, *, displayed: bool) -> bool:
    if displayed:
        return any(character.isalnum() for character in inside)
    price = re.match(r"\d[\d.,]*(?:\s|$)", inside)
    return bool(_MATHS.search(inside)) and not (price and not re.search(r"[\\^_={}]", inside))


def _entity(view: str, _: Place, *, final: bool) -> Found | None:
    entity = marks.ENTITY.match(view)
    if entity:
        known = entity.group()[1] == "#" or entity.group()[1:] in html5
        return (entity.end(), html.unescape(entity.group()).replace("\u00a0", " ")) if known else (1, "&")
    return None if not final and marks.ENTITY_BEGUN.match(view) else (1, "&")


def _pipe(view: str, place: Place, *, final: bool) -> Found | None:
    if not place.table and not place.loose_table:
        return 1, "|"
    after = view.lstrip(" \t|")
    if not after and not final:
        return None
    return len(view) - len(after), "" if not after or after[0] == "\n" else ", "


def _lenticular(view: str, _: Place, *, final: bool) -> Found | None:
    found = _LENTICULAR.match(view)
    if found:
        return (found.end(), "") if re.match(r"【\d+", view) else (1, "【")
    return (1, "【") if final or len(view) > 62 or "\n" in view else None


def _kimi(view: str, place: Place, *, final: bool) -> Found | None:
    hidden = span(view, place, final=final)
    return hidden if hidden is None or hidden[0] else (1, "")


def _words(view: str, place: Place, *, final: bool) -> Found | None:
    if view[0] in "hHwW" and not place.before.isalnum():
        lowered = view[:8].lower()
        if not final and any(start.startswith(lowered) for start in marks.URL_STARTS):
            return None
        url = marks.URL.match(view)
        if url and url.end() > len("www."):
            # An open bracket may still turn out to belong to the address.
            if not final and (
                url.end() == len(view) or (view[url.end()] == "(" and not re.search(r"[\s)]", view[url.end() :]))
            ):
                return None
            address = url.group().rstrip(".,;:!?")
            return len(address), host(address)
    run = re.match(r"[A-Za-z0-9]+", view)
    if run:
        return run.end(), run.group()
    stop = marks.STOP.search(view, 1)
    used = stop.start() if stop else len(view)
    return used, view[:used]


_RULES = {
    " ": _space,
    "\t": _space,
    "!": _image,
    "<": tag,
    "`": _code,
    "\\": _escape,
    "$": _dollar,
    "&": _entity,
    "|": _pipe,
    "【": _lenticular,
    "◁": _kimi,
    **dict.fromkeys(marks.EMPHASIS, emphasis),
}
