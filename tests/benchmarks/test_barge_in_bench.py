"""The plan and the summary of the barge-in benchmark."""

from __future__ import annotations

from benchmarks.barge_in import crossing, onset_heard, summary, table, words_heard
from benchmarks.barge_in_runs import AloneResult, SoundingResult
from benchmarks.barge_in_scenes import DELAYS_S, LEAKS, alone, interruptions, noises


def test_every_leak_meets_every_delay_and_the_minutes_add_up() -> None:
    scenes = alone(1_000)
    assert {(scene.room.gain, scene.room.delay_s) for scene in scenes} == {(g, d) for g in LEAKS for d in DELAYS_S}
    assert round(sum(scene.minutes for scene in scenes)) == 1_000


def test_the_same_scene_is_drawn_in_every_run() -> None:
    assert interruptions(20) == interruptions(40)[:20]
    assert noises(20) == noises(40)[:20]
    kinds = [scene.kind for scene in noises(500)]
    assert kinds.count("backchannel") == 200
    assert len(set(kinds)) == 11


def test_a_fixed_threshold_is_crossed_once() -> None:
    pairs = [(-1.0, 0.1), (0.1, 0.3)]
    assert crossing(pairs, 0.05) == -1.0
    assert crossing(pairs, 0.2) == 0.1
    assert crossing(pairs, 0.4) is None


def test_what_was_heard_is_counted_by_words() -> None:
    assert onset_heard("Wait a moment.", "wait a minute")
    assert not onset_heard("Wait a moment.", "moment")
    assert words_heard("Wait a moment.", "wait a minute") == 2 / 3


def test_the_summary_counts_what_was_measured() -> None:
    done: list[AloneResult | SoundingResult] = [
        AloneResult(0.5, 0.3, minutes=2.0, holds=1, pair_levels=[0.1, 0.4]),
        SoundingResult("loud", "person", "Stop.", interrupted=True, silence_ms=60.0, heard="Stop.",
                       pair_levels=[(0.1, 0.5)]),
        SoundingResult("loud", "person", "Stop."),
        SoundingResult("headphones", "cough", "", holds=1, same_samples=True, pair_levels=[(0.0, 0.3)]),
    ]  # fmt: skip
    result = summary(done)
    assert result["nobody"]["self_interruptions"] == 0
    assert result["interruptions"]["found"] == 0.5
    assert result["interruptions"]["silence_ms"]["p50"] == 60.0
    assert result["noises"] == {
        "n": 1, "held": 1, "answers_lost": 0.0, "resumed_at_same_sample": 1.0,
        "by_kind": {"cough": {"n": 1, "held": 1, "answers_lost": 0.0, "resumed_at_same_sample": 1.0}},
    }  # fmt: skip
    fixed = {row["threshold"]: row for row in result["fixed"]}
    assert fixed[0.25]["self_interruptions"] == 1
    assert fixed[0.25]["answers_lost"] == 1.0
    assert fixed[0.5]["found"] == 0.0
    assert "0 self-interruptions" in table(result)
