"""Kokoro: 82 million parameters and many voices, through `kokoro-onnx`; for machines faster than two cores.

A piece is made whole, since its graph has no part that sees only near frames. The one rule: what is missing is refused
in words when the engine is made, never at the first sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sound import Pcm
from tts.engine import CAP_WHOLE, Voice, paced
from tts.errors import NoVoice, TtsError, UnknownVoice
from tts.graph import open_graph
from tts.trim import EdgeTrim
from tts.words import is_speakable

MODEL = "model.onnx"
VOICES = "voices.npz"
EXTRA = "kokoro-onnx is missing; install the extra: pip install 'firstword[kokoro]'"
RATE_HZ = 24_000
# A voice's first letter is its language (Kokoro-82M's own list of voices); each with the code espeak-ng knows it by.
LANGUAGES = {
    "a": ("en", "en-us"),
    "b": ("en", "en-gb"),
    "e": ("es", "es"),
    "f": ("fr", "fr-fr"),
    "h": ("hi", "hi"),
    "i": ("it", "it"),
    "j": ("ja", "ja"),
    "p": ("pt", "pt-br"),
    "z": ("zh", "cmn"),
}
# What espeak-ng can turn into phonemes that the model knows; a voice then speaks it with its own accent.
_ESPEAK = {"en": "en-us"} | {language: code for language, code in LANGUAGES.values() if language != "en"}


class KokoroEngine:
    """`folder` holds `model.onnx` and `voices.npz`. Raises `NoVoice` where the extra or the weights are missing."""

    def __init__(self, folder: Path, *, threads: int = 2) -> None:
        try:
            from kokoro_onnx import Kokoro
        except ImportError as missing:
            raise NoVoice(EXTRA) from missing
        voices = folder / VOICES
        if not voices.is_file():
            raise NoVoice(f"{voices} is missing; fetch the weights: firstword models pull kokoro-82m-ja")
        session = open_graph(folder / MODEL, threads=threads)
        try:
            self._model: Any = Kokoro.from_session(session, str(voices))
            names = sorted(self._model.get_voices())
        except Exception as fault:
            raise NoVoice(f"{voices} cannot be read ({fault}); fetch it again: firstword models pull") from fault
        if not names:
            raise NoVoice(f"{voices} holds no voice; fetch it again: firstword models pull")
        self._voices = tuple(Voice(name, (_own(name)[0],)) for name in names)

    @property
    def name(self) -> str:
        """Its name in settings and traces."""
        return "kokoro"

    @property
    def sample_rate_hz(self) -> int:
        """24 000: what the model was trained at."""
        return RATE_HZ

    @property
    def cap(self) -> int:
        """150 characters: a piece is made whole."""
        return CAP_WHOLE

    def voices(self) -> Sequence[Voice]:
        """The voices of the file, each with its own language; any of them speaks the others with an accent."""
        return self._voices

    def warm(self) -> None:
        """A word, unheard."""
        for _ in self.speak("Yes."):
            pass

    def speak(
        self,
        piece: str,
        *,
        voice: str | None = None,
        language: str = "en",
        speed: float = 1.0,
        steps: int | None = None,
    ) -> Iterator[Pcm]:
        """The sound of `piece`, once it is whole; nothing where there is nothing to say. `speed` is 0.5 to 2.

        A language that espeak-ng has no phonemes for here is spoken as the voice's own. `steps` changes nothing.
        """
        names = [offered.name for offered in self._voices]
        chosen = voice or self._default(language)
        if chosen not in names:
            raise UnknownVoice(chosen, names)
        if not is_speakable(piece):
            return
        own, code = _own(chosen)
        code = code if own == language[:2] else _ESPEAK.get(language[:2], code)
        phonemes = " ".join(self._model.tokenizer.phonemize(piece, code).split())
        if not phonemes:
            raise TtsError(f"kokoro has no sounds for this text in the language {language!r}; choose another voice")
        samples, _rate_hz = self._model.create(phonemes, chosen, speed=paced(speed), is_phonemes=True, trim=False)
        heard = EdgeTrim(RATE_HZ).push(np.asarray(samples, dtype=np.float32).ravel())
        if len(heard):
            yield Pcm(heard, RATE_HZ)

    def _default(self, language: str) -> str:
        """The first voice whose own language it is, or the first of all."""
        own = [offered.name for offered in self._voices if language[:2] in offered.languages]
        return own[0] if own else self._voices[0].name


def _own(name: str) -> tuple[str, str]:
    return LANGUAGES.get(name[:1], ("en", "en-us"))
