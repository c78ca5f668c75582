"""Lists changed in place: what stays keeps its text and what stands beside it.

Of a list on lines, lines go and come; of one in brackets, the text between them is made anew from the texts of its
items. The one rule: a comment beside an item that goes stays, alone on its line.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from ruamel.yaml.nodes import SequenceNode

from agents_core.editing.emit import emitted
from agents_core.editing.places import (
    COMMENT,
    Edit,
    dash_of,
    end_of,
    indent_of,
    line_end,
    line_gone,
    line_start,
    newline_of,
    plain,
)


def items_edited(block: str, node: SequenceNode, value: Sequence[Any]) -> list[Edit]:
    """What makes the list at `node` the list `value`, neither of them empty."""
    old, new = [repr(plain(item)) for item in node.value], [repr(each) for each in value]
    steps = difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    if node.flow_style:
        return [_in_brackets(block, node, [(i1, i2, value[j1:j2], what == "equal") for what, i1, i2, j1, j2 in steps])]
    edits: list[Edit] = []
    for what, i1, i2, j1, j2 in steps:
        if what == "equal":
            continue
        edits += [line_gone(block, dash_of(block, item), end_of(block, item, item)) for item in node.value[i1:i2]]
        if j2 > j1:
            edits.append(_lines_put(block, node, i1, value[j1:j2]))
    return edits


def _lines_put(block: str, node: SequenceNode, before: int, new: Iterable[Any]) -> Edit:
    """Items on lines of their own, before the item at `before`, or after the last."""
    newline = newline_of(block)
    lines = [f"{' ' * node.start_mark.column}- {emitted(each)}" for each in new]
    if before < len(node.value):
        place = line_start(block, node.value[before].start_mark.index)
        return Edit(place, place, "".join(line + newline for line in lines))
    place = line_end(block, end_of(block, node.value[-1], node.value[-1]))
    return Edit(place, place, "".join(newline + line for line in lines))


def _in_brackets(block: str, node: SequenceNode, steps: Sequence[tuple[int, int, Sequence[Any], bool]]) -> Edit:
    """The text from bracket to bracket, with what stays as it is written."""
    start, end = node.start_mark.index, node.end_mark.index
    texts = [block[item.start_mark.index : end_of(block, item, item)] for item in node.value]
    pieces: list[str] = []
    for i1, i2, new, stays in steps:
        pieces += texts[i1:i2] if stays else [emitted(each, flow=True) for each in new]
    starts = [item.start_mark.index for item in node.value]
    edges = [
        start + 1,
        *(at for item in node.value for at in (item.start_mark.index, end_of(block, item, item))),
        end - 1,
    ]
    comments = [said for n in range(0, len(edges), 2) for said in COMMENT.findall(block[edges[n] : edges[n + 1]])]
    if comments:
        # They stood among the items; they go on standing there, on lines of their own.
        lead = newline_of(block) + indent_of(block, start) + "  "
        return Edit(start, end, f"[{', '.join(pieces)}{''.join(lead + said for said in comments)}{lead}]")
    pad = block[start + 1 : starts[0]] if starts else ""
    pad = "" if pad.strip(" ") else pad
    return Edit(start, end, f"[{pad}{', '.join(pieces)}{pad}]")
