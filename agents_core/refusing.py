"""What is wrong in a file, said the way somebody who writes bots would say it.

Not the checking: pydantic checks, and this words what it found. The one rule: each sentence names the key as it stands
in the file, shows what was written there, and says what to write instead.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agents_core.matter import Matter, Refused

_M = TypeVar("_M", bound=BaseModel)
Blocks = Mapping[tuple[str, ...], type[BaseModel]]
"""The model of each block, by its path."""

_PATTERNS = {
    "language": "Use a language's code, as in `en` or `pt-BR`",
    "name": "Use letters, digits, `_` and `-`, beginning with a letter",
}


class Many(Exception):
    """Every refusal of one file, on its way out of the reading."""

    def __init__(self, refused: list[Refused]) -> None:
        super().__init__(f"{len(refused)} refusals")
        self.refused = refused


def validated(model: type[_M], values: Mapping[str, Any], matter: Matter, blocks: Blocks) -> _M:
    """The values as the model has them. Raises `Many`."""
    try:
        return model.model_validate(values)
    except ValidationError as fault:
        raise Many([_keyed(error, matter, blocks) for error in fault.errors(include_url=False)]) from None


def no_such(kind: str, name: str, known: Iterable[str], line: int, key: str = "") -> Refused:
    """A name that names nothing."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, 1)
    there = f"There are {', '.join(names[:40])}" if names else f"There is no {kind} at all"
    return Refused(line, f"there is no {kind} `{name}`", f"Did you mean `{close[0]}`?" if close else there, key)


def _keyed(error: ErrorDetails, matter: Matter, blocks: Blocks) -> Refused:
    refused = in_words(error, matter, blocks)
    refused.key = ".".join(part for part in error["loc"] if isinstance(part, str))
    return refused


def in_words(error: ErrorDetails, matter: Matter, blocks: Blocks) -> Refused:
    """One of pydantic's errors, as somebody who writes bots would say it."""
    path = tuple(error["loc"])
    key, line, ctx = _dotted(path), matter.line(path), error.get("ctx", {})
    given = matter.written.get(path, error.get("input"))
    match error["type"]:
        case "extra_forbidden":
            return _unknown(path, line, blocks)
        case "missing":
            return Refused(line, f"`{key}` is missing", f"Add `{path[-1]}:`")
        case "literal_error":
            choice = str(ctx["expected"]).replace("'", "`")
            return Refused(line, f"`{key}` cannot be {_shown(given)}", f"Use {choice}{_meant(given, choice)}")
        case "string_type":
            return Refused(line, f"`{key}` is {_shown(given)}, which is not text", f'Put it in quotes: "{given}"')
        case "list_type":
            return Refused(line, f"`{key}` is not a list", f"Write `{path[-1]}: [{given}]`")
        case "too_short" | "string_too_short":
            return Refused(line, f"`{key}` is empty", "Give it a value, or leave the key out where it has a default")
        case "too_long" | "string_too_long":
            return Refused(line, f"`{key}` is too long", f"Keep it to {ctx['max_length']}")
        case "greater_than_equal" | "greater_than" | "less_than_equal" | "less_than":
            return Refused(line, f"`{key}` is {_shown(given)}, out of range", f"Use a number {_range(error)}")
        case "int_type" | "float_type" | "int_from_float" | "finite_number":
            kind = "a whole number" if error["type"].startswith("int") else "a number"
            return Refused(
                line, f"`{key}` is {_shown(given)}, which is not {kind}", "Write it in digits, without quotes"
            )
        case "bool_type":
            return Refused(line, f"`{key}` is {_shown(given)}", "Write `true` or `false`")
        case "model_type" | "dict_type" | "model_attributes_type":
            return Refused(line, f"`{key}` is not a block of keys", "Write its keys under it, indented")
        case "string_pattern_mismatch":
            return Refused(
                line, f"`{key}` cannot be {_shown(given)}", _PATTERNS.get(str(path[-1]), "See the example bots")
            )
        case "value_error":
            what, _, instead = str(ctx["error"]).partition("\n")
            return Refused(line, f"`{key}`: {what}", instead or "See the example bots")
        case _:
            return Refused(line, f"`{key}`: {error['msg'][:1].lower()}{error['msg'][1:]}", "See the example bots")


def _unknown(path: tuple[str | int, ...], line: int, blocks: Blocks) -> Refused:
    key, block = str(path[-1]), tuple(str(part) for part in path[:-1] if not isinstance(part, int))
    fields: Mapping[str, Any] = getattr(blocks.get(block), "model_fields", {})
    names = [field.alias or name for name, field in fields.items()]
    close = difflib.get_close_matches(key, names, 1)
    instead = f"Did you mean `{close[0]}`?" if close else f"The keys here are {', '.join(names)}"
    return Refused(line, f"there is no key `{_dotted(path)}`", instead)


def _dotted(path: tuple[str | int, ...]) -> str:
    return ".".join(str(part + 1) if isinstance(part, int) else part for part in path)


def _shown(given: object) -> str:
    return f"`{str(given)[:60]}`"


def _meant(given: object, choice: str) -> str:
    close = difflib.get_close_matches(str(given), re.findall(r"`(\w+)`", choice), 1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _range(error: ErrorDetails) -> str:
    names = {"ge": "from", "gt": "over", "le": "up to", "lt": "under"}
    return " ".join(f"{names[key]} {value:g}" for key, value in error.get("ctx", {}).items() if key in names)
