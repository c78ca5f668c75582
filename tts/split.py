"""A Piper voice's graph cut into parts, so that its sound can be made in windows.

The exported graph is one: phonemes become noisy frames (text), those become frames (flow), those become samples
(decoder). It is cut once, after the weights were pulled, and checked. The one rule: a cut that does not give the same
samples is not kept.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tts.anatomy import Cut, Graph, find_decoder, find_flow
from tts.errors import SplitFailed
from tts.graph import open_graph
from tts.windows import Frames, Tensors, samples_of

WHOLE = "voice.onnx"
TEXT = "text.onnx"
FLOW = "flow.onnx"
DECODER = "decoder.onnx"
RECORD = "parts.json"
# The largest difference at which parts count as the same graph. Sums in another order differ by 3e-6 here and could by
# more on another processor; a window with too little context differs by 2e-3.
SAME_WITHIN = 1e-4
# Frames of context on each side of a decoder's window: it sees 10; with 8 samples differ by 2e-3, with 12 by 7e-7.
OVERLAP = 12
# Frames that the flow gives at a time, at least. Products of fewer are summed in another order and differ by 2e-5 in a
# sample; the frames are wanted by the next window anyway.
FLOW_STEP = 36
# The windows in which parts are tried against the whole: small ones, so that there are many seams.
_TRIED = 7


@dataclass(frozen=True, slots=True)
class Split:
    """Where a graph was cut. `noisy` and `frames` are tensors; the flow sees `reach` frames to each side.

    `noisy` is empty where the graph has no flow of the known kind: the text part then gives the frames themselves.
    """

    frames: str
    others: tuple[str, ...]
    hop: int
    noisy: str = ""
    beside: tuple[str, ...] = ()
    reach: int = 0

    @property
    def text_gives(self) -> list[str]:
        """The tensors that the text part computes."""
        return list(dict.fromkeys([self.noisy or self.frames, *self.beside, *self.others]))


class Parts:
    """The opened parts of a voice that was split: phonemes in, samples out, a window at a time."""

    def __init__(self, folder: Path, split: Split, *, threads: int) -> None:
        self._split = split
        self._text = open_graph(folder / TEXT, threads=threads)
        self._flow = open_graph(folder / FLOW, threads=threads) if split.noisy else None
        self._decoder = open_graph(folder / DECODER, threads=threads)

    def encode(self, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
        """What the other parts are fed, by tensor. Noise is drawn here and nowhere else."""
        names = self._split.text_gives
        return dict(zip(names, self._text.run(names, inputs), strict=True))

    def decode(self, tensors: Tensors, *, first: int, largest: int) -> Any:
        """The samples of what `encode` gave, in windows of `first` frames and growing to `largest`."""
        split = self._split
        length = tensors[split.noisy or split.frames].shape[-1]
        if split.noisy:
            fed = {name: tensors[name] for name in (split.noisy, *split.beside)}
            frames = Frames(self._run_flow, fed, length, split.reach, least=FLOW_STEP)
        else:
            frames = Frames(lambda made: made[split.frames], {split.frames: tensors[split.frames]}, length, 0)

        others = {name: tensors[name] for name in split.others}
        return samples_of(
            self._run_decoder,
            frames.upto,
            others,
            split.frames,
            length,
            hop=split.hop,
            overlap=OVERLAP,
            first=first,
            largest=largest,
        )

    def _run_flow(self, tensors: Tensors) -> np.ndarray:
        assert self._flow is not None  # noqa: S101 - only called where there is one
        frames: np.ndarray = self._flow.run([self._split.frames], dict(tensors))[0]
        return frames

    def _run_decoder(self, tensors: Tensors) -> np.ndarray:
        samples: np.ndarray = self._decoder.run(None, dict(tensors))[0]
        return samples


def read_split(folder: Path) -> Split | None:
    """The cut of the voice in `folder`, or None where there is none or it belongs to another file."""
    try:
        record = json.loads((folder / RECORD).read_text("utf-8"))
        split = Split(**{**record["split"], "others": tuple(record["split"]["others"])})
        split = Split(**{**asdict(split), "beside": tuple(split.beside)})
        fits = record["whole_bytes"] == (folder / WHOLE).stat().st_size
        files = (TEXT, FLOW, DECODER) if split.noisy else (TEXT, DECODER)
        return split if fits and all((folder / name).is_file() for name in files) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def split_voice(folder: Path) -> Split:
    """Cut `voice.onnx` in `folder` into its parts, beside it. Safe to repeat; takes some seconds once.

    Raises `SplitFailed` where the graph is of another kind, the parts differ from the whole, or the folder cannot be
    written; the voice then still speaks, a piece at a time.
    """
    found = read_split(folder)
    if found is not None:
        return found
    try:
        import onnx
    except ImportError as missing:
        raise SplitFailed(
            "cutting a voice into parts needs the package onnx; install the extra: pip install 'firstword[piper]'"
        ) from missing
    scratch = folder / "parts.part"
    try:
        scratch.mkdir(exist_ok=True)
        model = onnx.load(str(folder / WHOLE))
        split = _extract(onnx, model, scratch)
        _check(folder / WHOLE, scratch, split)
        record = {"split": asdict(split), "whole_bytes": (folder / WHOLE).stat().st_size}
        (scratch / RECORD).write_text(json.dumps(record), "utf-8")
        # The record goes last: without it the parts do not count.
        for name in (TEXT, FLOW, DECODER, RECORD):
            if (scratch / name).exists():
                (scratch / name).replace(folder / name)
    except SplitFailed:
        raise
    except Exception as fault:
        raise SplitFailed(f"{folder / WHOLE} was not cut into parts: {fault}; it speaks a piece at a time") from fault
    finally:
        for left in scratch.glob("*"):
            left.unlink(missing_ok=True)
        if scratch.exists():
            scratch.rmdir()
    return split


def _extract(onnx: Any, model: Any, into: Path) -> Split:
    graph = Graph(model.graph)
    decoder, hop = find_decoder(graph)
    flow, reach = find_flow(graph, decoder.tensor) or (Cut("", ()), 0)
    split = Split(decoder.tensor, decoder.others, hop, flow.tensor, flow.others, reach)
    from onnx.utils import Extractor

    taken = [split.frames, *split.others]
    extractor = Extractor(_with_types(onnx, model, list(dict.fromkeys([*taken, *split.text_gives]))))
    inputs = [value.name for value in model.graph.input]
    onnx.save(extractor.extract_model(inputs, split.text_gives), str(into / TEXT))
    if split.noisy:
        onnx.save(extractor.extract_model([split.noisy, *split.beside], [split.frames]), str(into / FLOW))
    onnx.save(extractor.extract_model(taken, [model.graph.output[0].name]), str(into / DECODER))
    return split


def _with_types(onnx: Any, model: Any, names: list[str]) -> Any:
    """The model with the type of each tensor at a cut declared, which an extractor wants."""
    known = {value.name for value in model.graph.value_info}
    for name in names:
        if name not in known:
            model.graph.value_info.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
    return model


def _check(whole: Path, folder: Path, split: Split) -> None:
    """Whole and in small windows, without noise, on one made-up utterance: the same samples, or `SplitFailed`."""
    first = open_graph(whole, threads=2)
    inputs = {
        "input": np.arange(1, 61, dtype=np.int64)[None] % 30 + 1,
        "input_lengths": np.array([60], dtype=np.int64),
        "scales": np.array([0.0, 1.0, 0.0], dtype=np.float32),
    }
    if any(value.name == "sid" for value in first.get_inputs()):
        inputs["sid"] = np.array([0], dtype=np.int64)
    expected = first.run(None, inputs)[0].ravel()
    parts = Parts(folder, split, threads=2)
    made = np.concatenate(list(parts.decode(parts.encode(inputs), first=_TRIED, largest=5 * _TRIED)))
    if len(made) != len(expected):
        raise SplitFailed(f"{whole}: the parts give {len(made)} samples, the whole {len(expected)}")
    difference = float(np.abs(made - expected).max())
    if difference > SAME_WITHIN:
        raise SplitFailed(f"{whole}: the parts differ from the whole by {difference:.1e}")
