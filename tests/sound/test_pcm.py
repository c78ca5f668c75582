"""PCM as a value: what is refused, what is kept, and bytes cut anywhere."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sound
from sound import FrameReader, Pcm, SoundError, keep_in_range


def test_the_public_names_are_these() -> None:
    assert sound.__all__ == [
        "AUDIBLE",
        "FrameReader",
        "NotSound",
        "Pcm",
        "Resampler",
        "Samples",
        "SoundError",
        "keep_in_range",
        "read_recording",
        "resample",
        "write_wav",
    ]


@pytest.mark.parametrize(
    ("samples", "rate_hz", "channels", "said"),
    [
        pytest.param(np.zeros(4), 0, 1, "0 Hz", id="no-rate"),
        pytest.param(np.zeros(4), 999, 1, "999 Hz", id="rate-too-low"),
        pytest.param(np.zeros(4), 192_001, 1, "192001 Hz", id="rate-too-high"),
        pytest.param(np.zeros(4), 16_000, 0, "0 channels", id="no-channels"),
        pytest.param(np.zeros((4, 2)), 16_000, 1, "shape", id="stereo-as-mono"),
        pytest.param(np.zeros(4), 16_000, 2, "shape", id="mono-as-stereo"),
        pytest.param(np.float32(1), 16_000, 1, "shape", id="a-number"),
    ],
)
def test_what_is_no_sound_is_refused(samples: np.ndarray, rate_hz: int, channels: int, said: str) -> None:
    with pytest.raises(SoundError, match=said):
        Pcm(samples, rate_hz, channels)


def test_samples_cannot_be_changed_once_made_and_the_givers_array_stays_writable() -> None:
    given_samples = np.zeros(4, dtype=np.float32)
    pcm = Pcm(given_samples, 16_000)
    with pytest.raises(ValueError, match="read-only"):
        pcm.samples[0] = 1
    given_samples[0] = 1


def test_a_part_is_sound_like_what_it_is_a_part_of() -> None:
    whole = Pcm(np.arange(12, dtype=np.float32).reshape(6, 2) / 12, 16_000, 2)
    part = whole.part(2, 4)
    assert (part.rate_hz, part.channels, len(part)) == (16_000, 2, 2)
    assert np.shares_memory(part.samples, whole.samples)
    with pytest.raises(ValueError, match="read-only"):
        part.samples[0] = 1


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_counts_as_silence(odd: float) -> None:
    assert Pcm(np.array([0.5, odd], dtype=np.float32), 16_000).samples.tolist() == [0.5, 0.0]


def test_measures_of_a_stretch() -> None:
    pcm = Pcm(np.array([0.5, -1.0, 0.5, 0.0], dtype=np.float32), 1_000)
    assert (pcm.duration_s, pcm.peak, len(pcm)) == (0.004, 1.0, 4)
    assert pcm.rms == pytest.approx(np.sqrt(1.5 / 4))


def test_nothing_has_no_peak_and_no_loudness() -> None:
    empty = Pcm.silence(0, 16_000)
    assert (len(empty), empty.peak, empty.rms, empty.to_s16le()) == (0, 0.0, 0.0, b"")


def test_mono_is_the_mean_of_the_channels() -> None:
    assert Pcm(np.array([[1.0, 0.0], [0.5, -0.5]]), 8_000, 2).mono().samples.tolist() == [0.5, 0.0]


@given(st.lists(st.integers(-32768, 32767), max_size=50))
@settings(max_examples=50)
def test_sixteen_bit_samples_survive_a_round_trip(values: list[int]) -> None:
    data = np.array(values, dtype="<i2").tobytes()
    assert Pcm.from_s16le(data, 24_000).to_s16le() == data


def test_what_is_out_of_range_is_clipped_and_does_not_wrap() -> None:
    loud = Pcm(np.array([2.0, -2.0, 1.0], dtype=np.float32), 16_000)
    assert np.frombuffer(loud.to_s16le(), dtype="<i2").tolist() == [32767, -32768, 32767]


@pytest.mark.parametrize(
    ("samples", "bounds", "kept"),
    [
        pytest.param([2.0, -2.0, 1.0, -1.0, 0.5], (-1.0, 1.0), [1.0, -1.0, 1.0, -1.0, 0.5], id="the range of sound"),
        pytest.param([32768.0, -32769.0, 3.0], (-32768, 32767), [32767.0, -32768.0, 3.0], id="the range of 16 bits"),
        pytest.param([], (-1.0, 1.0), [], id="nothing"),
    ],
)
def test_samples_are_kept_in_a_range_where_they_are(
    samples: list[float], bounds: tuple[float, float], kept: list[float]
) -> None:
    held = np.array(samples, dtype=np.float32)
    assert keep_in_range(held, *bounds) is held
    assert held.tolist() == kept


def test_half_a_frame_is_refused_outside_a_stream() -> None:
    with pytest.raises(SoundError, match="3 bytes are not whole frames of 2"):
        Pcm.from_s16le(b"abc", 16_000)


@given(data=st.binary(max_size=120), cuts=st.lists(st.integers(0, 120), max_size=8), channels=st.integers(1, 2))
@settings(max_examples=100)
def test_a_stream_cut_anywhere_gives_the_same_samples(data: bytes, cuts: list[int], channels: int) -> None:
    reader = FrameReader(16_000, channels)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    got = b"".join(reader.push(data[a:b]).to_s16le() for a, b in pairwise(edges))
    assert got == data[: len(data) - len(data) % (2 * channels)]


def test_stretches_are_joined_and_cut() -> None:
    whole = Pcm.join([Pcm.silence(0.001, 8_000), Pcm(np.ones(2), 8_000)])
    assert whole.samples.tolist() == [0.0] * 8 + [1.0, 1.0]
    assert whole.part(8).samples.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        pytest.param([], "at least one", id="nothing"),
        pytest.param([Pcm.silence(1, 8_000), Pcm.silence(1, 16_000)], "resample first", id="two-rates"),
        pytest.param([Pcm.silence(1, 8_000), Pcm(np.zeros((1, 2)), 8_000, 2)], "resample first", id="two-shapes"),
    ],
)
def test_what_does_not_fit_together_is_not_joined(parts: list[Pcm], said: str) -> None:
    with pytest.raises(SoundError, match=said):
        Pcm.join(parts)


@pytest.mark.parametrize(
    ("samples", "first"),
    [
        pytest.param([0.0, 0.005, 0.004], None, id="at the bound is not over it"),
        pytest.param([0.0, -0.006, 0.5], 1, id="either way from the centre"),
        pytest.param([], None, id="nothing"),
        pytest.param([[0.0, 0.0], [0.0, 0.1]], 1, id="either channel"),
    ],
)
def test_the_first_audible_frame_is_over_the_bound(samples: list[object], first: int | None) -> None:
    held = np.array(samples, dtype=np.float32)
    assert Pcm(held, 16_000, held.shape[1] if held.ndim == 2 else 1).first_audible == first
