"""Opening an ONNX graph as every engine here wants it.

The one rule: threads are explicit and never spin, or they take the cores from the recogniser beside them (91 ms against
132 to the first sound with one core busy).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tts.errors import NoVoice


def open_graph(path: Path, *, threads: int) -> Any:
    """An inference session on the CPU. Raises `NoVoice` where onnxruntime or the file is missing or broken."""
    try:
        import onnxruntime
    except ImportError as missing:
        raise NoVoice("onnxruntime is missing; install the extra: pip install 'firstword[piper]'") from missing
    if not path.is_file():
        raise NoVoice(f"{path} is missing; fetch the weights: firstword models pull")
    options = onnxruntime.SessionOptions()  # type: ignore[attr-defined]
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(  # type: ignore[attr-defined]
            str(path), options, providers=["CPUExecutionProvider"]
        )
    except Exception as fault:
        raise NoVoice(f"{path} cannot be loaded ({fault}); fetch it again: firstword models pull") from fault
