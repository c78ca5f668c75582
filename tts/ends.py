"""Whether a run of marks ends a sentence: the judgement, apart from the reading.

It is sentencex behind rules: what rules decide better (abbreviations, initials, times, dates, ordinals, quoted words,
versions and addresses) is decided here from the lists in `ends.toml`, and the library, which knows the abbreviations of
300 languages, judges the rest.

Why sentencex (1.0.32, MIT, Rust, 4 MB, 14 ms to import) and not blingfire (0.1.8, MIT, C++, 99 MB, built in 2021): of
the texts in `tests/tts/`, alone, it ends 18 of the 18 in `sentences.json` rightly, 301 of 347 in English and 166 of 212
in other languages (140 when it is not told which); blingfire, which knows no languages, 15, 298 and 156. It takes 5 µs
for 246 characters, blingfire 23. Both change their mind as text follows, so it is asked about one mark at a time and
shown one character behind it. With the rules, which were made on these texts, all are right, whether the language is
told or not; of the 185 that were written last (`ends-more.txt`), 179 were right before the rules had seen them.

The one rule: a verdict that is sure holds whatever text follows.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

from sentencex import segment as _segments  # type: ignore[attr-defined]

from tts.lines import Verdict, line_break
from tts.words import is_speakable

# Marks that end a sentence with no space behind them: CJK, Indic, Arabic, Burmese, Khmer, Thai, Tibetan, Ethiopic and
# Armenian.
HARD = "。！？｡．।॥۔؟။៕។๚๛༎།።፧։"
SOFT = ".!?…‼⁇⁈⁉"
CLOSERS = "\"'”’“‘»›)\\]」』】）〉》"
# How far before and after a mark is looked. A space longer than this ends a sentence whatever stands behind it.
BEFORE = 160
AFTER = 160

_OPENERS = "\"'“‘„«»‹(\\[¿¡「『（【–—-"
_GUILLEMET = r"(?:[ \u00a0\u202f]?[»›](?=[\s.,;:!?)]|$))"
_SILENT = r"(?:[ ]?[\u2600-\u27bf\u2b50\ufe0f\u200d\U0001f000-\U0001faff])"
_RUN = re.compile(rf"[{SOFT}{HARD}]+(?:[{CLOSERS}]+|{_GUILLEMET}){{0,4}}{_SILENT}{{0,8}}")
_LAST = re.compile(r"[^\s\"'“”‘’«»„‹›(\[\]\u2e80-\u9fff]+$")
_SPACED_LETTERS = re.compile(r"(?<!\w)(?:[^\W\d_]\.[ \u00a0\u202f]?-?){1,5}(?:[^\W\d_]|Chr)$")
_WORD = re.compile(rf"[{_OPENERS}]*([^\s.,;:!?)\]\"”»…{_OPENERS}][^\s.,;:!?)\]\"”»…]*)")
_CLOSING = frozenset("\"'”’“‘»›)]」』】）〉》")
_NEXT_INITIAL = re.compile(r"[A-Z]\.")
# "At 9 a.m." alone says nothing yet.
_WHEN = re.compile(
    r"\s*(?:at|by|around|about|before|after|until|since|from|on|in)\s[\d:.]{1,5}\s?[ap]\.?m$", re.IGNORECASE
)
_INITIALS = re.compile(r"(?:[^\W\d_]\.-?)*[^\W\d_]$")
_DAY = re.compile(r"\d{1,2}$")
_LIST_NUMBER = re.compile(r"\s*\(?(?:\d{1,3}|[a-zA-Z])[.)]\s*$")
_SPEAKER = re.compile(r"\s+(\w+)")
# 」 followed by a particle of quoting goes on: "…」と言った".
_QUOTING = re.compile(r"[」』][とっなのはがをにでもや]")
_FOLLOWING = re.compile(rf"\s*[{_OPENERS}]*[^\s{_OPENERS}]")
_BEHIND_EMOJI = re.compile(rf"(?<=[{SOFT}{CLOSERS}]){_SILENT}+$")
_GREEK_QUESTION = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff];")

_QUOTES = "\"'“‘„«»‹([¿¡「『（【–—-"

_LISTS = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(files("tts").joinpath("ends.toml").read_text("utf-8")).items()
}

_SHORTENED = frozenset().union(
    *(_LISTS[kind] for kind in ("titles", "never", "before_number", "dates", "units", "times", "names", "ordinary"))
)


NO, END = Verdict(False), Verdict(True)


def run_at(text: str, at: int) -> int:
    """The index behind the marks that begin at `at`, with the closing quotes, brackets and emoji behind them."""
    if text[at] == ";":
        return at + 1
    found = _RUN.match(text, at)
    return found.end() if found else at + 1


def judge(text: str, at: int, end: int, start: int, masked: str, language: str) -> Verdict:
    """The verdict on the marks in `text[at:end]` of a sentence that begins at `start` (or before 0).

    `masked` is the sentence up to `end` with the marks that were found to end nothing replaced by letters.
    """
    marks, after = text[at:end], text[end : end + AFTER]
    following = after.lstrip()
    if marks[0] == ";" and (at == 0 or not _GREEK_QUESTION.match(text, at - 1)):
        return NO
    if not is_speakable(masked):
        return NO if following else Verdict(False, False)
    if not following:
        return Verdict(_may_end(text, at, end, start), sure=len(after) >= AFTER)
    if "\n" in after[: len(after) - len(following)]:
        line = line_break(text, text.index("\n", end))
        if line.ends or not line.sure:
            return Verdict(not line.sure, line.sure)  # the break ends the sentence, not the marks
    if marks[0] in HARD:
        return _hard(text, at, end)
    if not after[0].isspace():
        return Verdict(_is_wide(after[0]) and marks[0] in "!?")
    word_found = _WORD.match(following)
    word = word_found.group(1) if word_found else ""
    dots = marks[0] == "…" or marks.startswith("..")
    reach = word_found.end() if word_found else len(following) - len(following.lstrip(_QUOTES))
    whole = reach < len(following) or len(after) >= AFTER
    if following[0] in "—–" and following[1:2].islower():
        return NO  # ¿Vienes? —preguntó.
    if marks[0] == "." and not dots and "!" not in marks and "?" not in marks:
        verdict = _full_stop(text, at, start, word, following, language)
        if verdict is not None:
            return Verdict(verdict, whole)
        if not whole and (word[:1].islower() or _is_known(text[max(0, at - BEFORE) : at])):
            return Verdict(True, sure=False)
    if not _CLOSING.isdisjoint(marks):
        if marks[-1] in ")]" and not word[:1].islower():
            return Verdict(True, sure=bool(word) or whole)
        judged = _quoted(marks, following, word_found)
        if judged is not None:
            return judged
    if dots:
        return _ellipsis(text[max(0, at - BEFORE) : at], word, following, whole=whole)
    if marks in (".?", ".!"):
        return Verdict(not _is_small(word), whole)  # "Is it a.m. or p.m.? I forget."
    if marks == "!" and _is_small(word) and not _begins_small(text, start):
        return Verdict(False, whole)  # "They watch Jeopardy! on Mondays."
    tail = _FOLLOWING.match(after)
    if tail is None:
        return Verdict(True, sure=len(after) >= AFTER)
    if marks[0] == ";":
        return Verdict(not word[:1].islower(), whole)
    return Verdict(_library_ends(_BEHIND_EMOJI.sub("", masked[-BEFORE:]), tail.group(), language))


def _hard(text: str, at: int, end: int) -> Verdict:
    if text[at] == "．" and text[end : end + 1].isdigit():
        return NO
    return NO if _QUOTING.match(text[end - 1 : end + 1]) else END


def _ellipsis(before: str, word: str, following: str, *, whole: bool) -> Verdict:
    """Three dots end where a capital follows that does not say the last word again: "I... I mean"."""
    if not following.strip(_QUOTES):
        return Verdict(True, sure=False)
    if word and before[-len(word) :].lower() == word.lower():
        return Verdict(False, whole)
    ends = bool(word) and (word[0].isupper() or not (word[0].islower() or word[0].isdigit()))
    return Verdict(ends, whole or not ends)


def _quoted(marks: str, following: str, word: re.Match[str] | None) -> Verdict | None:
    """Behind a closing quote "Tom asked." goes on, where the quoted words asked or cried."""
    if word is None or not word.group(1)[0].isalpha() or following[0] in "\"'“‘„«(":
        return None
    if word.group(1)[0].islower():
        return NO
    if marks[0] == "." and len(marks) < 3:
        return END
    behind = _SPEAKER.match(following, word.end())
    if behind is None:
        seen = bool(following[word.end() :].strip()) or len(following) > AFTER // 2
        return Verdict(True, sure=seen)
    said = behind.group(1) in _LISTS["saying"] and word.group(1).lower() not in _LISTS["openers"]
    return Verdict(not said, sure=behind.end() < len(following))


def _full_stop(text: str, at: int, start: int, word: str, following: str, language: str) -> bool | None:
    """What a full stop after a word, a number or a letter means; None where it is nothing that we know."""
    before = text[max(0, at - BEFORE) : at]
    found = _LAST.search(before[-40:])
    if found is None:
        return None
    last = found.group().lstrip("-–—")
    if at - start < 12 and _LIST_NUMBER.match(text[start : at + 1]) and (last.isdigit() or _labels(last, word)):
        return False
    if following.startswith(("J.-C", "J.C", "Chr.")) or (len(last) == 1 and _NEXT_INITIAL.match(following)):
        return False
    if at - start < 32 and _WHEN.match(text[start:at]):
        return False
    capital = not _is_small(word)
    if _DAY.match(last):
        ordinal = _ordinal(before[: len(before) - len(last)], word.lower(), language)
        return False if ordinal is None and word and not capital and not _begins_small(text, start) else ordinal
    if not word:
        return True if following[:1] in '"“„«' and not _waits(before, last) else None
    verdict = _abbreviation(_name(before, last), last, before, word, capital=capital)
    if verdict is None and not capital and not _begins_small(text, start):
        return False
    return verdict


def _is_known(before: str) -> bool:
    """Whether the word, number or letter that ends `before` is one of those whose full stop the next word explains."""
    found = _LAST.search(before[-40:])
    if found is None:
        return False
    last = found.group().lstrip("-–—")
    name = _name(before, last)
    listed = name in _SHORTENED or name.endswith(("str", ".chr", ".j.-c"))
    return listed or bool(_DAY.match(last) or _INITIALS.match(name))


def _is_small(word: str) -> bool:
    """Whether a word is written small; "iPhone" is not."""
    return word[:1].islower() and word.islower()


def _begins_small(text: str, start: int) -> bool:
    """Whether the sentence itself begins with a small letter, as those of people who write no capitals do."""
    first = next((character for character in text[max(0, start) : max(0, start) + 40] if character.isalpha()), "")
    return start >= 0 and first.islower()


def _labels(last: str, word: str) -> bool:
    """Whether a letter that begins a sentence labels it: "b. Rinse it." """
    return len(last) == 1 and last != "I" and not word[:1].isdigit()


def _name(before: str, last: str) -> str:
    """The abbreviation that ends `before`, its spaces left out: "z. B" is "z.b"."""
    spaced = _SPACED_LETTERS.search(before[-24:])
    name = spaced.group() if spaced else last
    return re.sub(r"[\s]", "", name).lower()


def _ordinal(before: str, word: str, language: str) -> bool | None:
    """ "am 3. Mai" and "der 2. Weltkrieg" go on."""
    if word in _LISTS["months"]:
        return False
    last = before.split()[-1].lower() if before.split() else ""
    if word in _LISTS["shared_months"]:
        return False if last in _LISTS["german"] or language in ("de", "da", "nb", "no", "sv", "fi") else None
    german = language == "de" or last != "am"
    return (
        False if german and last in _LISTS["german"] and word[:1].isalpha() and word not in _LISTS["openers"] else None
    )


def _abbreviation(name: str, last: str, before: str, word: str, *, capital: bool) -> bool | None:
    """What a single full stop after `name` means where `word` follows; None where it is no known abbreviation."""
    lowered, digit = word.lower(), word[:1].isdigit()
    lists = _LISTS
    number_before = bool(re.search(r"\d\s?$", before[: len(before) - len(last)]))
    if number_before and name in lists["units"]:
        return capital and not digit
    if name in lists["ordinary"] and (last.islower() or name in ("may", "mai", "ok", "no")) and capital and not digit:
        return True
    if name in lists["titles"] and (last[:1].isupper() or name in lists["small_titles"]):
        return False
    if name in lists["never"]:
        return False
    if name in lists["times"]:
        return capital and lowered not in lists["after_times"] and not digit
    if name in lists["names"] or any(name.endswith(f".{suffix}") for suffix in ("chr", "j.-c")):
        return capital and _opens(lowered)
    if name in lists["dates"] and last[:1].isupper():
        return not digit and capital and lowered not in lists["after_times"]
    if (name in lists["before_number"] or name.endswith("str")) and (digit or not capital):
        return False
    if _INITIALS.match(name) and last[:1].isupper():
        return _initial(name, before[: len(before) - len(last)], lowered, capital=capital)
    if len(name) == 1 and name.isalpha() and (digit or len(word) <= 2):
        return False
    return None


def _initial(name: str, before: str, word: str, *, capital: bool) -> bool:
    words = before.split()
    last = words[-1] if words else ""
    if name == "i" and last and (last[0].islower() or last[-1:] in ",;"):
        return (capital and len(word) > 1) or word == "i"
    if name == "m":
        return capital and last.lower() in _LISTS["lettered"]
    if len(name) == 1 and last.lower() in _LISTS["lettered"]:
        return capital
    return capital and _opens(word)


def _opens(word: str) -> bool:
    return word in _LISTS["openers"]


def _may_end(text: str, at: int, end: int, start: int) -> bool:
    """Whether the marks, if nothing more came, end as a sentence does."""
    if text[at:end] != ".":
        return True
    before = text[max(0, at - BEFORE) : at]
    if at - start < 12 and _LIST_NUMBER.match(text[max(0, start) : at + 1]):
        return False
    last = _LAST.search(before[-40:])
    return last is None or not _waits(before, last.group().lstrip("-–—"))


def _waits(before: str, last: str) -> bool:
    """Whether a full stop behind `last` is that of an abbreviation that more text would follow."""
    name = _name(before, last)
    if name in _LISTS["titles"] and (last[:1].isupper() or name in _LISTS["small_titles"]):
        return True
    if name in _LISTS["never"] or (name in _LISTS["before_number"] and name not in ("no", "art", "l", "t", "u", "sec")):
        return True
    return bool(_INITIALS.match(name)) and last[:1].isupper() and last != "I"


def _library_ends(head: str, tail: str, language: str) -> bool:
    """Whether sentencex ends a sentence between the two. It is shown no more than the next character, so that the
    answer stays what it is when more text comes."""
    position = 0
    for segment in _segments(language, head + tail):
        position += len(segment)
        if len(head) <= position < len(head) + len(tail):
            return True
    return False


def _is_wide(character: str) -> bool:
    return "\u2e80" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7af" or "\uff00" <= character <= "\uff60"
