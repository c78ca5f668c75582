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
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]$")
_LIST_NUMBER = re.compile(r"\s*\(?\d{1,3}[.)]\s*$")
# 」 followed by a particle of quoting goes on: "…」と言った".
_QUOTING = re.compile(r"[」』](?:と|って|など|の|は|が|を|に)")

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
    masked = list(text[:stop])
    forced: dict[int, bool] = {}
    for run in _RUN.finditer(text, start, stop):
        verdict, sure = _judge(text, run, stop)
        if verdict is None:
            continue
        if verdict:
            forced[run.end()] = sure
            break
        for index in range(run.start(), run.end()):
            if _ENDS.match(text[index]):
                masked[index] = "x"
    limit = min(forced) if forced else stop
    at = _library_end("".join(masked[:limit]) + text[limit : limit + 40], language, start, limit)
    if at is not None and at < limit:
        return End(at, sure=bool(text[at:].strip()))
    if forced:
        return End(limit, sure=forced[limit])
    if broken:
        # A blank line ends whatever stands before it; what follows must be seen, or more blank lines may come.
        return End(stop, sure=broken.end() < len(text))
    if not cut_short and _ends_here(text):
        return End(len(text.rstrip()), sure=False)
    return None


def _library_end(masked: str, language: str, start: int, limit: int) -> int | None:
    """The first end that sentencex sees before `limit`, after our own repairs."""
    position = 0
    for segment in _segments(language, masked):
        position += len(segment)
        if position > limit:
            return None
        body = masked[:position].rstrip()
        at = len(body)
        if at <= start or at >= limit:
            continue
        if not _RUN.search(body[-6:]) or not re.search(rf"[.!?…{_HARD}][{_CLOSERS}]*$", body):
            continue  # a line's end is no sentence's end
        while at < limit and masked[at] in _CLOSERS:
            at += 1
        tail = masked[at - 1 : at + 2]
        if _QUOTING.match(tail) or not is_speakable(body[start:]) or _LIST_NUMBER.match(body[start:]):
            continue
        if masked[at : at + 1].strip() and body[-1] in ".!?…":
            continue  # "Hello.World", "Yahoo!,": an end stands before a space
        return at
    return None


def _judge(text: str, run: re.Match[str], stop: int) -> tuple[bool | None, bool]:
    """(True an end, False none, None ask the library; whether the next word is whole) for one run of marks."""
    marks = run.group()
    after = text[run.end() : stop]
    following = after.lstrip()
    if marks[0] in _HARD:
        if _QUOTING.match(text[run.end() - 1 : run.end() + 3]):
            return False, True
        return True, bool(after)
    if after and not after[0].isspace():
        return (None, True) if _is_wide(after[0]) and marks[0] != "." else (False, True)
    word_before = _TOKEN.search(text[max(0, run.start() - 24) : run.start()])
    name = word_before.group().lower().lstrip("-–—") if word_before else ""
    if not following:
        return (False if _waits(name, word_before.group() if word_before else "") and marks == "." else None), False
    word = _NEXT_WORD.match(following)
    capital = not word.group(1)[0].islower() if word else True
    whole = not word or word.end() < len(following)
    if marks[0] == "." and not marks.startswith(".."):
        verdict = _abbreviation(
            name, word_before.group() if word_before else "", word.group(1) if word else "", capital
        )
        if verdict is not None:
            return verdict, whole
    if len(marks) > 1 and marks[-1] in ")]" and capital:
        return True, whole
    return None, whole


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
    if name in _NAMES or (_INITIALS.match(name) and word_before[:1].isupper() and word_before != "I"):
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
