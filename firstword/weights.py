"""What `firstword models` does: list, fetch with progress, examine.

The one rule: memory is measured by loading the set for real, in a process of its own, never estimated.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from typing import Any

import click
import psutil

from firstword.settings import load_settings
from models import Progress, Store, Weights, pull

# What each optional part needs to be importable, and what it is for.
PARTS = {
    "asr": ("faster_whisper", "listening"),
    "piper": ("piper", "the local voice (GPL-3.0)"),
    "kokoro": ("kokoro_onnx", "the voices of Kokoro (GPL-3.0)"),
    "supertonic": ("supertonic", "the voices of Supertonic"),
    "play": ("sounddevice", "playing on this machine"),
    "local": ("xllamacpp", "the local language model"),
    "hub": ("huggingface_hub", "weights from a hub"),
}
_NEEDED_PARTS = ("asr", "piper", "local")


def listing() -> list[dict[str, Any]]:
    """A row for each entry of the catalog."""
    store = Store(load_settings().models)
    return [_row(store, weights) for weights in store.catalog]


def fetch(names: tuple[str, ...], *, quiet: bool) -> list[str]:
    """Fetch `names` (the default set where there are none); gives those that were not here before."""
    store = Store(load_settings().models)
    wanted = names or tuple(weights.name for weights in store.catalog if weights.default)
    fetched = []
    for name in wanted:
        weights = store.catalog[name]
        if not store.present(name) and not quiet:
            click.echo(f"{name}: {weights.what_for}, {weights.download_bytes / 1e6:.0f} MB, {weights.licence}")
        if fetch_one(store, name, None if quiet else _bar()):
            fetched.append(name)
            if not quiet:
                click.echo(f"\r  {name} is here and whole" + " " * 30)
    return fetched


def fetch_one(store: Store, name: str, progress: Progress | None) -> bool:
    """Fetch the weights `name` and make them ready; True where they were not here before. Raises `ModelsError`s."""
    return pull(store, name, progress=progress, after={"piper": _split})


def examine(*, measure: bool) -> dict[str, Any]:
    """The report of `models doctor`: JSON-ready, with `lines` for a terminal and `well` in all."""
    settings = load_settings()
    store = Store(settings.models)
    parts = {name: importlib.util.find_spec(module) is not None for name, (module, _) in PARTS.items()}
    weights = []
    for entry in store.catalog:
        here = store.present(entry.name)
        faults = store.faults(entry) if here else []
        weights.append({**_row(store, entry), "whole": here and not faults, "faults": faults})
    needed = [row for row in weights if row["default"]]
    well = all(row["whole"] for row in needed) and all(parts[name] for name in _NEEDED_PARTS)
    report: dict[str, Any] = {
        "well": well,
        "folder": str(store.folder),
        "machine": {
            "cores": psutil.cpu_count(logical=False) or os.cpu_count(),
            "memory_mb": round(psutil.virtual_memory().total / 1e6),
            "python": sys.version.split()[0],
        },
        "parts": parts,
        "models": weights,
    }
    if measure and well:
        report["memory"] = _measured()
    report["lines"] = _lines(report)
    return report


def _measured() -> dict[str, Any]:
    """Megabytes resident with everything loaded, and of one idle session, measured in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "firstword.memory"],
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    if done.returncode:
        return {"fault": (done.stderr.strip().splitlines() or ["no reason was given"])[-1]}
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def _split(folder: Any) -> None:
    """Split a Piper voice so that it streams from inside a piece; without the extra there is no voice to split for."""
    if importlib.util.find_spec("onnx") is None:
        return
    from tts import split_voice

    split_voice(folder)


def _row(store: Store, weights: Weights) -> dict[str, Any]:
    return {
        "name": weights.name,
        "what_for": weights.what_for,
        "kind": weights.kind,
        "bytes": weights.bytes,
        "licence": weights.licence,
        "languages": list(weights.languages),
        "default": weights.default,
        "present": store.present(weights.name),
    }


def _bar() -> Progress:
    """Progress on a terminal: bytes, and the rate since it began; a line every 5 s where it is no terminal."""
    began = time.monotonic()
    tty = sys.stdout.isatty()
    last = began

    def show(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if not tty and now - last < 5:
            return
        last = now
        rate = done / max(now - began, 0.001)
        text = f"  {done / 1e6:6.1f} of {total / 1e6:.1f} MB, {rate / 1e6:.1f} MB/s"
        click.echo(f"\r{text}" if tty else text, nl=not tty)

    return show


def _lines(report: dict[str, Any]) -> list[str]:
    machine = report["machine"]
    lines = [f"machine: {machine['cores']} cores, {machine['memory_mb']} MB, Python {machine['python']}"]
    for name, here in report["parts"].items():
        lines.append(
            f"part {name}: {'here' if here else 'missing: pip install firstword[' + name + ']'} ({PARTS[name][1]})"
        )
    for row in report["models"]:
        state = "whole" if row["whole"] else ("; ".join(row["faults"]) if row["present"] else "not here")
        hint = "" if row["whole"] else f": firstword models pull {row['name']}"
        lines.append(f"{row['name']}: {state}{hint}")
    memory = report.get("memory", {})
    if "all_mb" in memory:
        lines.append(f"memory: {memory['all_mb']} MB with everything loaded, {memory['session_mb']} MB an idle session")
    lines.append("all is well" if report["well"] else "something is missing")
    return lines
