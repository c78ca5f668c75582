"""A value as YAML text: on one line, quoted only where it would be read as something else.

It writes; where it goes is `splice`'s. The one rule: what is written here is read back by the house's own reader as the
same value, of the same type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

# Most of what people write, and no need to ask the reader about it.
_PLAIN = re.compile(r"[A-Za-z](?:[A-Za-z0-9 .!?'_/-]*[A-Za-z0-9.!?'_/-])?")
_WORDS_OF_YAML = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def emitted(value: Any, *, flow: bool = False, style: str | None = None) -> str:
    """`value` as YAML on one line. `flow` inside brackets; `style` the quotes that stood there before (`"` or `'`)."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str):
        return _words(value, flow=flow, style=style)
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_words(str(key), flow=True)}: {emitted(each, flow=True)}" for key, each in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(emitted(each, flow=True) for each in value)}]"
    raise TypeError(f"{type(value).__name__} is no value of a file")


def _number(value: float) -> str:
    """Digits as a person writes them: no exponent, no `.0`."""
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _words(text: str, *, flow: bool, style: str | None = None) -> str:
    if style == "'" and text.isprintable() and text.strip():
        quoted = "'" + text.replace("'", "''") + "'"
        if _reads_as(quoted, text, flow=True):
            return quoted
    if style != '"' and _reads_as(text, text, flow=flow):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    # What JSON leaves as it is and YAML takes for the end of a line, or for nothing that may stand in a file.
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in quoted)


def _reads_as(written: str, text: str, *, flow: bool) -> bool:
    """Whether `written` is read as `text`: beside a key, and where `flow` inside brackets too."""
    if not written or not text.isprintable():
        return False
    if _PLAIN.fullmatch(written) and written == text and text.lower() not in _WORDS_OF_YAML:
        return True
    yaml = YAML(typ="safe", pure=True)
    try:
        beside = yaml.load(f"key: {written}\n") == {"key": text}
        return beside and (not flow or yaml.load(f"[{written}, {written}]\n") == [text, text])
    except (YAMLError, ValueError):
        return False
