"""The head of every result: on what it was measured.

Facts only, no judgement, and no name of the machine: what it is, not which. The one rule: a figure without this head is
not quoted.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from models import Catalog

_PARTS = ("firstword", "numpy", "onnxruntime", "ctranslate2", "faster-whisper", "piper-tts", "xllamacpp", "websockets")


def head(*, threads: int, models: dict[str, str]) -> dict[str, Any]:
    """Machine, cores, versions, models and the load at this moment; JSON-ready.

    `models` maps a use to a name. `sums` has the SHA-256 of the weights of those that the catalog knows.
    """
    return {
        "machine": {
            "processor": _processor(),
            "cores": psutil.cpu_count(logical=False) or os.cpu_count(),
            "logical_cores": os.cpu_count(),
            "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
            "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
        },
        "threads": threads,
        "models": models,
        "sums": _sums(models.values()),
        "versions": {name: _version(name) for name in _PARTS},
        "load_1min": round(os.getloadavg()[0], 2),
    }


def _processor() -> str:
    """The processor's name as the kernel gives it, else what Python knows."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _sums(names: Iterable[str]) -> dict[str, str]:
    """The sum of each one's largest file, which is the weights themselves."""
    wanted = set(names)
    return {
        weights.name: max(weights.files, key=lambda file: file.bytes).sha256
        for weights in Catalog()
        if weights.name in wanted
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
