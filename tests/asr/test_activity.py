"""Who is speaking: what opens the gate, what costs nothing, what stays linear."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from asr_kit import RATE_HZ, noise, quiet
from hypothesis import given, settings
from hypothesis import strategies as st

from asr import Activity, EngineRefused, Silero
from asr.activity import WINDOW
from sound import Samples

pytestmark = pytest.mark.models


class Counting(Silero):
    """The real detector, counted."""

    calls = 0

    def judge(self, window: Samples, h: Samples, c: Samples) -> tuple[float, Samples, Samples]:
        self.calls += 1
        return super().judge(window, h, c)


def _speech(activity: Activity, samples: Samples) -> list[bool]:
    return [tick.speech for tick in activity.push(samples)]


def test_speech_is_found_where_it_is(silero: Silero, say: Callable[[str], Samples]) -> None:
    word = say("What is the capital of France?")
    ticks = list(Activity(silero).push(np.concatenate([quiet(1.0), word, quiet(1.0)])))
    spoken = [tick for tick in ticks if tick.speech]
    assert 0.95 <= spoken[0].onset / RATE_HZ <= 1.15
    assert abs(spoken[-1].stop / RATE_HZ - 1.0 - len(word) / RATE_HZ) < 0.3


def test_silence_costs_no_call_of_the_model() -> None:
    counting = Counting()
    assert not any(_speech(Activity(counting), quiet(60)))
    assert counting.calls == 0


def test_time_is_linear_and_memory_constant_over_ten_minutes(say: Callable[[str], Samples]) -> None:
    """L6: the work of a minute is the same in the first and in the tenth."""
    counting = Counting()
    activity = Activity(counting)
    minute = np.concatenate([say("I would like to go."), noise(60, 0.01)])[: 60 * RATE_HZ]
    work = []
    for _ in range(10):
        before = counting.calls
        ticks = 0
        for at in range(0, len(minute), 320):
            ticks += sum(1 for _ in activity.push(minute[at : at + 320]))
        work.append(counting.calls - before)
        assert abs(ticks - len(minute) / WINDOW) <= 1
    assert max(work[1:]) - min(work[1:]) <= 40


@given(st.lists(st.integers(0, 3_000), max_size=20))
@settings(max_examples=20, deadline=None)
def test_every_sample_is_judged_once_however_it_is_cut(silero: Silero, sizes: list[int]) -> None:
    activity = Activity(silero)
    ticks = [tick for size in sizes for tick in activity.push(noise(size / RATE_HZ, 0.05))]
    assert [tick.start for tick in ticks] == [n * WINDOW for n in range(sum(sizes) // WINDOW)]
    assert all(tick.stop - tick.start == WINDOW for tick in ticks)


@pytest.mark.parametrize(
    "data", [pytest.param(b"\0" * 100, id="M5-short"), pytest.param(b"\0" * 200_000, id="M5-long"), None]
)
def test_a_file_that_is_no_model_is_refused_in_words(tmp_path: Path, data: bytes | None) -> None:
    path = tmp_path / "voice.onnx"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(EngineRefused, match=r"voice\.onnx cannot be loaded"):
        Silero(path)
