"""The catalog: which local weights there are. It reads `catalog.toml` into values; it fetches and opens nothing.

The one rule: nothing is fetched that has no sum here.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.errors import CatalogRefused

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Part:
    """A file inside a package's wheel."""

    package: str
    inside: str


@dataclass(frozen=True, slots=True)
class File:
    """One file of the weights: where it goes, its size in bytes, its sum, and the parts that are joined for it."""

    to: str
    bytes: int
    sha256: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Hub:
    """A hub repository that holds the same files, as (ours, theirs)."""

    repository: str
    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """One entry. `packages` are (name, version); `languages` is empty where it knows any."""

    name: str
    what_for: str
    kind: str
    licence: str
    languages: tuple[str, ...]
    default: bool
    packages: tuple[tuple[str, str], ...]
    download_bytes: int
    files: tuple[File, ...]
    hub: Hub | None

    @property
    def bytes(self) -> int:
        """Bytes on disk."""
        return sum(file.bytes for file in self.files)


class Catalog:
    """All entries, by name. Raises `CatalogRefused` naming the entry and what is wrong with it."""

    def __init__(self, path: Path = Path(__file__).parent / "catalog.toml") -> None:
        try:
            entries = tomllib.loads(path.read_text("utf-8"))
        except (OSError, tomllib.TOMLDecodeError) as fault:
            raise CatalogRefused(f"{path} cannot be read: {fault}") from fault
        self._weights: dict[str, Weights] = {}
        for name, entry in entries.items():
            try:
                self._weights[name] = _weights(name, entry)
            except (KeyError, TypeError, ValueError, AttributeError) as fault:
                raise CatalogRefused(f"{path}: the entry [{name}] is not whole: {fault!r}") from fault

    def __iter__(self) -> Iterator[Weights]:
        return iter(self._weights.values())

    def __getitem__(self, name: str) -> Weights:
        if name not in self._weights:
            close = difflib.get_close_matches(name, self._weights, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(self._weights)}"
            raise CatalogRefused(f"there are no weights named {name!r}; {hint}")
        return self._weights[name]


def _weights(name: str, entry: dict[str, Any]) -> Weights:
    files = tuple(_file(row) for row in entry["files"])
    packages = tuple((package, str(version)) for package, version in entry["packages"].items())
    unknown = {part.package for file in files for part in file.parts} - {package for package, _ in packages}
    if unknown or not files:
        raise ValueError(f"files from packages that are not listed: {sorted(unknown)}" if unknown else "no files")
    hub = entry.get("hub")
    if hub and set(hub["files"]) != {file.to for file in files}:
        raise ValueError("the hub's files are not the same files")
    return Weights(
        name=name,
        what_for=entry["what_for"],
        kind=entry["kind"],
        licence=entry["licence"],
        languages=tuple(entry["languages"]),
        default=bool(entry["default"]),
        packages=packages,
        download_bytes=int(entry["download_bytes"]),
        files=files,
        hub=Hub(hub["repository"], tuple(hub["files"].items())) if hub else None,
    )


def _file(row: dict[str, Any]) -> File:
    if not _SHA256.fullmatch(row["sha256"]):
        raise ValueError(f"{row['to']} has no sha256")
    if Path(row["to"]).name != row["to"]:
        raise ValueError(f"{row['to']} is no plain file name")
    parts = tuple(Part(*place.split(":", 1)) for place in row["from"])
    if not parts:
        raise ValueError(f"{row['to']} comes from nowhere")
    return File(row["to"], int(row["bytes"]), row["sha256"], parts)
