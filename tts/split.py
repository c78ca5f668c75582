"""A Piper voice's graph cut in two, so that its sound can be made in windows.

The exported graph is an encoder (phonemes to frames) and a decoder (frames to samples) in one. It is cut once, after
the weights were pulled, and checked. The one rule: a cut that does not give the same samples is not kept.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tts.errors import SplitFailed

WHOLE = "voice.onnx"
ENCODER = "encoder.onnx"
DECODER = "decoder.onnx"
RECORD = "split.json"
# The largest difference between a sample made whole and one made in two: what float32 sums in another order differ by.
SAME_WITHIN = 1e-5


@dataclass(frozen=True, slots=True)
class Split:
    """Where a graph was cut: the tensor of frames, what else the decoder takes, and samples a frame."""

    frames: str
    others: tuple[str, ...]
    hop: int


def read_split(folder: Path) -> Split | None:
    """The cut of the voice in `folder`, or None where there is none or it belongs to another file."""
    try:
        record = json.loads((folder / RECORD).read_text("utf-8"))
        fits = record["whole_bytes"] == (folder / WHOLE).stat().st_size
        if not fits or not (folder / ENCODER).is_file() or not (folder / DECODER).is_file():
            return None
        return Split(record["frames"], tuple(record["others"]), int(record["hop"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def split_voice(folder: Path) -> Split:
    """Cut `voice.onnx` in `folder` into `encoder.onnx` and `decoder.onnx`. Safe to repeat; takes some seconds once.

    Raises `SplitFailed` where the graph is of another kind, the halves differ from the whole, or the folder cannot be
    written; the voice then still speaks, a piece at a time.
    """
    found = read_split(folder)
    if found is not None:
        return found
    try:
        import onnx
        from onnx.utils import Extractor
    except ImportError as missing:
        raise SplitFailed(
            "cutting a voice in two needs the package onnx; install the extra: pip install 'firstword[piper]'"
        ) from missing
    parts = {name: folder / f"{name}.part" for name in (ENCODER, DECODER, RECORD)}
    try:
        model = onnx.load(str(folder / WHOLE))
        split = _find_cut(model.graph)
        taken = [split.frames, *split.others]
        extractor = Extractor(_with_shapes(onnx, model, taken))
        onnx.save(extractor.extract_model([value.name for value in model.graph.input], taken), str(parts[ENCODER]))
        onnx.save(extractor.extract_model(taken, [model.graph.output[0].name]), str(parts[DECODER]))
        _check(folder / WHOLE, parts[ENCODER], parts[DECODER], split)
        record = {
            "frames": split.frames,
            "others": list(split.others),
            "hop": split.hop,
            "whole_bytes": (folder / WHOLE).stat().st_size,
        }
        parts[RECORD].write_text(json.dumps(record), "utf-8")
        # The record goes last: without it the halves do not count.
        for name, part in parts.items():
            part.replace(folder / name)
    except SplitFailed:
        raise
    except Exception as fault:
        raise SplitFailed(f"{folder / WHOLE} was not cut in two: {fault}; it speaks a piece at a time") from fault
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    return split


def _find_cut(graph: Any) -> Split:
    """Walk back from the samples to the decoder's first convolution; its input is the tensor of frames."""
    made_by = {name: node for node in graph.node for name in node.output}
    constants = {value.name for value in graph.initializer}
    ups = []
    name = graph.output[0].name
    while (node := made_by.get(name)) is not None:
        if node.op_type == "ConvTranspose":
            ups.append(node)
        elif node.op_type == "Conv" and ups and _kernel(node) > 1 and not _leads_up(node, made_by):
            others = _others(ups[-1], node, made_by, constants)
            hop = math.prod(_ints(up, "strides")[0] for up in ups)
            return Split(node.input[0], others, hop)
        name = _main_input(node, made_by, constants)
    raise SplitFailed("the graph has no decoder of transposed convolutions; is it a Piper voice?")


def _main_input(node: Any, made_by: dict[str, Any], constants: set[str]) -> str:
    """The input that leads back along the decoder: past residual sums, away from a speaker's conditioning."""
    choices = [name for name in node.input if name in made_by and name not in constants]
    if not choices:
        return ""
    deep = [name for name in choices if _leads_up(made_by[name], made_by)]
    wide = [name for name in choices if made_by[name].op_type == "Conv" and _kernel(made_by[name]) > 1]
    return str((deep or wide or choices)[0])


def _leads_up(node: Any, made_by: dict[str, Any]) -> bool:
    """Whether a transposed convolution stands at or before `node`."""
    seen: set[str] = set()
    waiting = [node]
    while waiting:
        at = waiting.pop()
        if at.op_type == "ConvTranspose":
            return True
        for name in at.input:
            if name in made_by and name not in seen:
                seen.add(name)
                waiting.append(made_by[name])
    return False


def _others(first_up: Any, first_conv: Any, made_by: dict[str, Any], constants: set[str]) -> tuple[str, ...]:
    """What else flows in between the first convolution and the first upsampling: a speaker's vector."""
    found = []
    node = made_by[first_up.input[0]]
    while node is not first_conv:
        names = [name for name in node.input if name in made_by and name not in constants]
        for name in names:
            side = made_by[name]
            if side.op_type == "Conv" and side is not first_conv and _kernel(side) == 1:
                found.append(side.input[0])
        node = made_by[_main_input(node, made_by, constants)]
    return tuple(found)


def _ints(node: Any, name: str) -> list[int]:
    return next((list(attribute.ints) for attribute in node.attribute if attribute.name == name), [1])


def _kernel(node: Any) -> int:
    return _ints(node, "kernel_shape")[0]


def _with_shapes(onnx: Any, model: Any, names: list[str]) -> Any:
    """The model with the type of each tensor at the cut declared, which an extractor wants."""
    known = {value.name for value in model.graph.value_info}
    for name in names:
        if name not in known:
            model.graph.value_info.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
    return model


def _check(whole: Path, encoder: Path, decoder: Path, split: Split) -> None:
    """Both ways without noise on one made-up utterance: the same samples, or `SplitFailed`."""
    import numpy as np

    from tts.graph import open_graph

    first, second, third = (open_graph(path, threads=2) for path in (whole, encoder, decoder))
    inputs = {
        "input": np.arange(1, 41, dtype=np.int64)[None] % 30 + 1,
        "input_lengths": np.array([40], dtype=np.int64),
        "scales": np.array([0.0, 1.0, 0.0], dtype=np.float32),
    }
    if any(value.name == "sid" for value in first.get_inputs()):
        inputs["sid"] = np.array([0], dtype=np.int64)
    expected = first.run(None, inputs)[0].ravel()
    tensors = dict(zip([split.frames, *split.others], second.run([split.frames, *split.others], inputs), strict=True))
    made = third.run(None, tensors)[0].ravel()
    if len(made) != len(expected) or len(made) != tensors[split.frames].shape[-1] * split.hop:
        raise SplitFailed(f"{whole}: the halves give {len(made)} samples, the whole {len(expected)}")
    difference = float(np.abs(made - expected).max())
    if difference > SAME_WITHIN:
        raise SplitFailed(f"{whole}: the halves differ from the whole by {difference:.1e}")
