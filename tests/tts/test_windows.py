import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.windows import Frames, Tensors, part_of, samples_of, windows


@given(length=st.integers(0, 900), first=st.integers(1, 80), largest=st.integers(1, 200))
def test_windows_cover_everything_once_and_grow_to_a_bound(length: int, first: int, largest: int) -> None:
    made = list(windows(length, first, largest))
    assert [at for start, stop in made for at in range(start, stop)] == list(range(length))
    sizes = [stop - start for start, stop in made]
    assert all(size <= max(first, largest) for size in sizes)
    assert all(later >= min(earlier, largest) for earlier, later in itertools.pairwise(sizes[:-1]))


def blur(tensors: Tensors) -> np.ndarray:
    """A part that sees two frames to each side, with silence beyond the edges, as a convolution does."""
    (frames,) = (tensor for tensor in tensors.values() if tensor.ndim == 3)
    padded = np.pad(frames, ((0, 0), (0, 0), (2, 2)))
    return sum(padded[..., at : at + frames.shape[-1]] * (at + 1) for at in range(5))


@given(
    length=st.integers(1, 120), first=st.integers(1, 30), asked=st.lists(st.integers(1, 130), min_size=1, max_size=12)
)
def test_frames_made_bit_by_bit_are_the_frames_of_the_whole(length: int, first: int, asked: list[int]) -> None:
    whole = np.arange(length, dtype=np.float64)[None, None]
    frames = Frames(blur, {"z": whole}, length, reach=2)
    for stop in asked:
        made = frames.upto(stop)
        assert np.array_equal(made, blur({"z": whole})[..., : min(stop, length)])
    samples = np.concatenate(
        list(
            samples_of(
                lambda tensors: np.repeat(blur(tensors), 3, axis=-1),
                Frames(blur, {"z": whole}, length, reach=2).upto,
                {},
                "z",
                length,
                hop=3,
                overlap=2,
                first=first,
                largest=50,
            )
        )
    )
    assert np.array_equal(samples, np.repeat(blur({"z": blur({"z": whole})}), 3, axis=-1).ravel())


def test_what_has_no_frames_stays_whole() -> None:
    speaker = np.ones((1, 512, 1))
    part = part_of({"z": np.zeros((1, 2, 40)), "speaker": speaker}, 10, 20, 40)
    assert part["z"].shape == (1, 2, 10)
    assert part["speaker"] is speaker


@pytest.mark.parametrize("first", [0, -3])
def test_a_first_window_of_nothing_is_one_frame(first: int) -> None:
    assert next(windows(10, first, 100)) == (0, 1)
