"""Fixtures with real weights and speech made by the Piper voice, once for the whole run."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from asr import Silero, SmartTurn, WhisperRecogniser
from models import Store, default_folder
from sound import Pcm, Samples, resample


@pytest.fixture(scope="session")
def store() -> Store:
    chosen = os.environ.get("FIRSTWORD_MODELS")
    return Store(Path(chosen) if chosen else default_folder())


@pytest.fixture(scope="session")
def silero() -> Silero:
    return Silero()


@pytest.fixture(scope="session")
def whisper(store: Store) -> WhisperRecogniser:
    return WhisperRecogniser(store.path("whisper-tiny.en"))


@pytest.fixture(scope="session")
def smart_turn(store: Store) -> SmartTurn:
    return SmartTurn(store.path("smart-turn-v3.2"))


@pytest.fixture(scope="session")
def say(store: Store) -> Callable[[str], Samples]:
    """Speech at 16 kHz."""
    from piper import PiperVoice, SynthesisConfig

    voice = PiperVoice.load(str(store.path("piper-en_US-joe-medium") / "voice.onnx"))

    # Without its noise the voice says a text the same every time.
    steady = SynthesisConfig(noise_scale=0.0, noise_w_scale=0.0)

    @lru_cache(maxsize=64)
    def spoken(text: str) -> Samples:
        chunks = list(voice.synthesize(text, steady))
        samples = np.concatenate([chunk.audio_float_array for chunk in chunks]).astype(np.float32)
        return resample(Pcm(samples, chunks[0].sample_rate), 16_000).samples

    return spoken
