"""Is the phrase finished? Two witnesses, and who decided.

The words' witness reads punctuation, the last word and numbers being read out, per language, from `endings.toml`. The
sound's witness is smart-turn, where its weights are there. Pure apart from reading that file once. The one rule:
*complete* needs every witness there is; an unfinished phrase needs only one.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from asr.events import Verdict

_ENDS = ".!?。！？"
_CLOSERS = "\"')]}»”’ "
_ONGOING = (",", "-", "–", "—", "...", "…", ";", ":", "、", "，")
_QUESTION = ("?", "？")
# The sound calls a turn over from here on (upstream's own threshold).
_COMPLETE = 0.5
# Under this the sound is sure that more comes: a filler or a drawn-out word (26 to 30 of 30 endings in "um" or "and").
_ONGOING_SOUND = 0.2
# Two digits spoken apart may be a time or an age; three are a number that is being read out, until it is long enough.
_FEW_DIGITS, _MANY_DIGITS = 3, 7
# A clause that begins with "if" or "when" and is longer than this has its main clause in it, comma or not.
_SHORT_CLAUSE = 6


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the judge says and `decided_by` which witness: `words`, `sound`, `both`, or `nothing heard`.

    `sound` is how likely the sound's witness thinks the end, 0 to 1; None where it was not asked.
    """

    verdict: Verdict
    decided_by: str
    sound: float | None = None


@dataclass(frozen=True, slots=True)
class _Endings:
    """Rows of `endings.toml`, which says what each is."""

    never: frozenset[str] = frozenset()
    seldom: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    asks: frozenset[str] = frozenset()
    points: frozenset[str] = frozenset()
    opens: frozenset[str] = frozenset()
    opens_seldom: frozenset[str] = frozenset()
    alone: frozenset[str] = frozenset()
    articles: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()


def judge(text: str, language: str, *, sound: float | None) -> Judgement:
    """The verdict on `text`. `sound` is smart-turn's opinion that the turn is over, None where it was not asked."""
    if not text.strip():
        return Judgement("complete", "nothing heard")
    words = judge_words(text, language)
    if words == "incomplete" or sound is None:
        return Judgement(words, "words", sound)
    if words == "complete":
        return Judgement("complete", "both", sound) if sound >= _COMPLETE else Judgement("unsure", "sound", sound)
    return Judgement("incomplete", "sound", sound) if sound < _ONGOING_SOUND else Judgement("unsure", "words", sound)


def judge_words(text: str, language: str) -> Verdict:
    """What the words alone say."""
    said = text.rstrip(_CLOSERS)
    if said.endswith(_ONGOING):
        return "incomplete"
    endings = _languages().get(language, _NONE)
    sentence = re.split(rf"[{_ENDS}]+\s+", said)[-1]
    words = [_bare(word) for word in sentence.split()]
    if not any(words):
        return "unsure"
    first, last = words[0], words[-1]
    question, ends = said.endswith(_QUESTION), said[-1] in _ENDS
    if " ".join(words) in endings.alone:
        return "incomplete"
    if last in endings.never:
        return "incomplete"
    if question and (first in endings.asks or last not in endings.seldom - endings.points):
        return "complete"
    if set(words) <= endings.seldom | endings.opens | endings.opens_seldom:
        return "incomplete"
    digits = _digits_read_out(said.rstrip(_ENDS), endings.numbers)
    if digits >= _FEW_DIGITS:
        return "incomplete" if digits < _MANY_DIGITS else "unsure"
    if last in endings.seldom:
        return "unsure" if ends else "incomplete"
    if len(words) <= _SHORT_CLAUSE and "," not in sentence and not question:
        if first in endings.opens:
            return "incomplete"
        if first in endings.opens_seldom:
            return "unsure"
    if first in endings.articles and endings.verbs and not any(_is_verb(word, endings.verbs) for word in words[1:]):
        return "unsure"
    return "complete" if ends else "unsure"


def _is_verb(word: str, verbs: frozenset[str]) -> bool:
    """Whether `word` can be the verb of a sentence: one that is known, a past tense, or one with "not" in it."""
    return word in verbs or word.removesuffix("s") in verbs or word.endswith(("ed", "n't", "'s", "'ll", "'re"))


def _bare(word: str) -> str:
    return word.casefold().strip(_CLOSERS + _ENDS + ",").replace("’", "'")


def _digits_read_out(said: str, numbers: frozenset[str]) -> int:
    """How many digits end the text, spoken one by one or in groups; 0 where the last number is a single one."""
    groups: list[int] = []
    for token in reversed(re.split(r"[\s,-]+", said)):
        bare = token.strip(_CLOSERS + ".").casefold()
        if bare.isdecimal():
            groups.append(len(bare))
        elif bare in numbers:
            groups.append(1)
        else:
            break
    return sum(groups) if len(groups) > 1 else 0


_NONE = _Endings()


@lru_cache(maxsize=1)
def _languages() -> dict[str, _Endings]:
    data = tomllib.loads(files("asr").joinpath("endings.toml").read_text(encoding="utf-8"))
    return {
        language: _Endings(**{name: frozenset(words) for name, words in rows.items()})
        for language, rows in data.items()
    }
