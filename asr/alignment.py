"""Whisper's tokens as text, and where each word was said.

`Spelling` is the tokeniser; `word_times` asks the model's attention. It recognises nothing. The one rule: a word is
what its language calls one: between spaces, or a whole character where there are none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from asr.errors import EngineRefused
from asr.events import Word
from asr.features import RATE_HZ
from sound import Samples

_LANGUAGE = re.compile(r"<\|([a-z]{2,3})\|>")
# Written without spaces between words.
_SPACELESS = frozenset({"zh", "ja", "th", "lo", "my", "yue"})
# One step of the attention is 20 ms.
_STEP_S = 0.02
_MEDIAN_STEPS = 7
# Quieter than this part of the loudest 20 ms is the pause before a word, which the attention gives to the word.
_PAUSE = 0.05
_STEP = round(_STEP_S * RATE_HZ)
_PUNCTUATION = ".,!?;:…。，、！？；：\"')]}»”’"


class Spelling:
    """The tokeniser of one Whisper model."""

    def __init__(self, path: Path) -> None:
        import tokenizers

        try:
            self._inner = tokenizers.Tokenizer.from_file(str(path))
        except Exception as fault:  # the library raises bare Exception
            raise EngineRefused(str(path), fault) from fault
        self._sot = self._special("<|startoftranscript|>")
        self.timestamps_from = self._special("<|notimestamps|>") + 1
        self.specials_from = min(self._sot, self._special("<|endoftext|>"))

    def has(self, token: str) -> bool:
        """Whether the model has this special token."""
        return self._inner.token_to_id(token) is not None

    def languages(self) -> list[str]:
        """The codes of the languages that have a token."""
        found = (_LANGUAGE.fullmatch(token) for token in self._inner.get_vocab())
        return sorted(match[1] for match in found if match)

    def start(self, language: str, *, multilingual: bool) -> list[int]:
        """The tokens that begin a transcript."""
        if not multilingual:
            return [self._sot]
        return [self._sot, self._special(f"<|{language}|>"), self._special("<|transcribe|>")]

    def hint(self, text: str, most: int) -> list[int]:
        """`text` as what came before, or nothing."""
        if not text.strip():
            return []
        tokens = self._inner.encode(" " + text.strip(), add_special_tokens=False).ids
        return [self._special("<|startofprev|>"), *tokens[-most:]]

    def text(self, tokens: Sequence[int]) -> str:
        """Plain text."""
        return str(self._inner.decode(list(tokens))).strip()

    def words(self, tokens: Sequence[int], language: str) -> list[tuple[str, int]]:
        """The words of `tokens`, each with how many tokens it takes; half a character waits for its other half."""
        words: list[tuple[str, int]] = []
        pending: list[int] = []
        for token in tokens:
            pending.append(token)
            part = str(self._inner.decode(pending))
            if "�" in part:
                continue
            begins = part.startswith(" ") or (language in _SPACELESS and part.strip(_PUNCTUATION) != "")
            if words and not begins:
                text, count = words[-1]
                words[-1] = (text + part, count + len(pending))
            else:
                words.append((part, len(pending)))
            pending = []
        return words

    def end(self) -> int:
        """The token after the last word."""
        return self._special("<|endoftext|>")

    def _special(self, token: str) -> int:
        number = self._inner.token_to_id(token)
        if number is None:
            raise EngineRefused("tokenizer.json", f"it has no {token}; is this a Whisper model?")
        return int(number)


def word_times(
    model: Any, encoded: Any, spelling: Spelling, start: list[int], tokens: list[int], frames: int, language: str
) -> tuple[Word, ...]:
    """Where the words of `tokens` were said, from the attention over `frames` of 10 ms."""
    if not tokens:
        return ()
    (aligned,) = model.align(encoded, start, [tokens], frames, median_filter_width=_MEDIAN_STEPS)
    steps: dict[int, int] = {}
    for token, step in aligned.alignments:
        steps.setdefault(token, step)
    last = frames // 2
    words: list[Word] = []
    at = 0
    for text, count in spelling.words(tokens, language):
        begin = steps.get(at, last)
        end = max(begin, steps.get(at + count, last))
        certain = aligned.text_token_probs[at : at + count] or [0.0]
        words.append(
            Word(
                text.strip(),
                round(begin * _STEP_S, 3),
                round(end * _STEP_S, 3),
                round(sum(certain) / len(certain), 3),
            )
        )
        at += count
    return tuple(words)


def without_pauses(words: Sequence[Word], samples: Samples) -> tuple[Word, ...]:
    """`words` of `samples`, each beginning where it is first loud rather than where the word before it ended."""
    steps = len(samples) // _STEP
    level = np.sqrt(np.square(samples[: steps * _STEP].reshape(steps, _STEP)).mean(axis=1))
    loud = level > _PAUSE * level.max(initial=0.0)
    moved: list[Word] = []
    for word in words:
        first, last = round(word.start_s / _STEP_S), round(word.end_s / _STEP_S)
        heard = np.flatnonzero(loud[first:last])
        start_s = round((first + int(heard[0])) * _STEP_S, 3) if heard.size else word.start_s
        moved.append(replace(word, start_s=start_s))
    return tuple(moved)
