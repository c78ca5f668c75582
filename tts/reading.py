"""From the text of a piece to what the engine is given: numbers, money, units and abbreviations as a person reads them.

Only what engines read badly is touched, from the tables `reading-<language>.toml`; what they read well is left to them,
and a language without a table passes through. The one rule: reading never fails; what it does not know stays as it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files

_SPACES = re.compile(r"[ \t\r\f\v]+")
_BLOCK = re.compile(r"([^\s.!?…:;,。！？])([\"'”’»)\]]*)\s*\n\s*\n\s*(?=\S)")


def spoken(source: str, language: str = "en") -> str:
    """What an engine is given for `source`: one line, blocks parted by a full stop, data read as words."""
    text = _BLOCK.sub(r"\1\2. ", source)
    text = " ".join(text.split())
    table = _table(language)
    if table:
        for pattern, read in table:
            text = pattern.sub(read, text)
    return _SPACES.sub(" ", text).strip()


Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]


@lru_cache(maxsize=16)
def _table(language: str) -> tuple[Rule, ...]:
    """The rules of a language, from its file; none where it has no file."""
    code = language.split("-")[0].lower()
    if not re.fullmatch(r"[a-z]{2,3}", code):
        return ()
    file = files("tts").joinpath(f"reading-{code}.toml")
    if not file.is_file():
        return ()
    data = tomllib.loads(file.read_text("utf-8"))
    rules: list[Rule] = []
    for short, long in data.get("abbreviations", {}).items():
        rules.append((re.compile(rf"(?<!\w){re.escape(short)}(?!\w)"), lambda _, long=long: long))  # type: ignore[misc]
    rules += [(re.compile(rule["find"]), _reader(rule["say"], data)) for rule in data.get("rules", [])]
    units = data.get("units", {})
    if units:
        names = "|".join(sorted(map(re.escape, units), key=len, reverse=True))
        number = data["number"]
        rules.append((re.compile(rf"(?<![\w.])({number})\s?({names})(?![\w/])"), _unit(units)))
    return tuple(rules)


def _unit(units: dict[str, list[str]]) -> Callable[[re.Match[str]], str]:
    def read(match: re.Match[str]) -> str:
        one, many = units[match.group(2)]
        return f"{match.group(1)} {one if match.group(1) == '1' else many}"

    return read


def _reader(say: str, data: dict[str, dict[str, str]]) -> Callable[[re.Match[str]], str]:
    """`say` is a template: {1} a group, {1:money} and the like a group as one of the readings below."""

    def field(match: re.Match[str]) -> Callable[[re.Match[str]], str]:
        def fill(slot: re.Match[str]) -> str:
            value = match.group(int(slot.group(1))) or ""
            kind = slot.group(2)
            if not kind:
                return value
            if kind == "digits":
                return " ".join(value)
            if kind == "groups":
                return ", ".join(" ".join(part) for part in re.split(r"[^\d]+", value) if part)
            if kind == "year":
                return _year(value)
            if kind == "plain":
                return value.lstrip("0") or "0"
            names = data[kind]
            return names.get(value) or names.get(value.lstrip("0")) or value

        return fill

    return lambda match: re.sub(r"\{(\d)(?::(\w+))?\}", field(match), say)


def _year(value: str) -> str:
    """1986 as 19 86, 1905 as 19 oh 5; 2000 to 2009 and round hundreds stay."""
    head, tail = value[:2], value[2:]
    if tail == "00" or value.startswith("200"):
        return value
    return f"{head} oh {tail[1]}" if tail[0] == "0" else f"{head} {tail}"
