"""Where sentences end.

It is sentencex behind masks: atoms that a rule decides better (abbreviations, initials, times, versions, URLs) are
decided here, and the library judges the rest. It knows nothing of pieces or engines. The one rule: an answer depends
on the text of the sentence and the word after it, never on how the text arrived.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files

from sentencex import segment as _segments  # type: ignore[attr-defined]

from tts.words import is_speakable

# Marks that end a sentence with no space behind them, and those of other scripts that always end one.
_HARD = "。！？｡।॥۔؟։።។။"
_CLOSERS = "\"'”’»)\\]」』】）〉》›"
_ENDS = re.compile(rf"[.!?…{_HARD}]")
_RUN = re.compile(rf"[.!?…{_HARD}]+[{_CLOSERS}]*")
_BREAK = re.compile(r"[ \t\r]*\n[ \t\r]*\n\s*")
_TOKEN = re.compile(r"[^\s\"'“”‘’«»(\[\]]+$")
_NEXT_WORD = re.compile(r"[\"'“‘«(\[¿¡]*([^\s.,;:!?)\]\"”’»]+)")
_DAY = re.compile(r"\d{1,2}$")
# The next character that is no opening quote or bracket, with what stands before it.
_FOLLOWING = re.compile(r"\s*[\"'“‘«(\[¿¡]*[^\s\"'“‘«(\[¿¡]")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]$")
_LIST_NUMBER = re.compile(r"\s*\(?\d{1,3}[.)]\s*$")
# 」 followed by a particle of quoting goes on: "…」と言った".
_QUOTING = re.compile(r"[」』][とっなのはがをに]")

# Characters before and after an end that are looked at.
_CONTEXT = 160

_LISTS = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(files("tts").joinpath("ends.toml").read_text("utf-8")).items()
}
_NEVER, _BEFORE_NUMBER, _TIMES = _LISTS["never"], _LISTS["before_number"], _LISTS["times"]
_AFTER_TIMES, _NAMES, _OPENERS = _LISTS["after_times"], _LISTS["names"], _LISTS["openers"]


@dataclass(frozen=True, slots=True)
class End:
    """An end of a sentence: `at` is the index after its marks; `sure` is false while the next word could undo it."""

    at: int
    sure: bool


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of `text` without the spaces around them. `language` is ISO 639-1; an unknown one is no error."""
    found: list[str] = []
    rest = text
    while rest.strip():
        end = first_end(rest, language)
        at = end.at if end else len(rest)
        found.append(rest[:at].strip())
        rest = rest[at:]
    return [sentence for sentence in found if sentence]


def first_end(text: str, language: str = "en") -> End | None:
    """The end of the first sentence of `text`, or None where it has no end inside; the text's own end counts as one.

    An end is not `sure` while nothing follows it, or while the word after it is not whole and would decide.
    """
    window = 240  # a sentence and its next word, mostly; grows until the text is seen whole
    while True:
        found = _first_end(text[:window], language, cut_short=window < len(text))
        if found is not None or window >= len(text):
            return found
        window *= 4


def _first_end(text: str, language: str, *, cut_short: bool) -> End | None:
    start = len(text) - len(text.lstrip())
    broken = _BREAK.search(text, start)
    stop = broken.start() if broken else len(text)
    masked = list(text)
    for run in _RUN.finditer(text, start, stop):
        verdict, sure = _judge(text, run, stop, language)
        head = "".join(masked[max(start, run.end() - _CONTEXT) : run.end()])
        if not is_speakable(head) or (run.end() - start < 12 and _LIST_NUMBER.match(head)):
            verdict = False
        if verdict is None:
            tail = _FOLLOWING.match(text, run.end(), min(stop, run.end() + _CONTEXT))
            verdict = tail is not None and _library_ends(head, tail.group(), language)
        if verdict:
            return End(run.end(), sure)
        for index in range(run.start(), run.end()):
            if _ENDS.match(masked[index]):
                masked[index] = "x"
    if broken:
        # A blank line ends whatever stands before it; what follows must be seen, or more blank lines may come.
        return End(stop, sure=broken.end() < len(text))
    if not cut_short and _ends_here(text):
        return End(len(text.rstrip()), sure=False)
    return None


def _library_ends(head: str, tail: str, language: str) -> bool:
    """Whether sentencex ends a sentence between the two; it is shown no more than the next character, so that the
    answer stays what it is when more text comes."""
    position = 0
    for segment in _segments(language, head + tail):
        position += len(segment)
        if len(head) <= position < len(head) + len(tail):
            return True
    return False


def _judge(text: str, run: re.Match[str], stop: int, language: str) -> tuple[bool | None, bool]:
    """(True an end, False none, None ask the library; whether the next word is whole) for one run of marks."""
    marks = run.group()
    after = text[run.end() : min(stop, run.end() + _CONTEXT)]
    following = after.lstrip()
    if marks[0] in _HARD:
        if _QUOTING.match(text[run.end() - 1 : run.end() + 1]):
            return False, True
        return True, bool(text[run.end() : run.end() + _CONTEXT].strip())
    if after and not after[0].isspace():
        return (None, True) if _is_wide(after[0]) and marks[0] != "." else (False, True)
    word_before = _TOKEN.search(text[max(0, run.start() - 24) : run.start()])
    name = word_before.group().lower().lstrip("-–—") if word_before else ""
    if not following:
        return (False if _waits(name, word_before.group() if word_before else "") and marks == "." else None), False
    word = _NEXT_WORD.match(following)
    capital = not word.group(1)[0].islower() if word else True
    whole = not word or word.end() < len(following)
    if marks == "." and _DAY.match(name) and language != "en":
        # An ordinal, "am 5. Mai", where the month follows.
        return (False if word and word.group(1).lower() in _LISTS["months"] else None), whole
    if marks[0] == "." and not marks.startswith(".."):
        verdict = _abbreviation(
            name, word_before.group() if word_before else "", word.group(1) if word else "", capital
        )
        if verdict is not None:
            return verdict, whole
    if len(marks) > 1 and marks[-1] in ")]" and capital:
        return True, True
    return None, True


def _abbreviation(name: str, word_before: str, word: str, capital: bool) -> bool | None:
    """What a single full stop after `name` means; None where it is no abbreviation that we know."""
    lowered = word.lower()
    if name in _NEVER:
        return False
    if name in _BEFORE_NUMBER:
        if name == "no" and not word[:1].isdigit():
            return capital or None
        return None if capital and not word[:1].isdigit() and name not in ("v", "p", "pp") else False
    if name in _TIMES:
        return capital and lowered not in _AFTER_TIMES
    if name in _NAMES or (_INITIALS.match(name) and word_before[:1].isupper()):
        return capital and lowered in _OPENERS
    return None


def _ends_here(text: str) -> bool:
    """Whether `text`, if nothing more came, ends as a sentence does."""
    body = text.rstrip()
    if not re.search(rf"[.!?…{_HARD}][{_CLOSERS}]*$", body) or _LIST_NUMBER.match(body):
        return False
    word_before = _TOKEN.search(body[:-1][-24:])
    return not (body[-1] == "." and word_before and _waits(word_before.group().lower(), word_before.group()))


def _waits(name: str, word_before: str) -> bool:
    """Whether what stands before a last full stop is an abbreviation that more text would follow."""
    initials = _INITIALS.match(name) and word_before[:1].isupper() and word_before != "I"
    return bool(initials) or name in _NEVER or (name in _BEFORE_NUMBER and name != "no")


def _is_wide(character: str) -> bool:
    return "\u2e80" <= character <= "\u9fff" or "\uff00" <= character <= "\uff60"
