"""Calls of tools that a model writes out as words: `catalog(phrase="x")`, a bold name, a bullet, a fence of JSON.

Not the marks of model families, which `hidden` knows, and not a parser that would run them. Small models write these
when they mean to call; spoken, they are noise, and kept in a history they are copied. The one rule: a decision is made
on the shortest text that settles it, so it is the same wherever the pieces are cut.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from agents_core.foreign import read_json

# A call is shorter than this; longer text that only began like one is let go.
_MOST_CHARS = 2000
_KEYS = ("name", "tool", "tool_name", "function", "function_name", "action", "tool_call", "tool_calls",
         "function_call", "recipient_name")  # fmt: skip
_GIVEN = ("arguments", "parameters", "args", "input", "action_input", "tool_input", "kwargs")
_PREFIXES = ("functions.", "default_api.", "tools.")
_FENCED = ("", "json", "python", "tool_call", "tool_code", "tool", "xml", "plaintext", "text")
_SAYS_CALL = re.compile(r"(tool[ _]?calls?|tools?|calling|call|function|using|action)\b[ _]*:?\s*", re.I)
_LINE_SAYS = re.compile(r"(action|tool|tool[ _]call|function|calling)\s*:\s*[*`]*", re.I)
_LINE_GIVES = re.compile(r"(action input|arguments|parameters|input)\s*:\s*", re.I)
# Between parentheses: nothing, or something no English has there. "catalog(s)" is a word.
_ARGUMENTS = re.compile(r"\s*$|\s*[\w-]+\s*[=:]|\s*[\"'{\[]|\s*[\d.]+\s*(,|$)")
_WORD = re.compile(r"[\w-]")


class _More(Exception):
    """Too little text to tell. `begun` says that it is a call already, only not at its end."""

    def __init__(self, begun: bool) -> None:
        super().__init__()
        self.begun = begun


class CallsInWords:
    """Drops calls written as words. `names` are the tools that are offered."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(sorted(names, key=len, reverse=True))
        self._firsts = {name[0] for name in (*self._names, *(_PREFIXES if names else ()))}
        self._plain = _plain("".join(sorted(self._firsts)))
        self._held = ""
        self._line = ""  # what stands before, on the same line

    def push(self, words: str) -> str:
        """The words that are sure to be for the listener."""
        self._held += words
        return self._let_go(final=False)

    def flush(self) -> str:
        """What is left at the end; a call that was broken off is dropped."""
        return self._let_go(final=True)

    def _let_go(self, *, final: bool) -> str:
        out = ""
        at = 0
        while at < len(self._held):
            if not self._fresh and (plain := self._plain.match(self._held, at)):
                out, self._line, at = out + plain[0], (self._line + plain[0])[-40:], plain.end()
                continue
            letter = self._held[at]
            if self._may_begin(letter):
                try:
                    length = self._call(self._held[at : at + _MOST_CHARS])
                except _More as more:
                    if len(self._held) - at < _MOST_CHARS and not final:
                        break
                    length = len(self._held) - at if more.begun and len(self._held) - at < _MOST_CHARS else 0
                if length:
                    at += length
                    continue
            out += letter
            self._line = "" if letter == "\n" else (self._line + letter)[-40:]
            at += 1
        self._held = self._held[at:]
        return out

    @property
    def _fresh(self) -> bool:
        """Nothing stands before on this line but a bullet."""
        return not self._line.strip(" \t-*•>")

    def _may_begin(self, letter: str) -> bool:
        if letter in "`[":
            return True
        if letter == "*":
            return bool(self._names)
        if letter == "{":
            return self._fresh
        inside_a_word = bool(self._line) and bool(_WORD.match(self._line[-1]) or self._line[-1] == ".")
        return not inside_a_word and (letter in self._firsts or (self._fresh and letter.lower() in "aptfci"))

    def _call(self, text: str) -> int:
        """How long the call is that `text` begins with; 0 where it begins with none. Raises `_More`."""
        if text.startswith("```") or "```".startswith(text):
            return self._fence(text)
        if text[0] in "{[" and self._fresh and (length := self._json(text)):
            return length
        if text[0] == "[":
            return self._bracket(text)
        if self._fresh and (length := self._line_of_a_call(text)):
            return length
        return self._name(text)

    def _fence(self, text: str) -> int:
        if len(text) < 3:
            raise _More(False)
        language = re.match(r"```([a-z_]*)", text)
        assert language is not None  # noqa: S101  (the text begins with the fence)
        if language[1] not in _FENCED and not (
            language.end() == len(text) and any(word.startswith(language[1]) for word in _FENCED)
        ):
            return 0
        start = _past_space(text, language.end())
        if start == len(text):
            raise _More(False)
        inner = text[start:]
        begins = inner[0] in "{[<" or any(name.startswith(inner[: len(name)]) for name in self._all_names())
        if not begins:
            return 0
        end = text.find("```", start)
        if end < 0:
            raise _More(True)
        inside = text[start:end].strip()
        fenced = CallsInWords(self._names)
        return end + 3 if _is_call(_loads(inside), self._names) or not (fenced.push(inside) + fenced.flush()) else 0

    def _json(self, text: str) -> int:
        """An object or a list of objects whose first key is one that calls have."""
        key = re.match(r"\[?\s*\{?\s*(\"([^\"]*)\"?)?", text)
        assert key is not None  # noqa: S101  (everything in it may be absent)
        if key[1] is None:
            if key.end() == len(text):
                raise _More(False)
            return 0
        if not key[1].endswith('"') or len(key[1]) == 1:
            if key.end() == len(text) and any(word.startswith(key[2] or "") for word in _KEYS):
                raise _More(False)
            return 0
        if key[2] not in _KEYS:
            return 0
        length = _balanced(text, begun=True)
        return length if _is_call(_loads(text[:length]), self._names) else 0

    def _bracket(self, text: str) -> int:
        """`[calling catalog: x]`, `[catalog(phrase="x")]`."""
        end = text.find("]", 1)
        line = text.find("\n", 1)
        if end < 0 or 0 <= line < end:
            if line >= 0 or not self._could_be_bracket(text[1:]):
                return 0
            raise _More(bool(_SAYS_CALL.match(text, 1)))
        inside = text[1:end].strip()
        says = _SAYS_CALL.match(inside)
        rest = inside[says.end() :] if says else inside
        named = next((name for name in self._all_names() if rest.startswith(name)), None)
        if named is None:
            return end + 1 if says and re.match(r"tool[ _]?calls?\b", inside, re.I) else 0
        after = rest[len(named) :]
        alone = not _WORD.match(after[:1] or " ")
        return end + 1 if (says and alone) or after.lstrip()[:1] in ("(", "{", ":") else 0

    def _could_be_bracket(self, inside: str) -> bool:
        inside = inside.lstrip()
        says = _SAYS_CALL.match(inside)
        rest = inside[says.end() :] if says else inside
        words = ("tool", "call", "function", "using", "action")
        names = self._all_names()
        return any(rest.startswith(n) or n.startswith(rest) for n in names) or any(
            inside.lower().startswith(word) or word.startswith(inside.lower()) for word in words
        )

    def _line_of_a_call(self, text: str) -> int:
        """`Action: catalog`, and `Action Input: {…}`."""
        head = text[:24].lower()
        gives, says = _LINE_GIVES.match(text), _LINE_SAYS.match(text)
        if gives and gives.end() < len(text):
            return gives.end() + _balanced(text[gives.end() :], begun=True) if text[gives.end()] == "{" else 0
        if says and says.end() < len(text) and self._names:
            name = next((n for n in self._all_names() if text.startswith(n, says.end())), None)
            if name is None:
                if any(n.startswith(text[says.end() :]) for n in self._all_names()):
                    raise _More(False)
                return 0
            end = text.find("\n", says.end())
            if end < 0:
                raise _More(True)
            return end
        words = ("action input:", "action:", "arguments:", "parameters:", "input:", "tool:", "tool call:", "tool_call:",
                 "function:", "calling:")  # fmt: skip
        if any(word.startswith(head) or (head.startswith(word) and text[len(word) :].isspace()) for word in words) or (
            (gives or says) and (gives or says).end() == len(text)  # type: ignore[union-attr]
        ):
            raise _More(False)
        return 0

    def _name(self, text: str) -> int:
        """The name of a tool, perhaps in bold, with its arguments right behind it."""
        decor = re.match(r"\*{0,3}`?", text)
        assert decor is not None  # noqa: S101  (it may be empty)
        at = decor.end()
        rest = text[at:]
        name = next((n for n in self._all_names() if rest.startswith(n)), None)
        if any(n.startswith(rest) and n != name for n in self._all_names()):
            raise _More(False)
        if name is None:
            return 0
        at += len(name)
        closed = decor[0][::-1]
        bold = bool(closed) and text.startswith(closed, at)
        if closed and closed.startswith(text[at:]):
            raise _More(False)
        at += len(closed) if bold else 0
        if text.startswith("(", at):
            return self._arguments(text, at, "" if bold else closed)
        at += text.startswith(":", at)
        at = _past_space(text, at)
        if at == len(text):
            raise _More(False)
        if text[at] != "{":
            return 0
        length = at + _balanced(text[at:], begun=True)
        return length if isinstance(_loads(text[at:length]), dict) else 0

    def _arguments(self, text: str, at: int, closing: str) -> int:
        length = at + _balanced(text[at:], begun=False)
        if not _ARGUMENTS.match(text[at + 1 : length - 1]):
            return 0
        if closing:
            if closing.startswith(text[length:]):
                raise _More(True)
            length += len(closing) if text.startswith(closing, length) else 0
        return length

    def _all_names(self) -> tuple[str, ...]:
        return (*self._names, *(prefix + name for prefix in _PREFIXES for name in self._names))


