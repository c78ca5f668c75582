"""Results as files: where one is kept, and which one stands for a benchmark.

`turn` and `first-word` keep a history, a file for a day and a machine; of the others the last one stands. The one rule:
a result of a busy machine is never kept in the place of a quiet one of the history.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.errors import BenchRefused

RESULTS = Path(__file__).parent / "results"
# These are what a release is judged by.
KEPT = ("turn", "first-word")
# What a processor's name says beside itself.
_WORDLESS = re.compile(r"\((r|tm)\)|\b(cpu|processor)\b|@.*", re.IGNORECASE)


def save(result: Mapping[str, Any], folder: Path = RESULTS) -> Path:
    """Write `result` where it belongs under `folder`; gives the file."""
    path = folder / place(result)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def place(result: Mapping[str, Any]) -> Path:
    """The file of a result inside the folder of results. Pure.

    `turn/2026-11-30-intel-xeon-2-cores.json`, and `…-noisy.json` where it is not to be quoted.
    """
    name = _slug(result["bench"])
    if name not in KEPT:
        return Path(f"{name}.json")
    noisy = "" if result.get("quotable") else "-noisy"
    return Path(name) / f"{result['at'][:10]}-{machine_slug(result['machine'])}{noisy}.json"


def _slug(bench: str) -> str:
    """The name of a benchmark as a file's: links to it hold no blanks."""
    return bench.replace(" --", "-").replace(" ", "-")


def machine_slug(machine: Mapping[str, Any]) -> str:
    """What kind of machine it is, as part of a file's name: `intel-xeon-2-cores`. Never which one."""
    words = re.findall(r"[a-z0-9]+", _WORDLESS.sub(" ", machine["processor"]).lower())
    return "-".join([*words, str(machine["cores"]), "cores"])


def load(path: Path) -> dict[str, Any]:
    """The result in a file. Raises `BenchRefused` where it is none."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise BenchRefused(f"{path} cannot be read: {fault.strerror}") from fault
    except ValueError as fault:
        raise BenchRefused(f"{path} is not JSON: {fault}") from fault
    if not isinstance(result, dict) or "bench" not in result or "machine" not in result:
        raise BenchRefused(f"{path} is no result of a benchmark; write one with: firstword bench turn --save")
    return result


def history(bench: str, folder: Path = RESULTS) -> list[tuple[Path, dict[str, Any]]]:
    """The results of `bench` that are kept under `folder`, oldest first."""
    name = _slug(bench)
    files = [*folder.glob(f"{name}.json"), *(folder / name).glob("*.json")]
    found = [(path, load(path)) for path in files]
    return sorted(found, key=lambda one: (one[1].get("at", ""), one[0].name))


def standing(bench: str, folder: Path = RESULTS) -> tuple[Path, dict[str, Any]] | None:
    """The result that speaks for `bench`: the last of a quiet machine, else the last; None where there is none."""
    found = history(bench, folder)
    quiet = [one for one in found if one[1].get("quotable")]
    return (quiet or found)[-1] if found else None
