"""Supertonic: ten voices in thirty-one languages, through `supertonic`; its speech is solved in steps.

Fewer steps are sooner and worse. A piece is made whole. Nothing is fetched here: the weights are a folder that somebody
put there. The one rule: what is missing is refused in words when the engine is made, never at the first sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sound import Pcm
from tts.engine import CAP_WHOLE, Voice
from tts.errors import NoVoice, UnknownVoice
from tts.graph import open_graph
from tts.trim import EdgeTrim
from tts.words import is_speakable

REPOSITORY = "Supertone/supertonic-3"
STEPS = 8
# What the library's own default speed of 1.05 makes of 1.0, and the range that its solver takes.
_PACE, _SLOWEST, _FASTEST = 1.05, 0.7, 2.0
_PARTS = ("duration_predictor", "text_encoder", "vector_estimator", "vocoder")


class SupertonicEngine:
    """`folder` is a copy of the hub repository Supertone/supertonic-3: `onnx/` and `voice_styles/`.

    Raises `NoVoice` where the extra or the weights are missing.
    """

    def __init__(self, folder: Path, *, threads: int = 2) -> None:
        try:
            from supertonic import config, core, loader
        except ImportError as missing:
            raise NoVoice("supertonic is missing; install the extra: pip install 'firstword[supertonic]'") from missing
        onnx = folder / "onnx"
        wanted = [onnx / f"{part}.onnx" for part in _PARTS] + [onnx / "tts.json", onnx / "unicode_indexer.json"]
        absent = [str(path.relative_to(folder)) for path in wanted if not path.is_file()]
        if absent:
            raise NoVoice(
                f"{folder} has no {', '.join(absent)}; fetch the weights: hf download {REPOSITORY} --local-dir {folder}"
            )
        try:
            self._model: Any = core.Supertonic(
                loader.load_configs(folder),
                loader.load_text_processor(folder),
                *(open_graph(onnx / f"{part}.onnx", threads=threads) for part in _PARTS),
            )
            names = sorted(path.stem for path in (folder / config.VOICE_STYLES_DIR).glob("*.json"))
            self._styles = {name: loader.load_voice_style_from_name(folder, name) for name in names}
        except NoVoice:
            raise
        except Exception as fault:
            raise NoVoice(f"{folder} holds no voice that can be loaded ({fault}); fetch the weights again") from fault
        if not names:
            raise NoVoice(f"{folder / config.VOICE_STYLES_DIR} holds no voice; fetch the weights again")
        self._languages = tuple(config.SUPPORTED_LANGUAGES)
        self._any = config.UNKNOWN_LANGUAGE

    @property
    def name(self) -> str:
        """Its name in settings and traces."""
        return "supertonic"

    @property
    def sample_rate_hz(self) -> int:
        """The vocoder's rate, from the weights' own configuration."""
        return int(self._model.sample_rate)

    @property
    def cap(self) -> int:
        """150 characters: a piece is made whole."""
        return CAP_WHOLE

    def voices(self) -> Sequence[Voice]:
        """The voices in the folder; each speaks every language."""
        return tuple(Voice(name, self._languages) for name in self._styles)

    def warm(self) -> None:
        """A word in one step, unheard."""
        for _ in self.speak("Yes.", steps=1):
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
        """The sound of `piece`, once it is whole; nothing where there is nothing to say.

        `speed` is 0.5 to 2, of which the solver takes 0.67 to 1.9; `steps` is 1 to 100, 8 where it is left out. A
        language that the model was not taught is given to it as unknown.
        """
        chosen = voice or next(iter(self._styles))
        if chosen not in self._styles:
            raise UnknownVoice(chosen, self._styles)
        if not is_speakable(piece):
            return
        known = language[:2] if language[:2] in self._languages else self._any
        pace = min(_FASTEST, max(_SLOWEST, speed * _PACE))
        solved, _durations = self._model([piece], self._styles[chosen], max(1, min(100, steps or STEPS)), pace, known)
        heard = EdgeTrim(self.sample_rate_hz).push(np.asarray(solved, dtype=np.float32).ravel())
        if len(heard):
            yield Pcm(heard, self.sample_rate_hz)
