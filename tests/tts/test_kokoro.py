import os
import sys
from pathlib import Path

import numpy as np
import pytest

from sound import AUDIBLE
from tts import KokoroEngine, NoVoice, UnknownVoice

WEIGHTS = Path(os.environ.get("FIRSTWORD_MODELS") or Path.home() / ".cache/firstword/models") / "kokoro-82m-ja"


@pytest.fixture(scope="module")
def engine() -> KokoroEngine:
    pytest.importorskip("kokoro_onnx")
    if not (WEIGHTS / "model.onnx").exists():
        pytest.skip(f"the weights are not in {WEIGHTS}; fetch them: firstword models pull kokoro-82m-ja")
    return KokoroEngine(WEIGHTS)


@pytest.mark.models
def test_it_names_its_voices_with_their_language(engine: KokoroEngine) -> None:
    assert {voice.languages for voice in engine.voices()} == {("ja",)}
    assert "jf_alpha" in [voice.name for voice in engine.voices()]
    assert (engine.name, engine.sample_rate_hz) == ("kokoro", 24_000)


@pytest.mark.models
def test_a_piece_is_spoken_with_its_edges_trimmed(engine: KokoroEngine) -> None:
    (sound,) = engine.speak("Of course.")
    loud = np.flatnonzero(np.abs(sound.samples) > AUDIBLE)
    assert 0.4 < sound.duration_s < 2.5
    assert loud[0] <= 0.016 * sound.rate_hz


@pytest.mark.models
@pytest.mark.parametrize("language", ["fr", "xx"], ids=["one it has phonemes for", "an unknown one"])
def test_another_language_is_spoken_all_the_same(engine: KokoroEngine, language: str) -> None:
    (sound,) = engine.speak("Bonjour.", language=language)
    assert sound.peak > 0.05


@pytest.mark.models
def test_speed_changes_the_length(engine: KokoroEngine) -> None:
    slow, fast = (sum(len(part) for part in engine.speak("Yes.", speed=speed)) for speed in (0.5, 2.0))
    assert fast < 0.7 * slow


@pytest.mark.models
@pytest.mark.parametrize("text", ["", "…", "🎉"])
def test_with_nothing_to_say_nothing_is_made(engine: KokoroEngine, text: str) -> None:
    assert list(engine.speak(text)) == []


@pytest.mark.models
def test_an_unknown_voice_is_refused_with_the_nearest(engine: KokoroEngine) -> None:
    with pytest.raises(UnknownVoice, match="jf_alpha"):
        list(engine.speak("Hello.", voice="af_alpha"))


def test_missing_weights_are_refused_in_words(tmp_path: Path) -> None:
    pytest.importorskip("kokoro_onnx")
    with pytest.raises(NoVoice, match="firstword models pull kokoro-82m-ja"):
        KokoroEngine(tmp_path)


def test_a_missing_extra_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kokoro_onnx", None)
    with pytest.raises(NoVoice, match=r"firstword\[kokoro\]"):
        KokoroEngine(tmp_path)


@pytest.mark.models
def test_a_damaged_file_of_voices_is_refused_in_words(engine: KokoroEngine, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").symlink_to(WEIGHTS / "model.onnx")
    (tmp_path / "voices.npz").write_bytes(b"no archive")
    with pytest.raises(NoVoice, match="cannot be read"):
        KokoroEngine(tmp_path)
