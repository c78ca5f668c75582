"""One resampling stream: no seam, no drift, and a change of rate on the way."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st

from sound import Pcm, Resampler, resample


def tone(rate_hz: int, duration_s: float = 0.5, tone_hz: float = 440.0) -> Pcm:
    at = np.arange(round(rate_hz * duration_s)) / rate_hz
    return Pcm((0.5 * np.sin(2 * np.pi * tone_hz * at)).astype(np.float32), rate_hz)


@pytest.mark.parametrize("from_hz", [8_000, 16_000, 22_050, 24_000, 44_100, 48_000])
@pytest.mark.parametrize("to_hz", [16_000, 24_000])
def test_a_tone_stays_that_tone_at_any_rate(from_hz: int, to_hz: int) -> None:
    got = resample(tone(from_hz), to_hz)
    want = tone(to_hz)
    assert got.rate_hz == to_hz
    assert abs(len(got) - len(want)) <= 1
    middle = slice(len(want) // 10, -len(want) // 10)
    count = min(len(got), len(want))
    assert np.abs(got.samples[:count][middle] - want.samples[:count][middle]).max() < 0.01


@given(cuts=st.lists(st.integers(0, 4_800), max_size=10))
@settings(max_examples=30, deadline=None)
def test_a_stream_pushed_in_pieces_has_no_seams(cuts: list[int]) -> None:
    whole = tone(48_000, 0.1)
    edges = [0, *sorted(cuts), len(whole)]
    stream = Resampler(16_000)
    pieces = [stream.push(whole.part(a, b)) for a, b in pairwise(edges)]
    got = Pcm.join([*pieces, stream.flush()])
    at_once = Resampler(16_000)
    want = Pcm.join([at_once.push(whole), at_once.flush()])
    assert len(got) == len(want)
    assert np.abs(got.samples - want.samples).max() < 1e-5


@pytest.mark.parametrize("from_hz", [16_000, 22_050, 24_000, 44_100, 48_000])
@pytest.mark.parametrize("to_hz", [16_000, 24_000])
def test_a_stream_holds_back_no_more_than_a_frame_and_loses_nothing_audible(from_hz: int, to_hz: int) -> None:
    whole, stream = tone(from_hz, 1.0), Resampler(to_hz)
    got: list[Pcm] = []
    for start in range(0, len(whole), from_hz // 50):
        got.append(stream.push(whole.part(start, start + from_hz // 50)))
        put_s = min(len(whole), start + from_hz // 50) / from_hz
        assert put_s - sum(each.duration_s for each in got) < 0.016
    sound = Pcm.join([*got, stream.flush()])
    want = resample(whole, to_hz)
    assert abs(len(sound) - len(want)) <= 1
    middle = slice(to_hz // 4, to_hz // 2)
    late = [np.abs(sound.samples[middle] - np.roll(want.samples, n)[middle]).max() for n in range(-6, 7)]
    assert min(late) < 0.05  # the same tone, up to a few samples and a part of one early or late


def test_sound_of_the_right_rate_passes_untouched() -> None:
    pcm = tone(16_000)
    assert resample(pcm, 16_000).samples.tobytes() == pcm.samples.tobytes()


def test_channels_become_one() -> None:
    both = np.stack([tone(16_000).samples, -tone(16_000).samples], axis=1)
    assert resample(Pcm(both, 16_000, 2), 8_000).peak < 1e-6


def test_the_rate_may_change_on_the_way_and_the_tone_goes_on() -> None:
    stream = Resampler(16_000)
    got = Pcm.join([stream.push(tone(48_000)), stream.push(tone(44_100)), stream.push(tone(16_000)), stream.flush()])
    assert got.rate_hz == 16_000
    assert 0.45 < got.peak < 0.6
    assert got.duration_s == pytest.approx(1.5, abs=0.01)


def test_a_stream_that_was_flushed_may_begin_again() -> None:
    stream = Resampler(16_000)
    first = Pcm.join([stream.push(tone(48_000)), stream.flush()])
    again = Pcm.join([stream.push(tone(48_000)), stream.flush()])
    assert first.samples.tobytes() == again.samples.tobytes()


def test_flushing_nothing_gives_nothing() -> None:
    assert len(Resampler(16_000).flush()) == 0


@pytest.mark.parametrize("from_hz", [24_000, 44_100, 48_000])
def test_silence_that_is_not_filtered_leaves_the_sound_around_it_as_it_was(from_hz: int) -> None:
    random = np.random.default_rng(7)
    size = from_hz // 50
    frames = []
    for stretch, count in enumerate((20, 60, 15, 3, 10, 200, 20)):
        for _ in range(count):
            sound = 0.2 * random.standard_normal(size, dtype=np.float32)
            frames.append(np.zeros(size, dtype=np.float32) if stretch % 2 else sound)
    ours = Resampler(16_000)
    got = [ours.push(Pcm(frame, from_hz)).samples for frame in frames]
    filtered = soxr.ResampleStream(from_hz, 16_000, 1, dtype="float32", quality="HQ", vr=True)
    want = [filtered.resample_chunk(frame) for frame in frames]
    assert [len(part) for part in got] == [len(part) for part in want]
    # The filter counts where it is between two samples with rounding, and does not count through a silence.
    assert np.abs(np.concatenate(got) - np.concatenate(want)).max() < 1e-4