@lru_cache(64)
def _plain(firsts: str) -> re.Pattern[str]:
    """Words that no call in the middle of a line begins with, with one space between them: most of every answer."""
    return re.compile(rf"(?:[^\s`\[*•>{re.escape(firsts)}-]+ ?)+")


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _balanced(text: str, *, begun: bool) -> int:
    """How long the bracketed part is that `text` begins with, strings respected. Raises `_More`."""
    depth, quote, skip = 0, "", False
    for at, letter in enumerate(text):
        if skip:
            skip = False
        elif quote:
            skip = letter == "\\"
            quote = "" if letter == quote else quote
        elif letter == '"' or (letter == "'" and at and not text[at - 1].isalnum()):
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth == 0:
                return at + 1
    # An English parenthesis is let go with the answer's end; half an object is nothing anybody wants to hear.
    raise _More(begun or bool(_ARGUMENTS.match(text[1:]) and len(text) > 1))


def _loads(text: str) -> Any:
    try:
        return read_json(text)
    except ValueError:
        return None


def _is_call(value: Any, names: Sequence[str]) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_call(one, names) for one in value)
    if not isinstance(value, dict):
        return False
    if any(isinstance(value.get(key), dict | list) for key in ("function", "tool_call", "tool_calls", "function_call")):
        return True
    said = [value[key] for key in _KEYS if isinstance(value.get(key), str)]
    return bool(said) and (any(name in names for name in said) or any(key in value for key in _GIVEN))
