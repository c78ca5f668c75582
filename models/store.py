"""The store: the folder that holds the weights. It looks; fetching is `pull.py`'s.

The one rule: a name's folder holds every file at its full size, or the name counts as missing.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from models.catalog import Catalog, File, Weights
from models.errors import WeightsMissing

_BLOCK_BYTES = 1 << 20


def default_folder() -> Path:
    """Where weights are kept unless somebody says otherwise."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "firstword" / "models"


class Store:
    """The weights under `folder`, as `catalog` names them."""

    def __init__(self, folder: Path, catalog: Catalog | None = None) -> None:
        self.folder = folder
        self.catalog = catalog or Catalog()

    def path(self, name: str) -> Path:
        """The folder of `name`. Raises `WeightsMissing` with the command to run, `CatalogRefused` for no such name."""
        weights = self.catalog[name]
        folder = self.folder / name
        what = f"the weights {name} ({weights.what_for}, {weights.bytes / 1e6:.0f} MB)"
        sizes = {file: _size(folder / file.to) for file in weights.files}
        if None in sizes.values():
            raise WeightsMissing(f"{what} are not in {self.folder}; fetch them: firstword models pull {name}")
        for file, size in sizes.items():
            if size != file.bytes:
                raise WeightsMissing(
                    f"{what} are damaged: {folder / file.to} has {size} bytes, not {file.bytes}; "
                    f"fetch them again: firstword models pull {name}"
                )
        return folder

    def present(self, name: str) -> bool:
        """Whether every file is here at its full size. Reads no file, so it may be asked often."""
        return all(_size(self.folder / name / file.to) == file.bytes for file in self.catalog[name].files)

    def faults(self, weights: Weights) -> list[str]:
        """What is wrong with the files of `weights`, checked against their sums; reads every byte."""
        found = []
        for file in weights.files:
            path = self.folder / weights.name / file.to
            if _size(path) is None:
                found.append(f"{file.to} is missing")
            elif not is_whole(path, file):
                found.append(f"{file.to} is not what the catalog promises")
        return found


def is_whole(path: Path, file: File) -> bool:
    """Whether `path` has the size and the sum of `file`."""
    return _size(path) == file.bytes and sha256(path) == file.sha256


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None
