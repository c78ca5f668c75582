"""What stands between < and >: tags of HTML and SSML, reasoning, tool calls, marks of model families, addresses.

The one rule: a name that is not known to be a tag is read as it is: `x<y>z`, `List<int>`, `5 < 10`.
"""

from __future__ import annotations

import re

from tts import marks
from tts.hidden import begins_call, span
from tts.place import Found, Place


def tag(view: str, place: Place, *, final: bool) -> Found | None:
    hidden = span(view, place, final=final)
    if hidden is None or hidden[0]:
        return hidden
    if view[1:2] in ("|", "｜"):
        special = marks.SPECIAL_TOKEN.match(view)
        if special:
            return special.end(), ""
        return (1, "<") if final or len(view) > 64 or "\n" in view or " " in view else None
    if view[:8].lower() == "<http://" or view[:9].lower() == "<https://":
        end = re.search(r"[>\s]", view)
        if end is None and not final:
            return None
        return (end.end(), host(view[1 : end.start()])) if end and end.group() == ">" else (1, "")
    if mail := marks.MAIL.match(view):
        return mail.end(), mail.group(1)
    whole = marks.TAG.match(view)
    if whole:
        return _whole_tag(whole, view, place, final=final)
    begun = marks.TAG_BEGUN.match(view)
    if not begun or final:
        return 1, "<"
    return None if _may_be_tag(begun, view) else (1, "<")


def _may_be_tag(begun: re.Match[str], view: str) -> bool:
    name = (begun.group(1) or "").lower().rpartition(":")[2]
    if re.match(r"<[\w.+:-]{1,64}@?[\w.-]*$", view) and ("@" in view or len(view) < 24):
        return True
    if begun.group(2):
        lowered = view[:9].lower()
        return (
            name in marks.TAGS
            or lowered in ("<http:", "<http:/", "<https:", "<https:/")
            or (not name and lowered == "</")
        )
    return not name or name in marks.TAG_STARTS or "https".startswith(name)


def _whole_tag(tag: re.Match[str], view: str, place: Place, *, final: bool) -> Found | None:
    written = tag.group(2).lower()
    name = written.rpartition(":")[2]
    if name in marks.HIDDEN:
        if not tag.group(1) and not tag.group(3).endswith("/"):
            call = begins_call(name, tag.group(3), view[tag.end() :], f"</{written}>")
            if call is None and not final:
                return None
            if not call:
                return 1, "<"
            place.hidden = (f"</{written}>", f"</{written} >")
        place.skip_space = True
        return tag.end(), ""
    if name in marks.MARKUP:
        place.pause = place.pause or name in marks.BLOCKS
        alt = marks.ALT.search(tag.group(3)) if name == "img" else None
        return tag.end(), alt.group(1) if alt else ""
    return 1, "<"


def host(address: str) -> str:
    """What is read for an address: its host, or that it is a link."""
    found = marks.HOST.match(address)
    return found.group(1) if found else marks.A_LINK
