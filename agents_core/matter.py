"""Front matter: the block between two `---` lines at the top of a file, and the body under it.

Not PyYAML, which reads YAML 1.1: there `on:` is true and `10:00` is 600. The one rule: whatever cannot be read is a
`Refusal` with a file, a line, what is wrong and what to write instead; nothing is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

# A block is a screen of settings. The cap keeps a hostile file from costing anything.
BLOCK_CHARS = 64 * 1024
# A file is a prompt; a model's window is not a library.
FILE_BYTES = 512 * 1024
_FENCE = "---"
_PLAIN_TAGS = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True, order=True)
class Refusal:
    """Something in a file that will not do. `line` counts from 1; `key` is the key at fault, with dots."""

    file: str
    line: int
    what: str
    instead: str
    key: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}. {self.instead}."

    def as_json(self) -> dict[str, Any]:
        """The refusal as plain values."""
        return asdict(self)


class Refused(Exception):
    """One refusal, on its way out of the reading. `line` counts from 1 within the file; `key` as in `Refusal`."""

    def __init__(self, line: int, what: str, instead: str, key: str = "") -> None:
        super().__init__(what)
        self.line, self.what, self.instead, self.key = line, what, instead, key

    def of(self, file: str) -> Refusal:
        """The refusal, of that file."""
        return Refusal(file, self.line, self.what, self.instead, self.key)


Path_ = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Matter:
    """A file taken apart. `lines` gives the line of each key, by its path; `written` each value as it was written."""

    values: dict[str, Any]
    lines: Mapping[Path_, int]
    written: Mapping[Path_, str]
    body: str
    body_line: int

    def line(self, path: Path_) -> int:
        """The line of `path`, or of the nearest thing around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


@lru_cache(maxsize=2048)
def split(data: bytes) -> Matter:
    """Take a file apart. Raises `Refused`. Kept, because a reload reads every file and few of them changed."""
    if len(data) > FILE_BYTES:
        raise Refused(1, f"the file is larger than {FILE_BYTES // 1024} KiB", "Keep a prompt to what a bot must know")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data[: fault.start].count(b"\n") + 1
        raise Refused(line, "the file is not UTF-8", "Save it as UTF-8") from None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        raise Refused(1, "the file does not begin with front matter", "Begin with a line `---`, the keys, and `---`")
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise Refused(1, "the front matter is opened and never closed", "End it with a line `---`")
    block = "\n".join(lines[1:end]) + "\n"
    if len(block) > BLOCK_CHARS:
        raise Refused(1, f"the front matter is longer than {BLOCK_CHARS} characters", "Move prose into the body")
    values, places, written = _read(block)
    return Matter(values, places, written, "\n".join(lines[end + 1 :]).strip(), end + 2)


def read_file(file: Path, instead: Mapping[Path, bytes] | None = None) -> Matter:
    """The file taken apart, or what is to stand `instead` of it. Raises `Refused`."""
    try:
        return split((instead or {}).get(file) or file.read_bytes())
    except OSError as fault:
        raise Refused(1, f"the file cannot be read ({fault.strerror})", "Let the server read it") from None


def _read(block: str) -> tuple[dict[str, Any], dict[Path_, int], dict[Path_, str]]:
    yaml = YAML(typ="safe", pure=True)
    try:
        node = yaml.compose(block)
        if not isinstance(node, MappingNode):
            raise Refused(2, "the front matter is not a list of keys", "Write `name: …` and so on, a key a line")
        places: dict[Path_, int] = {(): 2}
        written: dict[Path_, str] = {}
        _walk(node, (), places, written)
        values = yaml.constructor.construct_document(node)
    except MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        raise Refused((mark.line if mark else 0) + 2, *_yaml_words(fault)) from None
    except (YAMLError, ValueError, RecursionError) as fault:
        what = str(fault).splitlines()[0] if str(fault) else type(fault).__name__
        raise Refused(2, f"the front matter is not YAML: {what}", "See the example bots") from None
    return values, places, written


def _yaml_words(fault: MarkedYAMLError) -> tuple[str, str]:
    problem = " ".join(str(fault.problem or fault.context or "it cannot be read").split())
    if "duplicate key" in problem:
        return f"{problem.split(' with value')[0].replace('found ', '')} is written twice", "Keep one of them"
    if "\\t" in problem:
        return "a tab indents this line", "Indent with spaces"
    return f"the front matter is not YAML: {problem}", "Put text with `:` or `#` in quotes, and indent with spaces"


def _walk(node: Node, path: Path_, places: dict[Path_, int], written: dict[Path_, str]) -> None:
    """Note the line of every key. Refuses anchors first, so that no alias can make the walk long."""
    line = node.start_mark.line + 2
    if node.anchor:
        raise Refused(line, f"`&{node.anchor}` names a part to be used again", "Write the value out where it is used")
    if node.tag and not str(node.tag).startswith(_PLAIN_TAGS):
        raise Refused(line, f"`{node.tag}` is a type of its own", "Write plain text, numbers, lists and keys")
    if isinstance(node, MappingNode):
        for key, value in node.value:
            here = (*path, str(key.value))
            places[here] = key.start_mark.line + 2
            _walk(value, here, places, written)
    elif isinstance(node, SequenceNode):
        for n, value in enumerate(node.value):
            places[(*path, n)] = value.start_mark.line + 2
            _walk(value, (*path, n), places, written)
    else:
        written[path] = str(node.value)
