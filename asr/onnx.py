"""Opening an ONNX file so that it shares the cores: threads explicit, no spin-waiting, no arena.

The one rule: a file that is no model is refused in words before the runtime sees it.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from asr.errors import EngineRefused

# The smallest model we load is Silero, over 1 MB; anything shorter than this is a broken download.
_LEAST_BYTES = 100_000


def open_onnx(path: Path, *, threads: int) -> Any:
    """An `onnxruntime.InferenceSession`. Raises `EngineRefused` naming the file."""
    try:
        size = path.stat().st_size
        head = path.read_bytes()[:64] if size < _LEAST_BYTES else b"\x08"
    except OSError as fault:
        raise EngineRefused(str(path), fault.strerror) from fault
    if size < _LEAST_BYTES or not head.strip(b"\0"):
        raise EngineRefused(str(path), f"{size} bytes are no model")
    onnxruntime: Any = importlib.import_module("onnxruntime")

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # A thread that spins for the next job takes the core from every other engine (design/house.md).
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(path), sess_options=options, providers=["CPUExecutionProvider"])
    except Exception as fault:  # the runtime's own exceptions share no base class
        raise EngineRefused(str(path), str(fault).splitlines()[0]) from fault
