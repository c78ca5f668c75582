"""Frames in windows: which come next, and what a part of the graph has to see for them.

Pure; it runs no graph itself, it is handed one. The one rule: what is given does not depend on the windows in which it
was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from sound import Samples

Tensors = Mapping[str, np.ndarray]


def windows(length: int, first: int, largest: int) -> Iterator[tuple[int, int]]:
    """Stretches of `length` frames in order: `first` frames, then each twice the one before, up to `largest`."""
    at, size = 0, max(1, first)
    while at < length:
        stop = min(length, at + size)
        yield at, stop
        at, size = stop, min(largest, size * 2)


def part_of(tensors: Tensors, start: int, stop: int, length: int) -> dict[str, np.ndarray]:
    """The frames `start` to `stop` of each tensor that has `length` frames; what has none (a speaker) stays whole."""
    return {
        name: tensor[..., start:stop] if tensor.ndim > 1 and tensor.shape[-1] == length else tensor
        for name, tensor in tensors.items()
    }


class Frames:
    """A part from frames to frames, run only as far as somebody asks.

    `run` is given tensors of equal length and gives as many frames, each of which sees `reach` frames to either side.
    At least `least` frames are made at a time.
    """

    def __init__(
        self, run: Callable[[Tensors], np.ndarray], tensors: Tensors, length: int, reach: int, *, least: int = 1
    ) -> None:
        self._run = run
        self._tensors = tensors
        self._length = length
        self._reach = reach
        self._least = least
        self._made: list[np.ndarray] = []
        self._have = 0

    def upto(self, stop: int) -> np.ndarray:
        """The frames from 0 to `stop`, of shape `(1, channels, stop)`."""
        asked = min(stop, self._length)
        if self._have < asked:
            stop = min(self._length, max(asked, self._have + self._least))
            left, right = max(0, self._have - self._reach), min(self._length, stop + self._reach)
            made = self._run(part_of(self._tensors, left, right, self._length))
            self._made.append(made[..., self._have - left : stop - left])
            self._have = stop
            if len(self._made) > 1:
                self._made = [np.concatenate(self._made, axis=-1)]
        return self._made[0][..., :asked]


def samples_of(
    run: Callable[[Tensors], np.ndarray],
    frames: Callable[[int], np.ndarray],
    others: Tensors,
    name: str,
    length: int,
    *,
    hop: int,
    overlap: int,
    first: int,
    largest: int,
) -> Iterator[Samples]:
    """The samples of `length` frames, `hop` a frame, a window at a time.

    `frames(n)` gives the first `n` frames or more; `run` makes samples of the tensor `name` and of `others`, and sees
    `overlap` frames to either side.
    """
    for start, stop in windows(length, first, largest):
        left, right = max(0, start - overlap), min(length, stop + overlap)
        seen = frames(right)[..., left:right]
        samples = run({**part_of(others, left, right, length), name: seen}).ravel()
        yield samples[(start - left) * hop : (stop - left) * hop]
