"""The seam to Supertonic, on tiny graphs of the same inputs and outputs: its weights are on no package index."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tts import NoVoice, SupertonicEngine, UnknownVoice

RATE_HZ, CHUNK, COMPRESS, DIM, STYLE = 44_100, 512, 6, 4, 8
Latent = list[str | int]


def _write(path: Path, name: str, inputs: dict[str, tuple[str, Latent]], output: str, nodes: Callable) -> None:
    from onnx import TensorProto, helper, save

    kinds = {"f": TensorProto.FLOAT, "i": TensorProto.INT64}
    made, constants = nodes(helper)
    graph = helper.make_graph(
        made,
        name,
        [helper.make_tensor_value_info(key, kinds[kind], shape) for key, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    save(model, str(path))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Graphs that count: 0.1 s a character, and a latent that says how many steps it was solved in."""
    pytest.importorskip("onnx")
    pytest.importorskip("supertonic")
    from onnx import TensorProto

    at = tmp_path_factory.mktemp("supertonic")
    (at / "onnx").mkdir()
    (at / "voice_styles").mkdir()
    text: dict[str, tuple[str, Latent]] = {"text_ids": ("i", ["b", "t"]), "text_mask": ("f", ["b", 1, "t"])}
    style: Latent = ["b", 1, STYLE]

    def duration(helper):
        seconds = helper.make_tensor("seconds", TensorProto.FLOAT, [], [0.1])
        zero = helper.make_tensor("zero", TensorProto.FLOAT, [], [0.0])
        axes = helper.make_tensor("axes", TensorProto.INT64, [2], [1, 2])
        return [
            helper.make_node("ReduceSum", ["text_mask", "axes"], ["count"], keepdims=0),
            helper.make_node("ReduceSum", ["style_dp", "axes"], ["style"], keepdims=0),
            helper.make_node("Mul", ["style", "zero"], ["nothing"]),
            helper.make_node("Cast", ["text_ids"], ["ids"], to=TensorProto.FLOAT),
            helper.make_node("ReduceSum", ["ids"], ["sum"], keepdims=0),
            helper.make_node("Mul", ["sum", "zero"], ["nil"]),
            helper.make_node("Mul", ["count", "seconds"], ["long"]),
            helper.make_node("Sum", ["long", "nothing", "nil"], ["duration"]),
        ], [seconds, zero, axes]

    def encode(helper):
        return [
            helper.make_node("Cast", ["text_ids"], ["ids"], to=TensorProto.FLOAT),
            helper.make_node("ReduceSum", ["ids"], ["sum"], keepdims=0),
            helper.make_node("ReduceSum", ["style_ttl"], ["style"], keepdims=0),
            helper.make_node("Sum", ["text_mask", "sum", "style"], ["text_emb"]),
        ], []

    def solve(helper):
        zero = helper.make_tensor("zero", TensorProto.FLOAT, [], [0.0])
        part = helper.make_tensor("part", TensorProto.FLOAT, [], [0.01])
        return [
            helper.make_node("ReduceSum", ["text_emb"], ["a"], keepdims=0),
            helper.make_node("ReduceSum", ["style_ttl"], ["b"], keepdims=0),
            helper.make_node("ReduceSum", ["text_mask"], ["c"], keepdims=0),
            helper.make_node("ReduceSum", ["total_step"], ["d"], keepdims=0),
            helper.make_node("Sum", ["a", "b", "c", "d"], ["all"]),
            helper.make_node("Mul", ["all", "zero"], ["nothing"]),
            # Each step takes the noise away and adds its own number: after n steps the latent is 0.01 n.
            helper.make_node("Add", ["current_step", "one"], ["counted"]),
            helper.make_node("Mul", ["counted", "part"], ["level"]),
            helper.make_node("Reshape", ["level", "shape"], ["spread"]),
            helper.make_node("Mul", ["noisy_latent", "zero"], ["clean"]),
            helper.make_node("Sum", ["clean", "spread", "nothing"], ["whole"]),
            helper.make_node("Mul", ["whole", "latent_mask"], ["denoised_latent"]),
        ], [
            zero,
            part,
            helper.make_tensor("one", TensorProto.FLOAT, [], [1.0]),
            helper.make_tensor("shape", TensorProto.INT64, [3], [1, 1, 1]),
        ]

    def voice(helper):
        return [
            helper.make_node("ReduceMean", ["latent"], ["mean"], axes=[1], keepdims=1),
            helper.make_node("Resize", ["mean", "", "scales"], ["long"], mode="nearest"),
            helper.make_node("Reshape", ["long", "flat"], ["wav"]),
        ], [
            helper.make_tensor("scales", TensorProto.FLOAT, [3], [1.0, 1.0, float(CHUNK * COMPRESS)]),
            helper.make_tensor("flat", TensorProto.INT64, [2], [1, -1]),
        ]

    latent: Latent = ["b", DIM * COMPRESS, "l"]
    _write(at / "onnx/duration_predictor.onnx", "dp", {**text, "style_dp": ("f", style)}, "duration", duration)
    _write(at / "onnx/text_encoder.onnx", "te", {**text, "style_ttl": ("f", style)}, "text_emb", encode)
    solver: dict[str, tuple[str, Latent]] = {
        "noisy_latent": ("f", latent),
        "text_emb": ("f", ["b", 1, "t"]),
        "style_ttl": ("f", style),
        "text_mask": ("f", ["b", 1, "t"]),
        "latent_mask": ("f", ["b", 1, "l"]),
        "current_step": ("f", ["b"]),
        "total_step": ("f", ["b"]),
    }
    _write(at / "onnx/vector_estimator.onnx", "ve", solver, "denoised_latent", solve)
    _write(at / "onnx/vocoder.onnx", "vc", {"latent": ("f", latent)}, "wav", voice)
    sizes = {
        "ae": {"sample_rate": RATE_HZ, "base_chunk_size": CHUNK},
        "ttl": {"chunk_compress_factor": COMPRESS, "latent_dim": DIM},
    }
    (at / "onnx/tts.json").write_text(json.dumps(sizes))
    (at / "onnx/unicode_indexer.json").write_text(json.dumps([n % 100 for n in range(65_536)]))
    for name in ("F1", "M1"):
        value = {"data": [[[0.5] * STYLE]], "dims": [1, 1, STYLE], "type": "float32"}
        (at / f"voice_styles/{name}.json").write_text(json.dumps({"style_ttl": value, "style_dp": value}))
    return at


