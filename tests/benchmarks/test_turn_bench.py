"""`firstword bench turn`: what is asked, what is made of the turns, and the whole of it in its smallest form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.questions import QUESTIONS, Question, record
from benchmarks.turn import OURS, measure, ratios, summary, table
from firstword.settings import load_settings
from firstword.talk import Turn
from firstword.voices import engine_for


def turn(first_word_ms: float | None, *, over: bool = False, early: bool = False) -> Turn:
    sound = None if first_word_ms is None else 10.0 + first_word_ms / 1000
    return Turn(
        speech_end_s=1.0,
        speech_end_at=10.0,
        first_sound_at=sound,
        talked_over=over,
        committed_early=early,
        trace={"eot_wait_ms": 240.0, "words_ms": 80.0, "first_token_ms": 9.0, "first_sound_ms": 50.0},
    )


def test_a_turn_that_was_talked_over_is_not_counted_among_those_that_went_on_unheard() -> None:
    told = summary([turn(300.0), turn(400.0, early=True), turn(500.0, early=True, over=True), turn(None)])
    assert (told["turns"], told["answered"], told["talked_over"], told["reopened"]) == (4, 3, 1, 1)
    assert told["first_word_ms"]["p50"] == 400.0
    assert told["parts"]["words_ms"]["n"] == 3


def test_the_ratio_is_ours_over_theirs_and_none_where_nobody_was_answered() -> None:
    turns = {OURS: [turn(300.0)], "without window": [turn(600.0)], "without streaming": [turn(None)]}
    assert ratios(turns) == {"without window": 0.5, "without streaming": None}


def test_of_twenty_questions_eight_have_a_pause_of_300_to_900_ms() -> None:
    pauses = [question.pause_ms for question in QUESTIONS if question.pause_ms]
    assert (len(QUESTIONS), len(pauses), min(pauses), max(pauses)) == (20, 8, 300, 900)
    assert all(0 < question.words < len(question.text.split()) for question in QUESTIONS if question.pause_ms)


@pytest.mark.models
def test_a_pause_is_as_long_as_it_says_and_lies_inside_the_speech() -> None:
    engine = engine_for(load_settings())
    (spoken,) = record(engine, [Question("Tell me about the voice.", 700, 3)])
    step = spoken.pcm.rate_hz // 100
    blocks = spoken.pcm.samples[: len(spoken.pcm) // step * step].reshape(-1, step)
    loud = np.flatnonzero(np.sqrt(np.square(blocks, dtype=np.float64).mean(axis=1)) > 0.005)
    assert max(np.diff(loud)) >= 70


@pytest.mark.models
@pytest.mark.timeout(180)
async def test_the_whole_of_it_in_its_smallest_form_has_parts_and_a_ratio() -> None:
    questions = [Question("Can you hear me?")]
    settings = load_settings(single_user=True)
    told = await measure(
        settings, bot="guide", brains=["script"], without=["speculation"], waits=(), questions=questions
    )
    ways = told["brains"]["script"]["ways"]
    assert set(ways) == {OURS, "without speculation"}
    assert all(way["answered"] == 1 for way in ways.values())
    assert all(value is not None for way in ways.values() for value in (p["p50"] for p in way["parts"].values()))
    assert math.isfinite(told["brains"]["script"]["ratios"]["without speculation"])
    assert "ours over" in table(told)
