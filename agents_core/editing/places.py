"""Where things stand in a block of YAML: ends, lines, comments, edits.

Positions are characters from the start of the block. The one rule: an end is just past the last character that belongs
to a value, never past the comments that follow it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import CollectionNode, Node, ScalarNode

COMMENT = re.compile(r"(?:^|(?<=[\s,\[\]{}]))#[^\r\n]*")
_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters from `start` to `end` give way to `text`."""

    start: int
    end: int
    text: str


def is_empty(node: Node) -> bool:
    """Whether nothing is written there: `key:` alone."""
    return isinstance(node, ScalarNode) and node.style is None and node.start_mark.index == node.end_mark.index


def end_of(block: str, key: Node, node: Node) -> int:
    """Past the last character of `node`, or of `key:` where it is empty. A block's own end is the next key's start."""
    if isinstance(node, ScalarNode):
        if is_empty(node):
            return int(node.end_mark.index) if key is node else after_colon(block, key)
        if node.style in ("|", ">"):
            return int(node.start_mark.index) + len(block[node.start_mark.index : node.end_mark.index].rstrip())
        return int(node.end_mark.index)
    if not isinstance(node, CollectionNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return end_of(block, *last) if isinstance(last, tuple) else end_of(block, last, last)


def after_colon(block: str, key: Node) -> int:
    """Just past the `:` of a key."""
    return block.index(":", key.end_mark.index) + 1


def line_start(block: str, at: int) -> int:
    """Where the line of `at` begins."""
    return max(block.rfind("\n", 0, at), block.rfind("\r", 0, at)) + 1


def line_end(block: str, at: int) -> int:
    """Where the line of `at` ends, before its newline."""
    found = _NEWLINE.search(block, at)
    return found.start() if found else len(block)


def past_newline(block: str, at: int) -> int:
    """Past the newline that stands at `at`, where one does."""
    found = _NEWLINE.match(block, at)
    return found.end() if found else at


def newline_of(block: str) -> str:
    """How lines end here."""
    found = _NEWLINE.search(block)
    return found[0] if found else "\n"


def indent_of(block: str, at: int) -> str:
    """The blanks that the line of `at` begins with."""
    line = block[line_start(block, at) : at]
    return line[: len(line) - len(line.lstrip())]


def without_words(block: str, node: Node, start: int, end: int) -> str:
    """The text from `start` to `end` with every scalar blotted out, so that a `#` in words is no comment."""
    text = list(block[start:end])
    stack: list[Any] = [node]
    while stack:
        one = stack.pop()
        if isinstance(one, ScalarNode):
            for at in range(max(one.start_mark.index, start), min(end_of(block, one, one), end)):
                text[at - start] = "x"
        else:
            stack.extend(child for pair in one.value for child in (pair if isinstance(pair, tuple) else (pair,)))
    return "".join(text)


def plain(node: Node) -> Any:
    """The value of a node."""
    return YAML(typ="safe", pure=True).constructor.construct_document(node)


def applied(block: str, edits: Sequence[Edit]) -> str:
    """The block with every edit made. No two of them may overlap."""
    for edit in sorted(edits, key=lambda each: (each.start, each.end), reverse=True):
        block = block[: edit.start] + edit.text + block[edit.end :]
    return block


def line_gone(block: str, start: int, end: int) -> Edit:
    """What stands from `start` to `end` on lines of its own goes; a comment beside it stays, alone on its line."""
    rest = block[end : line_end(block, end)]
    if "#" in rest:
        return Edit(start, end + len(rest) - len(rest.lstrip()), "")
    return Edit(line_start(block, start), past_newline(block, line_end(block, end)), "")


def dash_of(block: str, item: Node) -> int:
    """Where the `-` of an item of a list on lines stands."""
    return block.rindex("-", 0, item.start_mark.index)
