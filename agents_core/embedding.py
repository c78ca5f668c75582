"""Sentences to vectors: a MiniLM in ONNX form, from the catalog, in this process.

Not a search: it only says how near two sentences are. The one rule: a vector is worth nothing beside one of another
model, so whoever keeps it keeps `name` too. Shape (384,), float32, length 1: a dot product is the cosine.
"""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
WIDTH = 384
# The model was trained on 256 tokens; what somebody says in one breath is far below.
_TOKENS = 256


class Embedder(Protocol):
    """Who makes vectors. `name` is the model's."""

    @property
    def name(self) -> str: ...
    async def embed(self, text: str) -> Vector: ...


class MiniLM:
    """all-MiniLM-L6-v2 in `folder` (`model.onnx`, `tokenizer.json`). Loaded when it is first asked; 23 MB, 5 ms a
    line.
    """

    name = "minilm-l6"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded: tuple[Any, Any] | None = None
        self._one = asyncio.Lock()

    async def embed(self, text: str) -> Vector:
        """The vector of a sentence. Off the event loop, one at a time."""
        async with self._one:
            return await asyncio.to_thread(self._embed, text)

    def _embed(self, text: str) -> Vector:
        tokenizer, session = self._loaded or self._load()
        encoded = tokenizer.encode(text)
        ids = np.array([encoded.ids], dtype=np.int64)
        mask = np.array([encoded.attention_mask], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        wanted = {one.name for one in session.get_inputs()}
        hidden = session.run(None, {name: value for name, value in given.items() if name in wanted})[0]
        if hidden.ndim == 3:
            weights = mask[:, :, None].astype(np.float32)
            hidden = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        vector = np.asarray(hidden[0], dtype=np.float32)
        return vector / max(float(np.linalg.norm(vector)), 1e-9)

    def _load(self) -> tuple[Any, Any]:
        # Imported where it is used: a bot that recalls nothing does not wait for it, nor need it installed.
        onnxruntime: Any = importlib.import_module("onnxruntime")
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        tokenizer.enable_truncation(_TOKENS)
        tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        # It is asked once an answer: it may take its time, and takes no core from the recogniser beside it.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = onnxruntime.InferenceSession(
            str(self._folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._loaded = tokenizer, session
        return self._loaded
