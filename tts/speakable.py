"""The streaming filter between what a model writes and what is read aloud: marks, emoji, reasoning and tool calls go.

It cleans and does not cut, and it does not read numbers (see `cut.py`, `reading.py`). The one rule: every decision is
made on as much text as decides it, so that the result is the same whatever the sizes of the deltas.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable

from tts import marks

# What is held undecided at most: characters, and seconds since the last delta.
HELD_CHARACTERS = 2_000
HELD_S = 2.0
# A mark at the very end ("Hi!", which could open an image) waits only as long as an end of a sentence does.
HELD_BRIEFLY_S = 0.15
# How far the end of an emphasis is looked for before the words are let go.
EMPHASIS_REACH = 80

_DECODER = json.JSONDecoder()
Found = tuple[int, str]


def speakable(text: str) -> str:
    """All of `text`, cleaned at once."""
    cleaner = Speakable()
    return cleaner.push(text) + cleaner.flush()


class Speakable:
    """One answer's filter: `push` deltas, `due` when time passes, `flush` at the end; each gives text to be read."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, inline: bool = False) -> None:
        self._clock = clock
        self._buffer = ""
        self._held_since_s: float | None = None
        self._line_start = not inline
        self._item_start = False
        self._table = False
        self._block = False  # the line is a heading, an item or a row: its end is a pause
        self._pause = False  # a pause is due before the next text
        self._fence = ""
        self._hidden = ""  # the tag whose span is being dropped
        self._open: list[str] = []
        self._before = ""  # the source character before the buffer
        self._tail = ""  # the last two characters given
        self._skip_space = False

    @property
    def due_s(self) -> float | None:
        """When `due` would let go of what is held, on the clock; None where nothing is held."""
        if self._held_since_s is None or self._fence or self._hidden:
            return None
        return self._held_since_s + (HELD_BRIEFLY_S if len(self._buffer) <= 2 else HELD_S)

    def push(self, delta: str) -> str:
        """What can be read once `delta` is there."""
        self._buffer += delta
        return self._drain(final=False)

    def due(self, now_s: float) -> str:
        """What was held for too long, as it is."""
        if self.due_s is None or now_s < self.due_s:
            return ""
        return self._drain(final=True)

    def flush(self) -> str:
        """The end: all that is still held, unless it is reasoning or a tool call."""
        return self._drain(final=True)

    def _drain(self, *, final: bool) -> str:
        out: list[str] = []
        done = 0
        whole = self._buffer
        while done < len(whole):
            view = whole[done : done + HELD_CHARACTERS]
            found = self._step(view, final or len(view) >= HELD_CHARACTERS)
            if found is None:
                break
            used, text = found
            out.append(self._given(text))
            if used:
                self._before = view[used - 1]
            done += used
        self._buffer = whole[done:]
        if not self._buffer:
            self._held_since_s = None
        elif done or self._held_since_s is None:
            self._held_since_s = self._clock()
        return "".join(out)

    def _given(self, text: str) -> str:
        if self._skip_space and text:
            self._skip_space = False
            if text[0] == " " and (not self._tail or self._tail[-1].isspace()):
                text = text[1:]
        if self._pause and text.strip("\n"):
            if self._tail:
                missing = 2 - (len(self._tail) - len(self._tail.rstrip("\n")))
                text = "\n" * max(0, missing) + text.lstrip(" ")
            self._pause = False
        if text:
            self._tail = (self._tail + text)[-2:]
        return text

    def _step(self, view: str, final: bool) -> Found | None:
        """How many characters are decided and what they give; None where more text must come first."""
        if self._fence:
            return self._in_fence(view, final)
        if self._hidden:
            return self._in_hidden(view, final)
        if self._line_start:
            return self._at_line_start(view, final)
        return self._inline(view, final)

    # Blocks

    def _in_fence(self, view: str, final: bool) -> Found | None:
        end = view.find("\n")
        if end < 0:
            return (len(view), "") if final else None
        if view[:end].strip().startswith(self._fence) and not view[:end].strip().strip(self._fence[0]):
            self._fence = ""
            self._line_start = self._pause = True
        return end + 1, ""

    def _in_hidden(self, view: str, final: bool) -> Found | None:
        close = re.search(rf"</{re.escape(self._hidden)}\s*>", view, re.IGNORECASE)
        if close:
            self._hidden = ""
            self._skip_space = True
            return close.end(), ""
        if final:
            return max(1, len(view) - 40) if len(view) >= HELD_CHARACTERS else len(view), ""
        return None

    def _at_line_start(self, view: str, final: bool) -> Found | None:
        rest = view.lstrip(" \t")
        lead = len(view) - len(rest)
        if not rest:
            return (len(view), view) if final else None
        first = rest[0]
        if first == ">" and lead < 4:
            if len(rest) < 2 and not final:
                return None
            return lead + (2 if rest[1:2] == " " else 1), ""
        for rule in (self._fence_line, self._rule_or_item, self._heading, self._number, self._row, self._call):
            verdict = rule(rest, final)
            if verdict is None:
                return None
            if verdict[0]:
                return lead + verdict[0], verdict[1]
        self._line_start = False
        return lead, view[:lead]

    def _fence_line(self, rest: str, final: bool) -> Found | None:
        if rest[0] not in "`~":
            return 0, ""
        run = len(rest) - len(rest.lstrip(rest[0]))
        if run < 3:
            return (0, "") if run < len(rest) or final else None
        end = rest.find("\n")
        if end < 0 and not final:
            return None
        line = rest if end < 0 else rest[:end]
        if rest[0] in line[run:]:
            return 0, ""  # code within a line
        self._fence = rest[0] * run
        self._pause = True
        return len(line) + (0 if end < 0 else 1), marks.CODE

    def _rule_or_item(self, rest: str, final: bool) -> Found | None:
        first = rest[0]
        if first not in marks.BULLETS + "_=":
            return 0, ""
        run = 0
        while run < len(rest) and rest[run] in (first, " ", "\t"):
            run += 1
        if run == len(rest) and not final:
            return None
        if first in "-*_=" and rest[:run].count(first) >= 3 and rest[run : run + 1] in ("\n", ""):
            self._pause = True
            self._line_start = False
            return run, ""
        if first in marks.BULLETS and rest[1:2] in (" ", "\t") and rest[run : run + 1] not in ("\n", ""):
            self._begin_block(item=True)
            return len(rest) - len(rest[1:].lstrip(" \t")), ""
        return 0, ""

    def _heading(self, rest: str, final: bool) -> Found | None:
        if rest[0] != "#":
            return 0, ""
        run = len(rest) - len(rest.lstrip("#"))
        if run == len(rest) and not final:
            return None
        if run > 6 or rest[run : run + 1] not in (" ", "\t"):
            return 0, ""
        self._begin_block()
        return run + 1, ""

    def _number(self, rest: str, final: bool) -> Found | None:
        if not rest[0].isdigit():
            return 0, ""
        found = re.match(r"\d{1,3}(?:[.)](?:[ \t]|$)?|$)", rest)
        if found and found.end() == len(rest) and rest[-1] not in " \t" and not final:
            return None
        item = re.match(r"\d{1,3}[.)][ \t]", rest)
        if not item:
            return 0, ""
        self._begin_block(item=True)
        return item.end(), item.group()

    def _row(self, rest: str, final: bool) -> Found | None:
        if rest[0] != "|":
            return 0, ""
        ruling = re.match(r"\|[ \t:|+-]*", rest)
        end = ruling.end() if ruling else 0
        if end == len(rest) and not final:
            return None
        if "-" in rest[:end] and rest[end : end + 1] in ("\n", ""):
            return min(len(rest), end + 1), ""
        self._begin_block()
        self._table = True
        return len(rest) - len(rest[1:].lstrip(" \t")), ""

    def _call(self, rest: str, final: bool) -> Found | None:
        """A tool call that was written as a JSON object."""
        if rest[0] != "{" or not re.match(r"\{\s*(?:\"|$)", rest):
            return 0, ""
        if "}" in rest:
            try:
                value, end = _DECODER.raw_decode(rest)
            except ValueError:
                return (0, "") if final else None
            keys = set(value)
            is_call = keys & marks.CALL_NAMES and keys & marks.CALL_INPUTS
            return (end, "") if is_call or "tool_calls" in keys else (0, "")
        return (0, "") if final else None

    def _begin_block(self, *, item: bool = False) -> None:
        self._line_start = False
        self._pause = self._block = True
        self._item_start = item

    # Within a line

    def _inline(self, view: str, final: bool) -> Found | None:
        first = view[0]
        item_start, self._item_start = self._item_start, False
        found: Found | None
        if first == "\n":
            found = self._newline()
        elif first in " \t":
            found = self._space(view, final)
        elif first in "!" and view[1:2] in ("", "["):
            found = self._image(view, final)
        elif first == "[":
            found = self._bracket(view, final, item_start=item_start)
        elif first == "<":
            found = self._tag(view, final)
        elif first == "`":
            found = self._code(view, final)
        elif first in marks.EMPHASIS:
            found = self._emphasis(view, final)
        elif first == "\\":
            found = self._escape(view, final)
        elif first == "|" and self._table:
            found = self._cell(view, final)
        elif first == "【":
            found = self._lenticular(view, final)
        elif silent := marks.SILENT.match(view):
            self._skip_space = True
            found = silent.end(), ""
        elif first == "\u200d" and marks.SILENT.match(self._before or "a"):
            found = 1, ""
        else:
            found = self._words(view, final)
        if found is None:
            self._item_start = item_start
        return found

    def _newline(self) -> Found:
        if self._before == "\n":
            self._open.clear()
        self._line_start = True
        self._table = False
        if self._block:
            self._pause, self._block = True, False
        return 1, "\n"

    def _space(self, view: str, final: bool) -> Found | None:
        run = len(view) - len(view.lstrip(" \t"))
        if run == len(view):
            return (run, view) if final else None
        follower = view[run]
        if follower in "[【":
            found = self._bracket(view[run:], final) if follower == "[" else self._lenticular(view[run:], final)
            if found is None:
                return None
            if not found[1] and found[0]:
                return run + found[0], ""
        if follower == "|" and self._table:
            return run, ""
        return run, view[:run]

    def _image(self, view: str, final: bool) -> Found | None:
        if len(view) == 1:
            return (1, "!") if final else None
        found = self._bracket(view[1:], final, image=True)
        if found is None:
            return None
        return (1 + found[0], found[1]) if found[0] > 1 else (1, "!")

    def _bracket(self, view: str, final: bool, *, item_start: bool = False, image: bool = False) -> Found | None:
        """A link is its label, an image its alt text, a citation nothing; other brackets stay."""
        literal = (1, "[")
        close = _closing(view, "[", "]")
        if close is None:
            return literal if final or "\n\n" in view else None
        label, after = view[1:close], view[close + 1 :]
        if item_start and label in (" ", "x", "X"):
            self._skip_space = True
            return close + 1, ""
        if label == "TOOL_CALLS":
            end = view.find("\n")
            return (len(view) if end < 0 else end, "") if end >= 0 or final else None
        if not after and not final:
            return None
        if after[:1] in ("(", "["):
            stop = _closing(after, after[0], ")" if after[0] == "(" else "]")
            if stop is None and not final and "\n" not in after:
                return None
            if stop is not None:
                is_cited = not image and marks.CITATION.fullmatch(label) and after[0] == "["
                return (close + 1, "") if is_cited else (close + 2 + stop, _inner(label))
        if marks.CITATION.fullmatch(label):
            self._skip_space = True
            return close + (2 if label[0] == "^" and after[:1] == ":" else 1), ""
        return literal

    def _tag(self, view: str, final: bool) -> Found | None:
        if view[1:2] == "|":
            special = marks.SPECIAL_TOKEN.match(view)
            if special:
                return special.end(), ""
            return (1, "<") if final or len(view) > 64 or "\n" in view or " " in view else None
        if view[:8].lower() == "<http://" or view[:9].lower() == "<https://":
            end = re.search(r"[>\s]", view)
            if end is None and not final:
                return None
            return (end.end(), _host(view[1 : end.start()])) if end and end.group() == ">" else (1, "")
        tag = marks.TAG.match(view)
        if tag:
            return self._whole_tag(tag)
        begun = marks.TAG_BEGUN.match(view)
        if not begun or final:
            return 1, "<"
        name = (begun.group(1) or "").lower()
        known = marks.HIDDEN | marks.MARKUP
        if begun.group(2):
            possible = name in known or view[:9].lower() in ("<http:", "<http:/", "<https:", "<https:/")
            possible = possible or (not name and begun.group(2) == "/")
        else:
            possible = any(word.startswith(name) for word in known) or "https".startswith(name)
        return None if possible else (1, "<")

    def _whole_tag(self, tag: re.Match[str]) -> Found:
        name = tag.group(2).lower()
        if name in marks.HIDDEN:
            if not tag.group(1) and not tag.group(3).endswith("/"):
                self._hidden = name
            self._skip_space = True
            return tag.end(), ""
        if name in marks.MARKUP:
            self._pause = self._pause or name in marks.BLOCKS
            return tag.end(), ""
        return 1, "<"

    def _code(self, view: str, final: bool) -> Found | None:
        run = len(view) - len(view.lstrip("`"))
        if run == len(view) and not final:
            return None
        close = re.search(rf"(?<!`)`{{{run}}}(?!`)", view[run:].partition("\n\n")[0])
        if close and (close.end() + run < len(view) or final):
            return run + close.end(), view[run : run + close.start()].strip()
        return (run, view[:run]) if final or "\n\n" in view else None

    def _emphasis(self, view: str, final: bool) -> Found | None:
        mark = view[0]
        run = len(view) - len(view.lstrip(mark))
        if run == len(view) and not final:
            return None
        token, follower = view[:run], view[run : run + 1]
        literal = (run, token)
        in_word = self._before.isalnum() and follower.isalnum()
        if token in self._open and not self._before.isspace() and not (mark == "_" and in_word):
            self._open.remove(token)
            return run, ""
        allowed = run == 2 if mark in "~=" else run <= 3
        if not allowed or not follower or follower.isspace() or self._before.isalnum():
            return literal
        reach = view[run : run + EMPHASIS_REACH]
        blank = reach.find("\n\n")
        inner = reach if blank < 0 else reach[:blank]
        close = re.search(rf"(?<=[^\s{re.escape(mark)}]){re.escape(token)}(?![{re.escape(mark)}])", inner)
        if close and mark == "_":
            name = re.match(rf"\w*{token}(?!\w)", inner)
            if run == 2 and name and name.end() == close.end():
                return run + close.end(), view[: run + close.end()]  # __dunder__
        if close and (close.end() < len(inner) or len(reach) >= EMPHASIS_REACH or blank >= 0 or final):
            self._open.append(token)
            return run, ""
        if len(reach) < EMPHASIS_REACH and blank < 0 and not final:
            return None
        if mark == "*" and run >= 2 and len(reach) >= EMPHASIS_REACH and blank < 0:
            self._open.append(token)  # a long bold passage: do not wait for its end
            return run, ""
        return literal

    def _escape(self, view: str, final: bool) -> Found | None:
        if len(view) == 1:
            return (1, "\\") if final else None
        return (2, view[1]) if view[1] in "*_#`[]|~" else (1, "\\")

    def _cell(self, view: str, final: bool) -> Found | None:
        after = view[1:].lstrip(" \t")
        if not after and not final:
            return None
        used = len(view) - len(after)
        return used, "" if not after or after[0] == "\n" else ", "

    def _lenticular(self, view: str, final: bool) -> Found | None:
        found = re.match(r"【[^】\n]{0,60}】", view)
        if found:
            return (found.end(), "") if re.match(r"【\d+", view) else (1, "【")
        return (1, "【") if final or len(view) > 62 or "\n" in view else None

    def _words(self, view: str, final: bool) -> Found | None:
        if view[0] in "hHwW" and not self._before.isalnum():
            lowered = view[:8].lower()
            if not final and any(start.startswith(lowered) for start in marks.URL_STARTS):
                return None
            url = marks.URL.match(view)
            if url and url.end() > len("www."):
                if url.end() == len(view) and not final:
                    return None
                address = url.group().rstrip(".,;:!?")
                return len(address), _host(address)
        run = re.match(r"[A-Za-z0-9]+", view)
        if run:
            return run.end(), run.group()
        stop = marks.STOP.search(view, 1)
        used = stop.start() if stop else len(view)
        return used, view[:used]


def _closing(view: str, opener: str, closer: str) -> int | None:
    """The index of the bracket that closes the one at 0."""
    depth = 0
    for index, character in enumerate(view):
        if character == opener:
            depth += 1
        elif character == closer:
            depth -= 1
            if not depth:
                return index
        elif character == "\n" and view[index + 1 : index + 2] == "\n":
            return None
    return None


def _inner(label: str) -> str:
    cleaner = Speakable(inline=True)
    return cleaner.push(label) + cleaner.flush()


def _host(address: str) -> str:
    found = marks.HOST.match(address)
    return found.group(1) if found else marks.A_LINK
