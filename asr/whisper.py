"""Whisper on CTranslate2, called directly on a window as long as the utterance rather than on 30 s.

The encoder pays for the whole window, so 3 s of speech in 8 s cost a fifth of the stock call. A short window makes the
model say things twice; timestamps stay on, text is taken up to the first timestamp at the end, and `guards` does the
rest. The one rule: never condition on earlier text.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from asr.alignment import Spelling, without_pauses, word_times
from asr.errors import EngineRefused, LanguageRefused
from asr.events import Word, moved
from asr.features import RATE_HZ, log_mel
from asr.guards import believable, compression
from asr.recogniser import Transcript
from asr.utterance import quietest
from sound import Pcm, Samples, resample

# Under 8 s tiny.en begins to lose words even guarded (4.6 % against 3.7 to 4.0 % at 6 s).
_LEAST_WINDOW_S = 8.0
# Sound is followed by this much silence in its window, so that the model sees an end.
_ROOM_S = 1.0
# Utterances longer than this are cut into windows: with the room at the end the model's 30 s are full.
_LONGEST_S = 28.0
_CUT_WITHIN_S = 4.0
# Text after the first timestamp this close to the end of the sound is the model saying it all again.
_END_SLACK_S = 0.6
# People say under six tokens a second; twice that, with room for timestamps, ends a decoder that does not.
_TOKENS, _TOKENS_PER_S = 10, 6
_MOST_TOKENS = 448
_HINT_TOKENS = 64
_TIMESTAMP_S = 0.02


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    words: tuple[Word, ...]
    no_speech: float
    score: float


@dataclass(frozen=True, slots=True)
class _Said:
    """What the decoder wrote, believed; `astray` where a guard had to take words away, or nothing is left."""

    text: str
    tokens: list[int]
    no_speech: float
    score: float
    astray: bool


class WhisperRecogniser:
    """A Whisper model in CTranslate2's format. Blocking: one lane runs it.

    `folder` holds `model.bin`, `config.json`, `tokenizer.json` and the vocabulary. `threads` is how many cores one call
    uses. Raises `EngineRefused` where the files cannot be loaded.
    """

    def __init__(
        self, folder: Path, *, threads: int = 2, least_window_s: float = _LEAST_WINDOW_S, beams: int = 1
    ) -> None:
        self.name = folder.name
        self._threads = threads
        self._least_window_s = least_window_s
        self._beams = beams
        self._model = _load(folder, threads)
        self._spelling = Spelling(folder / "tokenizer.json")
        self._languages = None if self._model.is_multilingual else frozenset({"en"})

    @property
    def languages(self) -> frozenset[str] | None:
        """`{"en"}` for an English-only model, else None."""
        return self._languages

    def careful(self, *, least_window_s: float = 12.0, beams: int = 5) -> WhisperRecogniser:
        """A slower and better ear on the same weights: a longer window and a beam search. It takes no memory."""
        other = object.__new__(WhisperRecogniser)
        other.__dict__.update(self.__dict__, _least_window_s=least_window_s, _beams=beams)
        return other

    def check_language(self, language: str) -> None:
        """Raises `LanguageRefused`, in words, where the model does not know `language`."""
        if self._languages is not None and language not in self._languages:
            raise LanguageRefused(language, self.name, self._languages)
        if self._languages is None and not self._spelling.has(f"<|{language}|>"):
            raise LanguageRefused(language, self.name, self._spelling.languages())

    def warm(self) -> None:
        """One call on silence, so that the first person does not pay for it."""
        self._window(np.zeros(RATE_HZ, dtype=np.float32), "en", "", times=True)

    def recognise(self, pcm: Pcm, *, language: str, hint: str = "", word_times: bool = False) -> Transcript:
        """The words in `pcm`. Raises `LanguageRefused`. Digital silence gives "" without asking the model."""
        self.check_language(language)
        pcm = pcm if pcm.rate_hz == RATE_HZ and pcm.channels == 1 else resample(pcm, RATE_HZ)
        parts: list[_Part] = []
        for start, samples in _cut(pcm.samples):
            if not np.any(samples):
                continue
            part = self._window(samples, language, hint, times=word_times)
            words = moved(part.words, start / RATE_HZ)
            parts.append(_Part(part.text, words, part.no_speech, part.score))
        text = " ".join(part.text for part in parts if part.text)
        return Transcript(
            text=text,
            language=language,
            words=tuple(word for part in parts for word in part.words),
            no_speech=min((part.no_speech for part in parts), default=1.0),
            mean_log_probability=min((part.score for part in parts), default=0.0),
            compression=compression(text),
        )

    def _window(self, samples: Samples, language: str, hint: str, *, times: bool) -> _Part:
        duration_s = len(samples) / RATE_HZ
        window_s = min(30.0, max(self._least_window_s, duration_s + _ROOM_S))
        padded = np.zeros(round(window_s * RATE_HZ), dtype=np.float32)
        padded[: len(samples)] = samples[: len(padded)]
        encoded = self._model.encode(_view(log_mel(padded)[None]))
        start = self._spelling.start(language, multilingual=self._languages is None)
        before = self._spelling.hint(hint, _HINT_TOKENS)
        said = self._decode(encoded, before + start, duration_s)
        if before and said.astray:
            # A hint that is no sentence leads some models into silence, or into saying it all again.
            said = self._decode(encoded, start, duration_s)
        words: tuple[Word, ...] = ()
        if times and said.text:
            frames = round(min(duration_s, window_s) * 100)
            words = word_times(self._model, encoded, self._spelling, start, said.tokens, frames, language)
            # Where a guard took words away the times of what is left are those of the first so many.
            words = without_pauses(words[: len(said.text.split())] if said.astray else words, samples)
        return _Part(said.text, words, said.no_speech, said.score)

    def _decode(self, encoded: Any, prompt: list[int], duration_s: float) -> _Said:
        cap = 2 * (_TOKENS + math.ceil(_TOKENS_PER_S * duration_s))
        (found,) = self._model.generate(
            encoded,
            [prompt],
            beam_size=self._beams,
            max_length=min(_MOST_TOKENS, len(prompt) + cap),
            return_scores=True,
            return_no_speech_prob=True,
        )
        tokens = self._taken(found.sequences_ids[0], duration_s)
        no_speech, score = float(found.no_speech_prob), float(found.scores[0])
        written = self._spelling.text(tokens)
        text = believable(written, no_speech=no_speech, mean_log_probability=score)
        return _Said(text, tokens, no_speech, score, astray=not text or text != written)

    def _taken(self, tokens: list[int], duration_s: float) -> list[int]:
        """The text tokens up to the first timestamp at the end of the sound."""
        taken: list[int] = []
        for token in tokens:
            if token >= self._spelling.timestamps_from:
                at_s = (token - self._spelling.timestamps_from) * _TIMESTAMP_S
                if taken and at_s >= duration_s - _END_SLACK_S:
                    break
            elif token < self._spelling.specials_from:
                taken.append(token)
        return taken


def _cut(samples: Samples) -> list[tuple[int, Samples]]:
    """Stretches of at most 28 s, cut where it is quietest."""
    stretches: list[tuple[int, Samples]] = []
    at, longest, within = 0, round(_LONGEST_S * RATE_HZ), round(_CUT_WITHIN_S * RATE_HZ)
    while len(samples) - at > longest:
        stop = at + longest - within + quietest(samples[at + longest - within : at + longest])
        stretches.append((at, samples[at:stop]))
        at = stop
    stretches.append((at, samples[at:]))
    return stretches


def _view(features: Samples) -> Any:
    ctranslate2: Any = importlib.import_module("ctranslate2")
    return ctranslate2.StorageView.from_array(features)


def _load(folder: Path, threads: int) -> Any:
    for name in ("model.bin", "config.json", "tokenizer.json"):
        if not (folder / name).is_file():
            raise EngineRefused(str(folder / name), "there is no such file")
    ctranslate2: Any = importlib.import_module("ctranslate2")
    try:
        return ctranslate2.models.Whisper(
            str(folder), device="cpu", compute_type="int8", intra_threads=threads, inter_threads=1
        )
    except (RuntimeError, ValueError, MemoryError) as fault:
        raise EngineRefused(str(folder / "model.bin"), fault) from fault
