"""`firstword bench load`: what is made of the turns, and the whole of it in its smallest form."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.load import LANES, measure, summary, table, verdict
from firstword.played import Played
from firstword.settings import load_settings
from firstword.talk import Turn
from sound import Pcm


def turn(first_word_ms: float | None, *, underruns: int = 0, late_ms: float = 0.0) -> Turn:
    sound = None if first_word_ms is None else 10.0 + first_word_ms / 1000
    return Turn(1.0, 10.0, first_sound_at=sound, trace={"underruns": underruns}, late_ms=late_ms)


def test_an_underrun_is_what_the_server_says_or_what_somebody_heard() -> None:
    told = summary(2, [turn(300.0), turn(400.0, underruns=2), turn(500.0, late_ms=41.0), turn(None, late_ms=39.0)])
    assert (told["underruns"], told["unanswered"], told["first_word_ms"]["p50"]) == (2, 1, 400.0)


def test_the_goal_is_against_one_alone() -> None:
    rows = [summary(people, [turn(300.0 + 20 * people)]) for people in (1, 8)]
    rows.append(summary(12, [turn(900.0, underruns=1)]))
    told = verdict(rows)
    assert told["most_without_underrun"] == 8
    assert told["at_goal"]["conversations"] == 8
    assert told["at_goal"]["p95_ratio"] == round(460 / 320, 3)


def test_sound_is_late_by_as_long_as_nothing_played() -> None:
    played = Played(1_000)
    piece = Pcm.silence(0.1, 1_000)
    assert [round(played.push(piece, at), 3) for at in (5.0, 5.05, 5.3)] == [0.0, 0.0, 0.1]
    played.hold(5.35)
    assert played.push(piece, 9.0) == 0.0


@pytest.mark.models
@pytest.mark.timeout(180)
def test_a_quick_run_has_the_shape_of_a_result() -> None:
    told = asyncio.run(
        measure(load_settings(single_user=True), repeats=1, quick=True, orders=LANES[1:], told=lambda _line: None)
    )
    for found in told["lanes"].values():
        (row,) = found["steps"]
        assert (row["conversations"], row["turns"]) == (1, 1)
        assert row["server_cores"] > 0
    assert "by arrival" in table(told)
