import os
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnxruntime import set_seed

from sound import AUDIBLE, Pcm
from tts import NoVoice, PiperEngine, SplitFailed, UnknownVoice, split_voice
from tts.graph import open_graph
from tts.piper_engine import FIRST_WINDOW, LARGEST_WINDOW
from tts.split import Parts, read_split

MODELS = Path(os.environ.get("FIRSTWORD_MODELS") or Path.home() / ".cache/firstword/models")
VOICE = MODELS / "piper-en_US-joe-medium"
# What a sample of a streamed piece may differ by from the same sample of the whole.
EQUAL_WITHIN = 1e-5
SENTENCE = "The opening hours are from nine to five on every day of the week."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (VOICE / "voice.onnx").exists():
        pytest.skip(f"the weights are not in {VOICE}; fetch them: firstword models pull")
    made = tmp_path_factory.mktemp("voice")
    for name in ("voice.onnx", "voice.onnx.json"):
        (made / name).symlink_to(VOICE / name)
    split_voice(made)
    return made


@pytest.fixture(scope="module")
def engine(folder: Path) -> PiperEngine:
    """Loading it takes longer than most of what is asked of it."""
    return PiperEngine(folder)


@dataclass(frozen=True)
class Encoded:
    """`SENTENCE` by the text part, and all of its samples in one window."""

    parts: Parts
    hop: int
    tensors: dict[str, np.ndarray]
    length: int
    whole: np.ndarray


@pytest.fixture(scope="module")
def encoded(folder: Path) -> Encoded:
    split = read_split(folder)
    assert split is not None
    assert split.noisy
    # The noise is drawn once, by the text part, from a fixed seed; both ways are fed what was drawn.
    set_seed(7)
    parts = Parts(folder, split, threads=2)
    tensors = parts.encode(inputs_of(SENTENCE, noise=0.667, noise_w=0.8))
    length = tensors[split.noisy].shape[-1]
    whole = np.concatenate(list(parts.decode(tensors, first=length, largest=length)))
    return Encoded(parts, split.hop, tensors, length, whole)


@pytest.mark.models
def test_the_cut_is_found_by_shape_and_kept_with_nothing_half_written(folder: Path) -> None:
    split = read_split(folder)
    assert split is not None
    assert split.hop == 256
    assert split_voice(folder) == split
    assert not list(folder.glob("*.part"))


@pytest.mark.models
@pytest.mark.parametrize("first", [1, 5, 12, 22, 60])
def test_windows_give_the_same_samples_as_the_whole(encoded: Encoded, first: int) -> None:
    made = list(encoded.parts.decode(encoded.tensors, first=first, largest=172))
    assert len(made) > 1
    windows = np.concatenate(made)
    assert len(windows) == len(encoded.whole) == encoded.length * encoded.hop
    assert np.abs(windows - encoded.whole).max() < EQUAL_WITHIN


@pytest.mark.models
@pytest.mark.parametrize("seed", [1, 2])
def test_with_the_noise_seeded_a_streamed_piece_is_the_whole_graph_s(folder: Path, tmp_path: Path, seed: int) -> None:
    """The exported graph and the parts draw their noise from equal seeds, node for node."""
    import onnx

    whole = tmp_path / "whole.onnx"
    _seeded(onnx, folder / "voice.onnx", whole, seed)
    _seeded(onnx, folder / "text.onnx", tmp_path / "text.onnx", seed)
    for name in ("flow.onnx", "decoder.onnx"):
        (tmp_path / name).symlink_to(folder / name)
    split = read_split(folder)
    assert split is not None
    inputs = inputs_of(SENTENCE, noise=0.667, noise_w=0.8)
    expected = open_graph(whole, threads=2).run(None, inputs)[0].ravel()
    parts = Parts(tmp_path, split, threads=2)
    made = np.concatenate(list(parts.decode(parts.encode(inputs), first=FIRST_WINDOW, largest=LARGEST_WINDOW)))
    assert len(made) == len(expected)
    assert np.abs(made - expected).max() < EQUAL_WITHIN
    assert np.abs(expected).max() > 0.1


