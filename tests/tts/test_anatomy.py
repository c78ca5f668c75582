"""Where a voice's graph is cut, on a small one of the same anatomy with several speakers: names do not matter."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sound import Pcm
from tts import PiperEngine, SplitFailed, UnknownVoice, split_voice
from tts.anatomy import Cut, Graph, find_decoder, find_flow
from tts.graph import open_graph
from tts.split import DECODER, FLOW, TEXT, Parts, read_split

CHANNELS, SPEAKERS, HOP = 6, 3, 8


def voice(path: Path, *, flow: bool = True, decoder: bool = True) -> Any:
    """Write a voice: ids to noisy frames, a conditioned flow, a conditioned decoder."""
    onnx = pytest.importorskip("onnx")
    helper, kinds = onnx.helper, onnx.TensorProto
    chance = np.random.default_rng(3)

    def weights(name: str, *shape: int) -> Any:
        return onnx.numpy_helper.from_array((0.3 * chance.standard_normal(shape)).astype(np.float32), name)

    def whole(name: str, *values: int) -> Any:
        return onnx.numpy_helper.from_array(np.array(values, dtype=np.int64), name)

    node = helper.make_node
    nodes = [
        node("Gather", ["letters", "input"], ["rows"]),
        node("Transpose", ["rows"], ["means"], perm=[0, 2, 1]),
        node("Concat", ["means"] * 4, ["long"], axis=2),
        node("RandomNormalLike", ["long"], ["drawn"], name="noise"),
        node("Gather", ["scales", "first"], ["loudness"]),
        node("Mul", ["drawn", "loudness"], ["scaled"]),
        node("Add", ["long", "scaled"], ["noisy"]),
        node("Abs", ["long"], ["size"]),
        node("ReduceMax", ["size"], ["most"], axes=[1], keepdims=1),
        node("Mul", ["most", "nought"], ["none"]),
        node("Add", ["none", "unit"], ["mask"]),
        node("Gather", ["people", "sid"], ["person"]),
        node("Unsqueeze", ["person", "last"], ["who"]),
    ]
    frames = "noisy"
    if flow:
        nodes += [
            node("Conv", [frames, "flow.w"], ["seen"], kernel_shape=[5], pads=[2, 2]),
            node("Conv", ["who", "flow.c"], ["colour"], kernel_shape=[1]),
            node("Add", ["seen", "colour"], ["both"]),
            node("Tanh", ["both"], ["bent"]),
            node("Conv", ["bent", "flow.v"], ["wide"], kernel_shape=[3], pads=[2, 2], dilations=[2]),
            node("Sub", [frames, "wide"], ["less"]),
            node("Mul", ["less", "mask"], ["frames"]),
        ]
        frames = "frames"
    if decoder:
        nodes += [
            node("Conv", [frames, "dec.w"], ["d"], kernel_shape=[7], pads=[3, 3]),
            node("Conv", ["who", "dec.c"], ["timbre"], kernel_shape=[1]),
            node("Add", ["d", "timbre"], ["e"]),
            node("LeakyRelu", ["e"], ["f"], alpha=0.1),
            node("ConvTranspose", ["f", "dec.up"], ["up"], kernel_shape=[16], strides=[HOP], pads=[4, 4]),
            node("Conv", ["up", "dec.r"], ["side"], kernel_shape=[3], pads=[1, 1]),
            node("Add", ["up", "side"], ["sum"]),
            node("Conv", ["sum", "dec.o"], ["one"], kernel_shape=[7], pads=[3, 3]),
            node("Tanh", ["one"], ["output"]),
        ]
    else:
        nodes += [node("Tanh", [frames], ["output"])]
    constants = [
        weights("letters", 64, CHANNELS),
        weights("people", SPEAKERS, CHANNELS),
        weights("flow.w", CHANNELS, CHANNELS, 5),
        weights("flow.c", CHANNELS, CHANNELS, 1),
        weights("flow.v", CHANNELS, CHANNELS, 3),
        weights("dec.w", CHANNELS, CHANNELS, 7),
        weights("dec.c", CHANNELS, CHANNELS, 1),
        weights("dec.up", CHANNELS, CHANNELS, 16),
        weights("dec.r", CHANNELS, CHANNELS, 3),
        weights("dec.o", 1, CHANNELS, 7),
        whole("first", 0),
        whole("last", 2),
        helper.make_tensor("nought", kinds.FLOAT, [], [0.0]),
        helper.make_tensor("unit", kinds.FLOAT, [], [1.0]),
    ]
    inputs = [
        helper.make_tensor_value_info("input", kinds.INT64, [1, "t"]),
        helper.make_tensor_value_info("input_lengths", kinds.INT64, [1]),
        helper.make_tensor_value_info("scales", kinds.FLOAT, [3]),
        helper.make_tensor_value_info("sid", kinds.INT64, [1]),
    ]
    output = helper.make_tensor_value_info("output", kinds.FLOAT, None)
    graph = helper.make_graph(nodes, "voice", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    onnx.save(model, str(path))
    return model


def test_both_cuts_are_found_with_what_flows_over_them(tmp_path: Path) -> None:
    graph = Graph(voice(tmp_path / "voice.onnx").graph)
    assert find_decoder(graph) == (Cut("frames", ("who",)), HOP)
    # Two convolutions: two frames to each side, and a kernel of three with holes of two.
    assert find_flow(graph, "frames") == (Cut("noisy", ("colour", "mask")), 4)


def test_a_voice_without_a_flow_is_cut_once(tmp_path: Path) -> None:
    model = voice(tmp_path / "voice.onnx", flow=False)
    assert find_flow(Graph(model.graph), "noisy") is None
    split = split_voice(tmp_path)
    assert (split.noisy, split.frames) == ("", "noisy")
    assert (tmp_path / DECODER).exists()
    assert not (tmp_path / FLOW).exists()
    assert read_split(tmp_path) == split


def test_a_graph_without_a_decoder_is_refused(tmp_path: Path) -> None:
    model = voice(tmp_path / "voice.onnx", decoder=False)
    with pytest.raises(SplitFailed, match="is it a Piper voice"):
        find_decoder(Graph(model.graph))
    with pytest.raises(SplitFailed):
        split_voice(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["voice.onnx"]


@pytest.mark.parametrize("flow", [True, False])
@pytest.mark.parametrize("speaker", range(SPEAKERS))
def test_each_speaker_s_samples_in_windows_are_those_of_the_whole(tmp_path: Path, speaker: int, flow: bool) -> None:
    voice(tmp_path / "voice.onnx", flow=flow)
    split = split_voice(tmp_path)
    assert (tmp_path / TEXT).exists()
    inputs = {
        "input": np.arange(50, dtype=np.int64)[None],
        "input_lengths": np.array([50], dtype=np.int64),
        "scales": np.array([0.0, 1.0, 0.0], dtype=np.float32),
        "sid": np.array([speaker], dtype=np.int64),
    }
    expected = open_graph(tmp_path / "voice.onnx", threads=1).run(None, inputs)[0].ravel()
    parts = Parts(tmp_path, split, threads=1)
    made = np.concatenate(list(parts.decode(parts.encode(inputs), first=3, largest=40)))
    assert len(made) == len(expected) == 200 * HOP
    assert np.abs(made - expected).max() < 1e-5


def test_a_voice_of_several_speakers_names_them_and_speaks_at_its_own_rate(tmp_path: Path) -> None:
    pytest.importorskip("piper")
    voice(tmp_path / "voice.onnx")
    split_voice(tmp_path)
    said = {
        "audio": {"sample_rate": 16_000},
        "espeak": {"voice": "de"},
        "language": {"family": "de"},
        "inference": {"noise_scale": 0.0, "length_scale": 1.0, "noise_w": 0.0},
        "num_symbols": 64,
        "num_speakers": SPEAKERS,
        "speaker_id_map": {"anna": 0, "bert": 1, "carl": 2},
        "phoneme_id_map": {chr(code): [code % 60 + 1] for code in range(32, 1_000)},
    }
    (tmp_path / "voice.onnx.json").write_text(json.dumps(said))
    engine = PiperEngine(tmp_path, threads=1)
    assert engine.streams
    assert engine.sample_rate_hz == 16_000
    assert [(offered.name, offered.languages) for offered in engine.voices()] == [
        (name, ("de",)) for name in ("anna", "bert", "carl")
    ]
    anna, bert = (Pcm.join(list(engine.speak("Guten Tag.", voice=name))) for name in ("anna", "bert"))
    assert anna.rate_hz == bert.rate_hz == 16_000
    assert not np.array_equal(anna.samples[:200], bert.samples[:200])
    with pytest.raises(UnknownVoice, match="carl"):
        list(engine.speak("Guten Tag.", voice="karl"))
