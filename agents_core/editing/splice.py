"""Front matter changed in place: a value set, a key taken out, and every other byte as it was.

The YAML library says where each value stands; the text is cut there and nowhere else, because a library's own dump
would set spaces, quotes and line ends anew. It knows no grammar of bots. The one rule: a comment is never taken away; a
key with a comment beside it keeps its line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from agents_core.editing.emit import emitted
from agents_core.editing.lists import items_edited
from agents_core.editing.places import (
    COMMENT,
    Edit,
    after_colon,
    applied,
    dash_of,
    end_of,
    is_empty,
    line_end,
    line_gone,
    line_start,
    newline_of,
    past_newline,
    plain,
    without_words,
)

Path_ = tuple[str, ...]
_STEP = "  "


@dataclass(frozen=True, slots=True)
class Layout:
    """How a grammar is laid out: the order of the keys of each block, and the blocks that are written a key a line."""

    order: Mapping[Path_, Sequence[str]]
    lines: frozenset[str]


def with_value(block: str, path: Path_, value: Any, layout: Layout) -> str:
    """`block` with `value` at `path`. Raises `TypeError` where it cannot."""
    root = _composed(block)
    at, parent, key_node, node = _found(root, path)
    if at == len(path) and node is not None and key_node is not None:
        return applied(block, _replaced(block, key_node, node, value, bool(parent.flow_style)))
    if at and node is not None and not isinstance(node, MappingNode) and key_node is not None:
        # A key that holds nothing yet becomes a block.
        return applied(block, _replaced(block, key_node, node, _nested(path[at:], value), bool(parent.flow_style)))
    mapping = node if isinstance(node, MappingNode) else root
    return applied(block, [_added(block, mapping, path, at, value, layout)])


def without(block: str, path: Path_, usual: Any) -> str:
    """`block` without the key at `path`, and without the blocks that then hold nothing.

    Where a comment stands beside it, the key stays and says `usual`.
    """
    root = _composed(block)
    at, parent, key_node, node = _found(root, path)
    if at < len(path) or key_node is None or node is None:
        return block
    start, end = key_node.start_mark.index, end_of(block, key_node, node)
    if parent.flow_style:
        starts = [key.start_mark.index for key, _ in parent.value]
        end = next((at for at in starts if at > start), end)
    else:
        start, end = line_start(block, start), line_end(block, end)
    if COMMENT.search(without_words(block, node, start, end)):
        return applied(block, _replaced(block, key_node, node, usual, bool(parent.flow_style)))
    if len(parent.value) == 1 and len(path) > 1:
        return _emptied(block, root, path)
    if parent.flow_style:
        return applied(block, [_out_of_flow(block, parent, start, end)])
    return applied(block, [Edit(start, past_newline(block, end), "")])


def values_of(block: str) -> dict[str, Any]:
    """What a block says."""
    values: dict[str, Any] = plain(_composed(block))
    return values


def comments(block: str) -> list[str]:
    """The comments of a block, in order of their words."""
    if "#" not in block:
        return []
    return sorted(said.rstrip() for said in COMMENT.findall(without_words(block, _composed(block), 0, len(block))))


def _emptied(block: str, root: MappingNode, path: Path_) -> str:
    """The block around the last key of a block goes too, unless it has comments: then it stays, empty."""
    _, _, key_node, node = _found(root, path[:-1])
    if key_node is None or node is None:
        return block
    inside = block[after_colon(block, key_node) : end_of(block, key_node, node)]
    if COMMENT.search(inside):
        _, _, own_key, own = _found(root, path)
        if own_key is None or own is None:
            return block
        gone = line_gone(block, own_key.start_mark.index, end_of(block, own_key, own))
        colon = after_colon(block, key_node)
        return applied(block, [Edit(colon, colon, " {}"), gone])
    return without(block, path[:-1], {})


@lru_cache(maxsize=64)
def _composed(block: str) -> MappingNode:
    node = YAML(typ="safe", pure=True).compose(block)
    if not isinstance(node, MappingNode):
        raise TypeError("the front matter is no block of keys")
    return node


def _found(root: MappingNode, path: Path_) -> tuple[int, MappingNode, Node | None, Node | None]:
    """How much of the path is there; the mapping around the last key of it, that key, and its value."""
    parent, at = root, 0
    key_node: Node | None = None
    node: Node | None = root
    for name in path:
        if not isinstance(node, MappingNode):
            break
        pair = next((pair for pair in node.value if pair[0].value == name), None)
        if pair is None:
            break
        parent, (key_node, node), at = node, pair, at + 1
    return at, parent, key_node, node


def _nested(names: Path_, value: Any) -> Any:
    for name in reversed(names):
        value = {name: value}
    return value


def _replaced(block: str, key: Node, node: Node, value: Any, flow: bool) -> list[Edit]:
    """What puts `value` in place of `node`, the value of `key`."""
    if isinstance(node, SequenceNode) and isinstance(value, list) and node.value and (value or node.flow_style):
        return items_edited(block, node, value)
    if is_empty(node):
        colon = after_colon(block, key)
        if isinstance(value, dict) and not flow:
            return [Edit(colon, colon, _under(block, key.start_mark.column, value))]
        return [Edit(colon, colon, " " + emitted(value, flow=flow))]
    start, end = node.start_mark.index, end_of(block, key, node)
    if isinstance(node, ScalarNode):
        style = node.style if node.style in ("'", '"') else None
        return [Edit(start, end, emitted(value, flow=flow, style=style))]
    if not isinstance(node, CollectionNode) or node.flow_style:
        return [Edit(start, end, emitted(value, flow=flow))]
    # Lines give way to a value beside the key; the comments among them stay.
    colon = after_colon(block, key)
    edits = [Edit(colon, colon, " " + emitted(value))]
    for child in node.value:
        pair = child if isinstance(child, tuple) else (child, child)
        begun = pair[0].start_mark.index if isinstance(child, tuple) else dash_of(block, child)
        edits.append(line_gone(block, begun, end_of(block, *pair)))
    return edits


def _added(block: str, mapping: MappingNode, path: Path_, at: int, value: Any, layout: Layout) -> Edit:
    """A key that is not there: after the nearest key that stands before it in the grammar, else at the end."""
    name, said = path[at], _nested(path[at + 1 :], value)
    wanted = list(layout.order.get(path[:at], ()))
    before = wanted[: wanted.index(name)] if name in wanted else []
    there = {key.value: (key, each) for key, each in mapping.value}
    nearest = next((there[each] for each in reversed(before) if each in there), None)
    after = nearest or (mapping.value[-1] if mapping.value else None)
    if mapping.flow_style:
        text = f"{emitted(name, flow=True)}: {emitted(said, flow=True)}"
        if after is None:
            return Edit(mapping.start_mark.index, mapping.end_mark.index, f"{{ {text} }}")
        end = end_of(block, *after)
        return Edit(end, end, f", {text}")
    if after is None:
        raise TypeError("a block of lines has a line")
    column = mapping.value[0][0].start_mark.column
    lines = isinstance(said, dict) and name in layout.lines
    place = line_end(block, end_of(block, *after))
    below = _under(block, column, said) if lines else " " + emitted(said)
    return Edit(place, place, f"{newline_of(block)}{' ' * column}{emitted(name)}:{below}")


def _under(block: str, column: int, said: Mapping[str, Any]) -> str:
    """A mapping under its key, a key a line."""
    lead = newline_of(block) + " " * column + _STEP
    return "".join(f"{lead}{name}: {emitted(each)}" for name, each in said.items())


def _out_of_flow(block: str, node: MappingNode, start: int, end: int) -> Edit:
    """One entry out of `{…}`, with the comma that held it. `end` is the start of the next, where there is one."""
    n = [key.start_mark.index for key, _ in node.value].index(start)
    return Edit(start, end, "") if n + 1 < len(node.value) else Edit(end_of(block, *node.value[n - 1]), end, "")