@cache
def ids_of(text: str) -> list[int]:
    phonemes = PiperEngine(VOICE)._phonemes
    return list(phonemes.phonemes_to_ids(phonemes.phonemize(text)[0]))


def inputs_of(text: str, *, noise: float, noise_w: float) -> dict[str, np.ndarray]:
    ids = ids_of(text)
    return {
        "input": np.array([ids], dtype=np.int64),
        "input_lengths": np.array([len(ids)], dtype=np.int64),
        "scales": np.array([noise, 1.0, noise_w], dtype=np.float32),
    }


def _seeded(onnx: Any, source: Path, target: Path, seed: int) -> None:
    model = onnx.load(str(source))
    drawn = [node for node in model.graph.node if node.op_type == "RandomNormalLike"]
    assert len(drawn) == 2
    for n, node in enumerate(drawn):
        node.attribute.append(onnx.helper.make_attribute("seed", float(seed + n)))
    onnx.save(model, str(target))


@pytest.mark.models
def test_without_noise_the_split_voice_says_what_the_whole_one_does(folder: Path, tmp_path: Path) -> None:
    for name in ("voice.onnx", "voice.onnx.json"):
        (tmp_path / name).symlink_to(VOICE / name)
    split, whole = PiperEngine(folder), PiperEngine(tmp_path)
    assert split.streams
    assert not whole.streams
    for engine in (split, whole):
        engine._config.noise_scale = engine._config.noise_w_scale = 0.0
    one, two = (Pcm.join(engine.speak(SENTENCE)) for engine in (split, whole))
    assert len(one) == len(two)
    assert np.abs(one.samples - two.samples).max() < EQUAL_WITHIN


@pytest.mark.models
def test_a_piece_comes_in_growing_stretches_with_its_edges_trimmed(engine: PiperEngine) -> None:
    parts = list(engine.speak(SENTENCE))
    assert len(parts) > 2
    assert parts[0].duration_s < 0.3
    assert parts[1].duration_s > parts[0].duration_s
    loud = np.flatnonzero(np.abs(Pcm.join(parts).samples) > AUDIBLE)
    whole = Pcm.join(parts)
    assert loud[0] <= 0.031 * whole.rate_hz
    assert len(whole) - loud[-1] < 0.2 * whole.rate_hz


@pytest.mark.models
def test_speed_changes_the_length(engine: PiperEngine) -> None:
    slow, fast = (sum(len(part) for part in engine.speak(SENTENCE, speed=speed)) for speed in (0.7, 1.5))
    assert fast < 0.7 * slow


@pytest.mark.models
@pytest.mark.parametrize("text", ["", "...", "🎉", " \n", "—"])
def test_with_nothing_to_say_nothing_is_made(engine: PiperEngine, text: str) -> None:
    assert list(engine.speak(text)) == []


@pytest.mark.models
def test_an_unknown_voice_is_refused_with_the_nearest(engine: PiperEngine) -> None:
    with pytest.raises(UnknownVoice, match="joe"):
        list(engine.speak("Hello.", voice="jo"))


def test_missing_weights_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(NoVoice, match="firstword models pull"):
        PiperEngine(tmp_path)


def test_a_file_that_is_no_voice_is_not_split_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "voice.onnx").write_bytes(bytes(100))
    with pytest.raises(SplitFailed):
        split_voice(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["voice.onnx"]


@pytest.mark.models
def test_parts_of_another_file_do_not_count(folder: Path, tmp_path: Path) -> None:
    for path in folder.iterdir():
        shutil.copy(path.resolve(), tmp_path / path.name)
    with (tmp_path / "voice.onnx").open("ab") as file:
        file.write(b"\0")
    assert read_split(tmp_path) is None


@pytest.mark.models
def test_a_broken_voice_is_refused_in_words(folder: Path, tmp_path: Path) -> None:  # M5
    (tmp_path / "voice.onnx").write_bytes(bytes(100))
    shutil.copy((folder / "voice.onnx.json").resolve(), tmp_path / "voice.onnx.json")
    with pytest.raises(NoVoice, match="cannot be loaded"):
        PiperEngine(tmp_path)
