"""A bot's file as fields: what each may say, what it says, and the file with some of them changed.

The fields are read off the grammar's own models, so that a key which the compile knows is a field here. Whether a value
will do is the compile's to say, not this module's. The rules: only what differs from what holds anyway is written, and
what was written is read back before it is given.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from ruamel.yaml.error import YAMLError

from agents_core.bots import BLOCKS
from agents_core.editing.places import newline_of
from agents_core.editing.splice import Layout, comments, values_of, with_value, without
from agents_core.matter import FILE_BYTES, Matter, split

Kind = Literal["words", "number", "whole", "switch", "choice", "names", "rows"]
BODY = "body"
_LISTED = frozenset({"surfaces", "for", "serves", "tools", "skills"})
_KINDS: Mapping[str, Kind] = {"string": "words", "number": "number", "integer": "whole", "boolean": "switch"}


class CannotWrite(Exception):
    """A change that cannot be put into this file; the words say why."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field. `key` is its place with dots; `usual` what holds where nothing says otherwise; `least` and `most` its
    range, `longest` its characters, `choices` what it may be or hold."""

    key: str
    kind: Kind
    usual: Any
    least: float | None = None
    most: float | None = None
    longest: int | None = None
    choices: tuple[str, ...] = ()

    @property
    def path(self) -> tuple[str, ...]:
        """Its place as keys."""
        return tuple(self.key.split("."))


def _fields() -> dict[str, Field]:
    found: dict[str, Field] = {}
    for path, model in BLOCKS.items():
        schema = model.model_json_schema(by_alias=True)
        for name, said in schema["properties"].items():
            if (*path, name) not in BLOCKS:
                key = ".".join((*path, name))
                found[key] = _field(key, said)
    return found


def _field(key: str, said: Mapping[str, Any]) -> Field:
    one = next((each for each in said.get("anyOf", ()) if each.get("type") != "null"), said)
    usual = [] if one.get("type") == "array" else said.get("default", "" if one.get("type") == "string" else None)
    if one.get("type") == "array":
        items = one["items"]
        kind: Kind = "rows" if key == "hears" else "names"
        return Field(key, kind, usual, longest=items.get("maxLength"), choices=tuple(items.get("enum", ())))
    if "enum" in one or "const" in one:
        return Field(key, "choice", usual, choices=tuple(one.get("enum") or [one["const"]]))
    return Field(
        key,
        _KINDS[one["type"]],
        usual,
        least=one.get("minimum", one.get("exclusiveMinimum")),
        most=one.get("maximum"),
        longest=one.get("maxLength"),
    )


FIELDS: Mapping[str, Field] = _fields()
_LAYOUT = Layout(
    order={path: [field.alias or name for name, field in model.model_fields.items()] for path, model in BLOCKS.items()},
    lines=frozenset({"voice", "endings"}),
)


def written(matter: Matter) -> dict[str, Any]:
    """The fields that a file writes itself, and its body. A list that is written as one word is a list."""
    return {**_said(matter.values), BODY: matter.body}


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, field in FIELDS.items():
        value: Any = values
        for name in field.path:
            value = value.get(name, _NOTHING) if isinstance(value, Mapping) else _NOTHING
        if value is not _NOTHING:
            found[key] = [value] if key in _LISTED and isinstance(value, str) else value
    return found


def changed(data: bytes, changes: Mapping[str, Any], below: Mapping[str, Any]) -> bytes:
    """The file with `changes` (field to value; None is: as usual) made.

    `below` is what holds of a field where this file says nothing, where that is not the grammar's own default: the
    house's words, or what the bot takes over from the one it extends. Raises `Refused` where the file itself cannot be
    read, and `CannotWrite`.
    """
    own = written(split(data))
    text = data.decode("utf-8")
    for key, value in changes.items():
        _check(key, value)
        if key == BODY:
            text = _with_body(text, str(value))
            continue
        field = FIELDS[key]
        usual = below.get(key, field.usual)
        wanted = usual if value is None else value
        if _same(wanted, own.get(key, usual)):
            continue
        text = _with_key(text, field, wanted, usual, own.get(key, _NOTHING))
    made = text.encode("utf-8")
    if len(made) > FILE_BYTES:
        raise CannotWrite(f"the file would be larger than {FILE_BYTES // 1024} KiB")
    # What cannot be read back is given to nobody.
    split(made)
    return made


def _with_key(text: str, field: Field, wanted: Any, usual: Any, own: Any) -> str:
    start, end = _block_of(text)
    block = text[start:end]
    value = wanted[0] if own is _NOTHING and field.key in _LISTED and len(wanted) == 1 else wanted
    setting = partial(with_value, block, field.path, value, _LAYOUT)
    ways = [setting]
    if _same(wanted, usual) or wanted == []:
        ways.insert(0, partial(without, block, field.path, wanted))
    was = {key: said for key, said in _said(values_of(block)).items() if key != field.key}
    for way in ways:
        try:
            new = way()
            is_ = _said(values_of(new))
        except (YAMLError, TypeError, ValueError, IndexError):
            continue
        asked = is_.pop(field.key, usual)
        if _same(asked, wanted) and _all_same(was, is_) and comments(new) == comments(block):
            return text[:start] + new + text[end:]
    what = f"`{field.key}` cannot be changed here without touching what stands beside it; change it in the file"
    raise CannotWrite(what)


def _with_body(text: str, body: str) -> str:
    """The text under the front matter made `body`; lines that stay keep how they end."""
    _, end = _block_of(text)
    fence = re.compile(r"---[^\r\n]*(\r\n|\r|\n|$)").match(text, end)
    begun = fence.end() if fence else len(text)
    newline = newline_of(text)
    lead = re.compile(r"\s*").match(text, begun)
    first = lead.end() if lead else begun
    # Where the body begins with blanks, they are the first line's and not the space above it.
    last = len(text.rstrip())
    if first >= last:
        above = "" if text[begun - 1 : begun] in "\r\n" else newline
        return text[:begun] + above + body.strip().replace("\n", newline) + newline
    old = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+").findall(text[first:last])
    new = body.strip().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    matcher = difflib.SequenceMatcher(a=[line.rstrip("\r\n") for line in old], b=new, autojunk=False)
    lines: list[str] = []
    for what, i1, i2, j1, j2 in matcher.get_opcodes():
        lines += old[i1:i2] if what == "equal" else [line + newline for line in new[j1:j2]]
    made = "".join(line if line[-1:] in ("\r", "\n") else line + newline for line in lines)
    return text[:first] + (re.sub(r"(\r\n|\r|\n)\Z", "", made) if new != [""] else "") + text[last:]


def _block_of(text: str) -> tuple[int, int]:
    """Where the front matter stands between its fences. The text was read before, so it is there."""
    lines = list(re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)").finditer(text))
    closing = next(line for line in lines[1:] if line[0].rstrip() == "---")
    return lines[0].end(), closing.start()


_NOTHING: Any = object()


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same to a reader of the file: 1 and 1.0 are, 1 and true are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _all_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())


def _check(key: str, value: Any) -> None:
    if key != BODY and key not in FIELDS:
        raise CannotWrite(f"there is no field `{key}`")
    if key == BODY and not isinstance(value, str):
        raise CannotWrite("the body is text")
    listed = key != BODY and FIELDS[key].kind in ("names", "rows")
    if value is not None and listed != isinstance(value, list):
        raise CannotWrite(f"`{key}` is {'a list' if listed else 'one value'}")
    if isinstance(value, dict) or (isinstance(value, float) and not math.isfinite(value)):
        raise CannotWrite(f"`{key}` is {'one value' if isinstance(value, dict) else 'a number'}")
