"""The plan and the summary of the barge-in benchmark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import barge_in_pool
from benchmarks.barge_in import _BESIDE, crossing, failed, onset_heard, summary, table, words_heard
from benchmarks.barge_in_pool import Task, run_all
from benchmarks.barge_in_runs import AloneResult, Canceller, SoundingResult
from benchmarks.barge_in_scenes import (
    ANSWERS,
    DELAYS_S,
    GREETING,
    LEAKS,
    Alone,
    Room,
    Sounding,
    alone,
    interruptions,
    noises,
)
from benchmarks.barge_in_speech import Prepared, speak
from firstword.settings import load_settings


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


def test_the_scenes_that_are_run_again_with_the_other_canceller_are_of_every_kind() -> None:
    again = [*alone(1_000), *interruptions(500), *noises(500)][::_BESIDE]
    sounds = [scene for scene in again if isinstance(scene, Sounding)]
    assert len({scene.room.delay_s for scene in again if isinstance(scene, Alone)}) >= 5
    assert len({scene.kind for scene in sounds}) >= 10
    assert len({scene.text for scene in sounds if scene.kind == "person"}) == 12


def test_what_was_taken_for_what_it_is_not_is_told_with_its_scene() -> None:
    scenes = [*alone(1_000)[:1], *interruptions(2), *noises(1)]
    done = [
        AloneResult(0.0, 0.0),
        SoundingResult(scenes[1].room.setting, "person", "Stop.", interrupted=True),
        SoundingResult(scenes[2].room.setting, "person", "Wait a moment.", holds=1, heard="white"),
        SoundingResult(scenes[3].room.setting, scenes[3].kind, "", interrupted=True),
    ]
    told = failed(scenes, done)
    assert [(one["kind"], one["seed"]) for one in told] == [
        ("person", scenes[2].room.seed), (scenes[3].kind, scenes[3].room.seed),
    ]  # fmt: skip
    assert told[0]["heard"] == "white"


def test_each_scene_is_heard_through_the_canceller_it_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    # Which one it was cannot be told by what came of it: both may stop an answer at the same sample.
    through: list[str] = []

    def run(_scene: object, _world: object, *, canceller: Canceller | None) -> AloneResult:
        through.append("ours" if canceller is None else type(canceller()).__name__)
        return AloneResult(0.0, 0.0)

    monkeypatch.setattr(barge_in_pool, "run", run)
    monkeypatch.setattr(barge_in_pool, "world", lambda *_given: None)
    monkeypatch.setattr(barge_in_pool, "recogniser_for", lambda _settings: None)
    (scene,) = alone(1_000)[:1]
    tasks = [Task(scene), Task(scene, webrtc=True), Task(scene)]
    list(run_all(load_settings(single_user=True), tasks, lambda: Prepared({}, 22_050, {}, {}), jobs=1))
    assert through == ["ours", "WebrtcCanceller", "ours"]


@pytest.mark.models
@pytest.mark.timeout(300)
def test_two_processes_run_scenes_with_either_canceller_and_give_them_back_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings(single_user=True, data=tmp_path)
    room = Room("loudspeaker", 0.4, 0.1, 0.15, 0.001, 7)
    person = Sounding(room, "person", "No, that is not what I meant.", 1, 0.7, 0, 2.5, first=False)
    door = replace(person, kind="door", text="")
    tasks = [Task(person), Task(door), Task(person, webrtc=True)]
    answers = (GREETING, ANSWERS[0])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = list(run_all(settings, tasks, lambda: speak(settings, (person.text,), answers), jobs=2))
    sounds = [one for one in done if isinstance(one, SoundingResult)]
    assert [one.kind for one in sounds] == ["person", "door", "person"]
    assert [one.interrupted for one in sounds[:2]] == [True, False]
    assert sounds[2].holds >= 1
    # What was spoken once is the same the next time.
    (kept,) = (tmp_path / "firstword" / "barge-in").iterdir()
    before = kept.stat().st_mtime_ns
    again, once_more = (speak(settings, (person.text,), answers) for _ in range(2))
    assert kept.stat().st_mtime_ns == before
    assert set(again.streams) == set(answers)
    assert np.array_equal(again.speech[person.text, 1, 0], once_more.speech[person.text, 1, 0])
