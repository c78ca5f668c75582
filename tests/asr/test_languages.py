"""Other languages than English: the multilingual weights on German and Spanish speech, where they are here.

The speech is made by a formant synthesiser, whose sentences a small model understands in part; the ones below it does.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from asr import LanguageRefused, WhisperRecogniser
from asr.judge import judge_words
from models import Store
from sound import Pcm, Samples, resample

pytestmark = pytest.mark.models
_SYNCHRONOUS, _UTF8, _RATE = 2, 1, 1


@pytest.fixture(scope="module")
def whisper_base(store: Store) -> WhisperRecogniser:
    if not store.present("whisper-base"):
        pytest.skip("the multilingual weights are not here: firstword models pull whisper-base")
    return WhisperRecogniser(store.path("whisper-base"))


def _speak(text: str, language: str) -> Pcm:
    """`text` by espeak-ng, in a call that gives its sound back as it makes it."""
    loader = pytest.importorskip("espeakng_loader", reason="pip install 'firstword[kokoro]'")
    library = ctypes.CDLL(loader.get_library_path())
    rate_hz = library.espeak_Initialize(_SYNCHRONOUS, 0, str(Path(loader.get_data_path()).parent).encode(), 0)
    blocks: list[Samples] = []

    def take(samples: ctypes._Pointer[ctypes.c_short], count: int, _events: int) -> int:
        if count > 0 and samples:
            blocks.append(np.ctypeslib.as_array(samples, (count,)).astype(np.float32) / 32768)
        return 0

    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
    called = kind(take)
    library.espeak_SetSynthCallback(called)
    library.espeak_SetVoiceByName(language.encode())
    library.espeak_SetParameter(_RATE, 140, 0)
    data = text.encode() + b"\0"
    library.espeak_Synth(data, len(data), 0, 0, 0, _UTF8, None, None)
    library.espeak_Synchronize()
    return Pcm(np.concatenate(blocks), int(rate_hz))


@pytest.mark.parametrize(
    ("language", "text", "heard"),
    [
        ("de", "Guten Morgen, wie geht es Ihnen?", "guten morgen wie geht es ihnen"),
        ("es", "Buenos días, ¿cómo está usted?", "buenos días"),
    ],
)
def test_other_languages_are_heard_and_judged(
    whisper_base: WhisperRecogniser, language: str, text: str, heard: str
) -> None:
    said = whisper_base.recognise(resample(_speak(text, language), 16_000), language=language).text
    assert "".join(c for c in said.casefold() if c not in ".,?!¿").startswith(heard)
    assert judge_words(said, language) != "incomplete"


def test_a_language_that_nobody_speaks_is_refused_with_those_that_are_known(whisper_base: WhisperRecogniser) -> None:
    with pytest.raises(LanguageRefused, match="only af, am, ar"):
        whisper_base.recognise(Pcm.silence(1.0, 16_000), language="xx")
