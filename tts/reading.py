"""From the text of a piece to what the engine is given: numbers, money, units and abbreviations as a person reads them.

Only what engines read badly is touched, from the tables `reading-<language>.toml`; what they read well is left to them,
and a language without a table passes through. The one rule: reading never fails; what it does not know stays as it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

_SPACES = re.compile(r"[ \t\r\f\v]+")
_BLOCK = re.compile(r"([^\s.!?…:;,。！？])([\"'”’»)\]]*)\s*\n\s*\n\s*(?=\S)")
# What could be an abbreviation: a few letters with a full stop behind them.
_SHORTENED = re.compile(r"(?<![\w.])[^\W\d_][\w.]{0,7}\.(?!\w)")
_SLOT = re.compile(r"\{(\d)(?::(\w+))?\}")
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


# Names of what a rule may need to be in a text, so that most rules are not tried on most texts.
_SIGNS = {
    "digit": re.compile(r"\d"),
    "year": re.compile(r"[12]\d\d\d"),
    "ordinal": re.compile(r"\d\."),
    "dotted": re.compile(r"\d\.\d+\.\d"),
    "roman": re.compile(r"(?<= )(?:[IVX]{2,6}|[VX]|I(?=e))(?:\b|e|ème)|\bIer"),
}


class Rule(NamedTuple):
    """`find` is read by `read`, in a text that has each of `needs`: a sign by name, or any of some characters."""

    find: re.Pattern[str]
    read: Callable[[re.Match[str]], str]
    needs: tuple[str, ...]


def spoken(source: str, language: str = "en") -> str:
    """What an engine is given for `source`: one line, blocks parted by a full stop, data read as words."""
    text = _BLOCK.sub(r"\1\2. ", source) if "\n" in source else source
    text = " ".join(text.split())
    rules = _table(language)
    if rules:
        signs = {name: sign.search(text) is not None for name, sign in _SIGNS.items()}
        for find, read, needs in rules:
            for need in needs:
                if not (signs[need] if need in signs else any(character in text for character in need)):
                    break
            else:
                text = find.sub(read, text)
    return _SPACES.sub(" ", text).strip()


def warm(language: str) -> None:
    """Load the table of `language` before it is needed: it takes some 30 ms."""
    _table(language)


@lru_cache(maxsize=16)
def _table(language: str) -> tuple[Rule, ...]:
    """The rules of a language, from its file and from the one for all; none where it has no file."""
    code = language.replace("_", "-").split("-")[0].lower()
    if not re.fullmatch(r"[a-z]{2}", code):
        return ()
    file = files("tts").joinpath(f"reading-{code}.toml")
    if not file.is_file():
        return ()
    data = tomllib.loads(file.read_text("utf-8"))
    common = tomllib.loads(files("tts").joinpath("reading-any.toml").read_text("utf-8"))
    rules = [_rule(rule, data) for rule in [*common["rules"], *data["before"]]]
    rules.append(Rule(_SHORTENED, _lookup(data["abbreviations"]), (".",)))
    rules += [_rule(rule, data) for rule in data["rules"]]
    for units, space in ((data["units"], "?"), (data.get("spaced_units", {}), "")):
        if units:
            unit = re.compile(
                rf"((?<!\w)(?:{data.get('article', '(?!)')}) )?(?<![\w.,])({data['number']})"
                rf"[ \u00a0\u202f]{space}({_any_of(units)})(?![\w/²³'’])"
            )
            rules.append(Rule(unit, _unit(units, data["one"]), ("digit",)))
    return tuple(rules)


def _rule(rule: dict[str, str], data: dict[str, Any]) -> Rule:
    find = rule["find"]
    for name in ("amount", "cardinal", "ordinal", "names"):
        find = find.replace(f"<{name}>", data.get(name, "(?!)"))
    for name, table in data.items():
        if isinstance(table, dict) and f"<{name}>" in find:
            find = find.replace(f"<{name}>", f"(?:{_any_of(table)})")
    return Rule(re.compile(find), _reader(rule["say"], data), tuple(rule.get("needs", "").split()))


def _any_of(words: Iterable[str]) -> str:
    """A pattern of any of `words`, the longest that fits."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _lookup(words: dict[str, str]) -> Callable[[re.Match[str]], str]:
    def read(match: re.Match[str]) -> str:
        word = words.get(match.group())
        if word is None:
            return match.group()
        return f"{word}." if match.end() == len(match.string) else word  # its full stop ends the piece too

    return read


def _unit(units: dict[str, list[str]], one: str) -> Callable[[re.Match[str]], str]:
    def read(match: re.Match[str]) -> str:
        article, number = match.group(1) or "", match.group(2)
        single, many = units[match.group(3)]
        if number in ("1", "-1") or article:  # "a 5 km run"
            return f"{article}{number} {single}" if one == "number" else single
        return f"{number} {many}"

    return read


def _reader(say: str, data: dict[str, Any]) -> Callable[[re.Match[str]], str]:
    """`say` is a template: {1} a group, {1:digits} and the like a group as one of the readings below."""

    def field(match: re.Match[str]) -> Callable[[re.Match[str]], str]:
        def fill(slot: re.Match[str]) -> str:
            value = match.group(int(slot.group(1))) or ""
            kind = slot.group(2)
            if not kind:
                return value
            if kind in _READINGS:
                return _READINGS[kind](value)
            names = data[kind]
            return str(names.get(value) or names.get(value.lstrip("0")) or names.get(value.replace(".", "")) or value)

        return fill

    return lambda match: _SLOT.sub(field(match), say)


def _digits(value: str) -> str:
    """One by one."""
    return " ".join(value)


def _groups(value: str) -> str:
    """One by one, a pause between the groups."""
    return ", ".join(" ".join(part) for part in re.split(r"[^\d]+", value) if part)


def _plain(value: str) -> str:
    """Without leading noughts."""
    return value.lstrip("0") or "0"


def _year(value: str) -> str:
    """1986 as 19 86, 1905 as 19 oh 5; 2000 to 2009 and round hundreds stay."""
    head, tail = value[:2], value[2:]
    if tail == "00" or value.startswith("200"):
        return value
    return f"{head} oh {tail[1]}" if tail[0] == "0" else f"{head} {tail}"


def _hundreds(value: str) -> str:
    """1986 as 19 hundert 86."""
    return f"{value[:2]} hundert {value[2:].lstrip('0')}".strip()


def _roman(value: str) -> str:
    """XIV as 14."""
    numbers = [_ROMAN[letter] for letter in value]
    return str(sum(-n if n < max(numbers[at:]) else n for at, n in enumerate(numbers)))


def _ending(value: str) -> str:
    """XIV as 14th."""
    number = int(_roman(value))
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number % 100 not in (11, 12, 13) else 0, "th")
    return f"{number}{ending}"


_READINGS: dict[str, Callable[[str], str]] = {
    "digits": _digits,
    "groups": _groups,
    "plain": _plain,
    "year": _year,
    "hundreds": _hundreds,
    "roman": _roman,
    "ending": _ending,
}
