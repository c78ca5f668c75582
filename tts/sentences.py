"""Where sentences end.

It is sentencex behind masks: atoms that a rule decides better (abbreviations, initials, times, versions, URLs) are
decided here, and the library judges the rest. It knows nothing of pieces or engines. The one rule: an answer depends
on the text of the sentence and the word after it, never on how the text arrived.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import sentencex

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

# A title or a link between words: never an end.
_NEVER = frozenset(
    "dr mr mrs ms mx prof rev hon fr sr sra srta st ste mt ft gen col maj capt cmdr lt sgt cpl pvt adm gov sen rep pres "
    "supt messrs mmes mme mlle dott sig hr fam vs cf viz approx ca esp incl resp bzw ggf evtl usw.ä z.b d.h u.a o.ä i.d.r "
    "e.g i.e p.ej s.o s.u v.a str nr.n".split()
)
# Ends only where no number (or small letter) follows: "No. 5", "Jan. 5", but "No. I will not."
_BEFORE_NUMBER = frozenset(
    "no nos nr num p pp pg fig figs vol art sec ch chap eq par para ver v ed tab col jan feb mar apr jun jul aug sep sept "
    "oct nov dec nº".split()
)
# Ends where a capital follows, except before a day or a month: "at 5 p.m. The shop", "5 p.m. Monday".
_TIMES = frozenset("a.m p.m am pm etc usw".split())
_AFTER_TIMES = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september "
    "october november december est edt pst pdt cet cest gmt utc bst mst cst".split()
)
# Ends only where a word that opens sentences follows: "the U.S. It is", but "the U.S. Senate", "George W. Bush".
_NAMES = frozenset(
    "inc ltd corp co jr sr ph.d d.c u.s u.k u.n e.u b.a m.a m.d bros llc plc ave blvd rd dept est".split()
)
_OPENERS = frozenset(
    "a all also an and are as at because before both but by can could did do does during each even every few for from had "
    "has have he hence her here his how however i if in is it it's its let many maybe meanwhile more most my next no none "
    "not now of on once one only or other our perhaps please she should since so some still such thank that that's the "
    "their then there there's these they they're this those though three thus to today tomorrow two unless until was we "
    "we're were what what's when where which while who why will with would yes yet you you're your "
    "der die das ein eine er sie es wir ihr ich und aber dann "
    "le la les un une il elle nous vous je et mais el los las una yo y pero".split()
)


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
    for segment in sentencex.segment(language, masked):
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
    token = _TOKEN.search(text[max(0, run.start() - 24) : run.start()])
    name = token.group().lower().lstrip("-–—") if token else ""
    if not following:
        return (False if _waits(name, token.group() if token else "") and marks == "." else None), False
    word = _NEXT_WORD.match(following)
    capital = not word.group(1)[0].islower() if word else True
    whole = not word or word.end() < len(following)
    if marks[0] == "." and not marks.startswith(".."):
        verdict = _abbreviation(name, token.group() if token else "", word.group(1) if word else "", capital)
        if verdict is not None:
            return verdict, whole
    if len(marks) > 1 and marks[-1] in ")]" and capital:
        return True, whole
    return None, whole


def _abbreviation(name: str, token: str, word: str, capital: bool) -> bool | None:
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
    if name in _NAMES or (_INITIALS.match(name) and token[:1].isupper() and token != "I"):
        return capital and lowered in _OPENERS
    return None


def _ends_here(text: str) -> bool:
    """Whether `text`, if nothing more came, ends as a sentence does."""
    body = text.rstrip()
    if not re.search(rf"[.!?…{_HARD}][{_CLOSERS}]*$", body) or _LIST_NUMBER.match(body):
        return False
    token = _TOKEN.search(body[:-1][-24:])
    return not (body[-1] == "." and token and _waits(token.group().lower(), token.group()))


def _waits(name: str, token: str) -> bool:
    """Whether what stands before a last full stop is an abbreviation that more text would follow."""
    initials = _INITIALS.match(name) and token[:1].isupper() and token != "I"
    return bool(initials) or name in _NEVER or (name in _BEFORE_NUMBER and name != "no")


def _is_wide(character: str) -> bool:
    return "\u2e80" <= character <= "\u9fff" or "\uff00" <= character <= "\uff60"
