"""Where the graph of a Piper voice can be cut: its decoder, and the flow before it.

Pure reading of a graph by its shape, since names differ from voice to voice; it opens and writes nothing. The one rule:
a part that is given in windows holds only what looks at near frames (convolutions and what works sample by sample).
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from tts.errors import SplitFailed

# What a part may hold that is run in windows: each frame out depends on frames nearby and on nothing else.
_ARITHMETIC = {"Add", "Cast", "Constant", "Div", "Exp", "Identity", "LeakyRelu", "Mul", "Neg", "Relu", "Sigmoid", "Sub"}
LOCAL = _ARITHMETIC | {"Concat", "ConstantOfShape", "Conv", "Gather", "Shape", "Slice", "Split", "Tanh", "Unsqueeze"}


@dataclass(frozen=True, slots=True)
class Cut:
    """A tensor at which a graph is cut, and what else flows over the cut into the part behind it."""

    tensor: str
    others: tuple[str, ...]


class Graph:
    """A graph with its edges looked up: who makes a tensor, who takes it, what is constant."""

    def __init__(self, graph: Any) -> None:
        self.output = str(graph.output[0].name)
        self.made_by = {name: node for node in graph.node for name in node.output}
        self.taken_by: dict[str, list[Any]] = defaultdict(list)
        for node in graph.node:
            for name in node.input:
                self.taken_by[name].append(node)
        self.constants = {value.name for value in graph.initializer}

    def made(self, node: Any) -> list[str]:
        """The inputs of `node` that are computed."""
        return [name for name in node.input if name in self.made_by and name not in self.constants]

    def before(self, name: str) -> set[str]:
        """Every tensor that `name` depends on, itself included."""
        return _reached([name], lambda at: self.made_by[at].input if at in self.made_by else ())

    def after(self, name: str) -> set[str]:
        """Every tensor that depends on `name`, itself included."""
        return _reached([name], lambda at: [out for node in self.taken_by[at] for out in node.output])


def find_decoder(graph: Graph) -> tuple[Cut, int]:
    """The cut before the decoder's first convolution, and how many samples a frame becomes. Raises `SplitFailed`."""
    ups = []
    name = graph.output
    while (node := graph.made_by.get(name)) is not None:
        if node.op_type == "ConvTranspose":
            ups.append(node)
        elif node.op_type == "Conv" and ups and _kernel(node) > 1 and not _leads_up(graph, node):
            hop = math.prod(_ints(up, "strides")[0] for up in ups)
            return Cut(str(node.input[0]), _conditions(graph, ups[-1], node)), hop
        name = _main_input(graph, node)
    raise SplitFailed("the graph has no decoder of transposed convolutions; is it a Piper voice?")


def find_flow(graph: Graph, frames: str) -> tuple[Cut, int] | None:
    """The cut where the flow takes its noisy frames, and how many frames to each side it sees; None without one.

    It begins where the drawn noise is added, and ends at `frames`, which the decoder takes.
    """
    ends = graph.before(frames)
    for name, node in graph.made_by.items():
        if node.op_type != "RandomNormalLike" or name not in ends:
            continue
        start = _first_sum(graph, name)
        if start is None:
            continue
        inside = graph.after(start) & ends - {start}
        nodes = {id(graph.made_by[at]): graph.made_by[at] for at in inside}.values()
        if not any(at.op_type == "Conv" for at in nodes) or any(at.op_type not in LOCAL for at in nodes):
            continue
        outside = {name for at in nodes for name in graph.made(at)} - inside - {start}
        others = tuple(sorted(at for at in outside if not _is_fixed(graph, at)))
        return Cut(start, others), _reach(graph, frames, start, inside)
    return None


def _first_sum(graph: Graph, name: str) -> str | None:
    """Follow scaled noise forward to where it is added to something."""
    for _ in range(4):
        takers = [node for node in graph.taken_by[name] if node.op_type in ("Mul", "Add")]
        if len(takers) != 1:
            return None
        name = str(takers[0].output[0])
        if takers[0].op_type == "Add":
            return name
    return None


def _is_fixed(graph: Graph, name: str) -> bool:
    """Whether a tensor follows from constants alone, so that a part can compute it for itself."""
    roots = [at for at in graph.before(name) if at not in graph.made_by and at]
    return all(at in graph.constants for at in roots)


def _reach(graph: Graph, end: str, start: str, inside: set[str]) -> int:
    """How many frames to each side `end` sees of `start`: the widest path, each convolution adding half its kernel."""
    known = {start: 0}
    waiting = [end]
    while waiting:
        at = waiting[-1]
        if at in known:
            waiting.pop()
            continue
        node = graph.made_by[at]
        needed = [name for name in node.input if (name in inside or name == start) and name not in known]
        if needed:
            waiting.extend(needed)
            continue
        own = (_kernel(node) - 1) * _ints(node, "dilations")[0] // 2 if node.op_type == "Conv" else 0
        known[at] = own + max((known[name] for name in node.input if name in known), default=0)
        waiting.pop()
    return known[end]


def _main_input(graph: Graph, node: Any) -> str:
    """The input that leads back along the decoder: past residual sums, away from a speaker's conditioning."""
    choices = graph.made(node)
    if not choices:
        return ""
    deep = [name for name in choices if _leads_up(graph, graph.made_by[name])]
    wide = [name for name in choices if graph.made_by[name].op_type == "Conv" and _kernel(graph.made_by[name]) > 1]
    return str((deep or wide or choices)[0])


def _leads_up(graph: Graph, node: Any) -> bool:
    """Whether a transposed convolution stands at or before `node`."""
    before = set().union(*(graph.before(name) for name in node.output))
    return any(graph.made_by[name].op_type == "ConvTranspose" for name in before if name in graph.made_by)


def _conditions(graph: Graph, first_up: Any, first_conv: Any) -> tuple[str, ...]:
    """What else flows in between the first convolution and the first upsampling: a speaker's vector."""
    found = []
    node = graph.made_by[first_up.input[0]]
    while node is not first_conv:
        for name in graph.made(node):
            side = graph.made_by[name]
            if side.op_type == "Conv" and side is not first_conv and _kernel(side) == 1:
                found.append(str(side.input[0]))
        node = graph.made_by[_main_input(graph, node)]
    return tuple(found)


def _reached(names: list[str], onward: Any) -> set[str]:
    seen = set(names)
    waiting = list(names)
    while waiting:
        for name in onward(waiting.pop()):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return seen


def _ints(node: Any, name: str) -> list[int]:
    return next((list(attribute.ints) for attribute in node.attribute if attribute.name == name), [1])


def _kernel(node: Any) -> int:
    return _ints(node, "kernel_shape")[0]