def length_s(engine: SupertonicEngine, text: str, **how: object) -> float:
    return sum(part.duration_s for part in engine.speak(text, **how))  # type: ignore[arg-type]


def test_voices_rate_and_languages_come_from_the_folder(folder: Path) -> None:
    engine = SupertonicEngine(folder)
    assert [voice.name for voice in engine.voices()] == ["F1", "M1"]
    assert {"en", "ko", "fr"} <= set(engine.voices()[0].languages)
    assert (engine.name, engine.sample_rate_hz) == ("supertonic", RATE_HZ)
    engine.warm()


def test_speed_shortens_within_what_the_solver_takes(folder: Path) -> None:
    engine = SupertonicEngine(folder)
    slow, plain, fast = (length_s(engine, "A sentence.", speed=speed) for speed in (0.5, 1.0, 2.0))
    assert plain == pytest.approx(len("<en>A sentence.</en>") * 0.1 / 1.05, abs=0.1)
    assert slow == pytest.approx(plain * 1.05 / 0.7, rel=0.06)
    assert fast == pytest.approx(plain * 1.05 / 2.0, rel=0.06)


@pytest.mark.parametrize(("steps", "level"), [(None, 0.08), (2, 0.02), (16, 0.16)], ids=["left out", "two", "sixteen"])
def test_it_is_solved_in_as_many_steps_as_were_asked(folder: Path, steps: int | None, level: float) -> None:
    (sound,) = SupertonicEngine(folder).speak("A sentence.", steps=steps)
    assert float(np.median(sound.samples)) == pytest.approx(level)


@pytest.mark.parametrize("language", ["en", "de", "xx", "tlh"])
def test_an_unknown_language_is_spoken_all_the_same(folder: Path, language: str) -> None:
    assert length_s(SupertonicEngine(folder), "A sentence.", language=language) > 1


@pytest.mark.parametrize("text", ["", "…", "🎉", " \n"])
def test_with_nothing_to_say_nothing_is_made(folder: Path, text: str) -> None:
    assert length_s(SupertonicEngine(folder), text) == 0


def test_an_unknown_voice_is_refused_with_the_nearest(folder: Path) -> None:
    with pytest.raises(UnknownVoice, match="M1"):
        length_s(SupertonicEngine(folder), "Hello.", voice="M11")


def test_missing_weights_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(NoVoice, match=r"vocoder\.onnx.*hf download Supertone/supertonic-3"):
        SupertonicEngine(tmp_path)


def test_a_missing_extra_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "supertonic", None)
    with pytest.raises(NoVoice, match=r"firstword\[supertonic\]"):
        SupertonicEngine(tmp_path)


def test_a_broken_style_is_refused_in_words(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "onnx").symlink_to(folder / "onnx")
    (tmp_path / "voice_styles").mkdir()
    (tmp_path / "voice_styles/M1.json").write_text("{}")
    with pytest.raises(NoVoice, match="no voice that can be loaded"):
        SupertonicEngine(tmp_path)
