"""Who is in front: a person among people, a person alone, steady noise, a microphone opened in the middle of a word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asr.activity import WINDOW
from asr.foreground import Foreground
from sound import Samples

Heard = list[tuple[float, float, int]]  # dBFS, the detector's probability, how many windows


def _window(level_db: float) -> Samples:
    """A window at this level; nought where it is a dead one."""
    return np.full(WINDOW, 10 ** (level_db / 20), dtype=np.float32)


def _hears(*stretches: tuple[float, float, int]) -> list[bool]:
    """For each stretch, whether its last window is in front."""
    foreground = Foreground(likely=0.35)
    said = []
    for level_db, probability, count in stretches:
        for _ in range(count):
            last = foreground.hears(_window(level_db), probability)
        said.append(last)
    return said


DEAD: tuple[float, float, int] = (-1_000.0, 0.0, 120)
BABBLE, PERSON, SILENCE, FAN = (-38.0, 0.9, 30), (-22.0, 0.95, 40), (-90.0, 0.01, 30), (-38.0, 0.02, 30)


@pytest.mark.parametrize(
    ("stretches", "front"),
    [
        pytest.param([BABBLE, PERSON, BABBLE], [False, True, False], id="a person among people"),
        pytest.param([SILENCE, PERSON, SILENCE], [False, True, False], id="a person alone"),
        pytest.param([FAN, PERSON, FAN], [False, True, False], id="a person beside a fan"),
        pytest.param([FAN, (-33.0, 0.8, 20)], [False, True], id="a soft person beside a fan"),
        pytest.param([SILENCE, (-45.0, 0.7, 20)], [False, True], id="a soft person alone"),
        pytest.param([DEAD, PERSON, DEAD], [False, True, False], id="a microphone that was dead"),
        pytest.param([DEAD, (-45.0, 0.7, 20)], [False, True], id="a soft person after a dead microphone"),
        pytest.param(
            [(-38.0, 0.9, 90), DEAD, BABBLE, PERSON], [False, False, False, True], id="people, before and after us"
        ),
        pytest.param([PERSON], [True], id="a microphone opened in the middle of a word"),
        pytest.param([BABBLE, PERSON, (-34.0, 0.9, 4), PERSON], [False, True, True, True], id="a soft syllable"),
        pytest.param([SILENCE, PERSON, (-60.0, 0.01, 60), PERSON], [False, True, False, True], id="two sentences"),
    ],
)
def test_who_is_in_front(stretches: Heard, front: list[bool]) -> None:
    assert _hears(*stretches) == front


def test_people_who_are_there_for_longer_than_anybody_speaks_become_the_background() -> None:
    assert _hears(SILENCE, (-38.0, 0.9, 500), (-22.0, 0.9, 20)) == [False, False, True]


@given(st.lists(st.tuples(st.floats(-120, 6), st.floats(0, 1)), max_size=150))
@settings(max_examples=40)
def test_what_is_no_voice_is_never_in_front_and_any_levels_will_do(windows: list[tuple[float, float]]) -> None:
    foreground = Foreground(likely=0.35)
    for level_db, probability in windows:
        heard = foreground.hears(_window(level_db), probability)
        assert not (heard and probability < 0.35)
        assert foreground.crowded in (True, False)
