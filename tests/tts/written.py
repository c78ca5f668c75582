"""Cases that are written down as lines of text, in files beside the tests."""

from collections.abc import Iterator
from pathlib import Path


def written(name: str) -> Iterator[str]:
    """The lines of `<name>.txt` and of `<name>-more.txt`."""
    for file in (f"{name}.txt", f"{name}-more.txt"):
        yield from Path(__file__).with_name(file).read_text("utf-8").splitlines()
