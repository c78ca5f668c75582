"""Piper, the embedded voice: an ONNX graph on onnxruntime, phonemes by piper-tts.

It streams from inside a piece: the text part runs once, flow and decoder in windows that grow. It does not cut text.
The one rule: the samples of a piece do not depend on the windows in which they were made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sound import Pcm, Samples
from tts.engine import CAP_STREAMED, Voice, paced
from tts.errors import NoVoice, UnknownVoice
from tts.graph import open_graph
from tts.split import WHOLE, Parts, read_split
from tts.trim import EdgeTrim
from tts.words import is_speakable

# 139 ms at 22 050 Hz, of which up to 58 are silence: with one core busy the second window is there 40 ms before it is
# wanted. 8 frames are heard no sooner (they often hold no sound yet) and leave 14 ms.
FIRST_WINDOW = 12
# Each window may double while it stays near a second: whoever wants a first word meanwhile waits for it. On one thread
# 172 frames take 203 ms and 96 take 121, and a second of sound costs the same (0.115 and 0.110 s).
LARGEST_WINDOW = 96


class PiperEngine:
    """A voice in `folder`: `voice.onnx`, `voice.onnx.json`, and the parts of `split_voice` where they were made.

    `threads` is onnxruntime's. Without `streaming` a piece is made whole before any of it is heard. Raises `NoVoice`
    where the extra or the weights are missing.
    """

    def __init__(self, folder: Path, threads: int = 2, *, streaming: bool = True) -> None:
        try:
            from piper.config import PiperConfig
            from piper.voice import PiperVoice
        except ImportError as missing:
            raise NoVoice("piper-tts is missing; install the extra: pip install 'firstword[piper]'") from missing
        file = folder / f"{WHOLE}.json"
        if not file.is_file():
            raise NoVoice(f"{file} is missing; fetch the weights: firstword models pull")
        try:
            settings = json.loads(file.read_text("utf-8"))
            self._config = PiperConfig.from_dict(settings)
        except (ValueError, KeyError) as fault:
            raise NoVoice(f"{file} cannot be read ({fault!r}); fetch it again: firstword models pull") from fault
        split = read_split(folder) if streaming else None
        self._parts = Parts(folder, split, threads=threads) if split else None
        self._whole: Any = None if split else open_graph(folder / WHOLE, threads=threads)
        # Only its phonemes are used, which need no session.
        self._phonemes = PiperVoice(session=self._whole, config=self._config)
        code = str(settings.get("language", {}).get("family") or self._config.espeak_voice[:2])
        names = list(self._config.speaker_id_map) if self._config.num_speakers > 1 else []
        self._voices = tuple(Voice(name, (code,)) for name in names or [str(settings.get("dataset") or "piper")])

    @property
    def name(self) -> str:
        """Its name in settings and traces."""
        return "piper"

    @property
    def sample_rate_hz(self) -> int:
        """The voice's rate, from its configuration."""
        return int(self._config.sample_rate)

    @property
    def streams(self) -> bool:
        """Whether a piece is heard before it is made whole: its graph was split."""
        return self._parts is not None

    @property
    def cap(self) -> int:
        """300 characters: it is heard while it is made."""
        return CAP_STREAMED

    def voices(self) -> Sequence[Voice]:
        """The voice, or its speakers where it has several."""
        return self._voices

    def warm(self) -> None:
        """A word, unheard: the first call costs twice."""
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
        """The sound of `piece`, window by window; nothing where there is nothing to say. `speed` is 0.5 to 2.

        A Piper voice speaks one language and does not solve: `language` and `steps` change nothing.
        """
        speaker = self._speaker(voice)
        if not is_speakable(piece):
            return
        utterances = [part for part in self._phonemes.phonemize(piece) if part]
        scales = (
            self._config.noise_scale,
            self._config.length_scale / paced(speed),
            self._config.noise_w_scale,
        )
        for n, phonemes in enumerate(utterances):
            # Between the sentences of a piece Piper's own pause stays.
            trim = EdgeTrim(self.sample_rate_hz, tail=n == len(utterances) - 1)
            for block in self._sound(self._phonemes.phonemes_to_ids(phonemes), scales, speaker):
                heard = trim.push(block)
                if len(heard):
                    yield Pcm(heard, self.sample_rate_hz)

    def _speaker(self, voice: str | None) -> int | None:
        names = [offered.name for offered in self._voices]
        if voice is not None and voice not in names:
            raise UnknownVoice(voice, names)
        if self._config.num_speakers < 2:
            return None
        return int(self._config.speaker_id_map[voice or names[0]])

    def _sound(self, ids: Sequence[int], scales: tuple[float, float, float], speaker: int | None) -> Iterator[Samples]:
        inputs = {
            "input": np.array([ids], dtype=np.int64),
            "input_lengths": np.array([len(ids)], dtype=np.int64),
            "scales": np.array(scales, dtype=np.float32),
        }
        if speaker is not None:
            inputs["sid"] = np.array([speaker], dtype=np.int64)
        if self._parts is None:
            yield self._whole.run(None, inputs)[0].ravel()
            return
        yield from self._parts.decode(self._parts.encode(inputs), first=FIRST_WINDOW, largest=LARGEST_WINDOW)
