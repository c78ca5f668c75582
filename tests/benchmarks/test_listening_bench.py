"""The listening benchmark: what it makes of what was heard; and that it runs."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr import Judged, Judgement, SpeechEnded, SpeechPaused, SpeechStarted, Words
from asr.endpoint import WAIT_MS
from benchmarks.curve import Pause, by_verdict, curve, outcome, pauses
from benchmarks.listen import Turned, figures, measure, summary, table, turned
from benchmarks.rooms import among_people, babble, impulse_response, in_a_room
from benchmarks.utterances import RATE_HZ, Utterance, lines, parts_of, spoken
from benchmarks.window import measure as measure_window
from benchmarks.window import summary as window_summary
from benchmarks.window import table as window_table
from benchmarks.word_errors import word_errors
from firstword.settings import load_settings
from sound import Pcm


def test_each_set_has_forty_lines_and_no_line_is_in_both() -> None:
    exam, practice = lines("exam"), lines("practice")
    assert len(set(exam)) == len(set(practice)) == 40
    assert not set(exam) & set(practice)
    pauses_ms = [pause for line in exam for pause in parts_of(line)[1]]
    assert min(pauses_ms) == 300
    assert max(pauses_ms) == 900


def test_a_line_ends_where_its_last_sound_does_and_keeps_its_pause() -> None:
    def speak(_text: str) -> Pcm:
        sound = np.concatenate([np.zeros(400), np.full(8_000, 0.1), np.zeros(800)])
        return Pcm(sound.astype(np.float32), RATE_HZ)

    line = spoken("I want |600| tea.", speak)
    assert line.text == "I want tea."
    assert line.pauses_ms == (600,)
    heard = np.flatnonzero(line.samples)
    assert heard[-1] + 1 == line.end
    assert np.diff(heard).max() == round(0.6 * RATE_HZ) + 1


@pytest.mark.parametrize(
    ("heard", "said", "errors"),
    [
        ("I want tea.", "I want tea.", 0),
        ("i want, tea", "I want tea.", 0),
        ("I want 2 teas", "I want two teas.", 0),
        ("I want", "I want tea.", 1),
        ("I want some green tea", "I want tea.", 2),
        ("", "I want tea.", 3),
        ("My number has changed", "My number has, um, changed.", 0),
        ("It’s late", "It's late.", 0),
    ],
)
def test_word_errors_count_words_and_nothing_else(heard: str, said: str, errors: int) -> None:
    assert word_errors(heard, said) == (errors, len([w for w in said.split() if w != "um,"]))


@given(st.text("ab ", max_size=12), st.text("ab ", max_size=12))
def test_no_more_words_are_wrong_than_there_are(heard: str, said: str) -> None:
    errors, words = word_errors(heard, said)
    assert abs(len(heard.split()) - words) <= errors <= max(len(heard.split()), words)


def test_rooms_leave_the_speech_where_it_is() -> None:
    speech = np.zeros(RATE_HZ, dtype=np.float32)
    speech[4_000:8_000] = 0.2
    noise = babble([speech, np.roll(speech, 3_000)], RATE_HZ, seed=1)
    assert np.sqrt(np.mean(np.square(noise))) == pytest.approx(1.0, abs=1e-3)
    among = among_people(speech, noise)
    level = 20 * np.log10(0.2 / np.sqrt(np.mean(np.square(among - speech))))
    assert level == pytest.approx(15.0, abs=0.1)
    room = in_a_room(speech, impulse_response(RATE_HZ))
    assert len(room) == len(speech)
    assert np.abs(room[:4_000]).max() < 1e-6
    assert np.abs(room[8_100:9_000]).max() > 0.001


LINE = Utterance("I want tea.", np.zeros(3 * RATE_HZ, dtype=np.float32), 2 * RATE_HZ, (600,))
FIRST = [
    (0.6, SpeechStarted(1, 1, 0.5)),
    (1.1, SpeechPaused(1, 1, 1.0)),
    (1.2, Words("final", 1, 1, "I want", "en", 1.0, recognise_ms=80.0)),
    (1.25, Judged(1, 1, "unsure", "words")),
]
CUT = [(1.3, SpeechEnded(1, 1, 1.0, "complete", 224.0))]
LAST = [
    (1.7, SpeechStarted(1, 2, 1.6)),
    (2.1, SpeechPaused(1, 2, 2.0)),
    (2.2, Words("final", 1, 2, "tea.", "en", 2.0, verdict="complete", recognise_ms=90.0)),
    (2.25, Judged(1, 2, "complete", "both")),
    (2.3, SpeechEnded(1, 2, 2.0, "complete", 224.0)),
]


def test_an_end_before_the_last_speech_is_a_cut_off_and_its_words_count() -> None:
    whole, cut = turned(LINE, [*FIRST, *LAST], 2.0), turned(LINE, [*FIRST, *CUT, *LAST], 2.0)
    assert (whole.heard, whole.cut_off) == ("tea.", False)
    assert (cut.heard, cut.cut_off) == ("I want tea.", True)
    assert (cut.words_ms, cut.end_ms, cut.call_ms) == (pytest.approx(200), pytest.approx(300), 90.0)
    never = turned(LINE, FIRST, 2.0)
    assert (never.words_ms, never.end_ms) == (None, None)


def test_pauses_are_tried_on_any_waits() -> None:
    found = pauses([event for _, event in [*FIRST, *LAST]], 2.0)
    assert [(p.silence_ms, p.judgement.verdict) for p in found] == [(pytest.approx(600), "unsure"), (None, "complete")]
    assert outcome(found, by_verdict({**WAIT_MS, "unsure": 576.0})) == (True, 224.0)
    assert outcome(found, by_verdict({**WAIT_MS, "unsure": 608.0})) == (False, 224.0)
    by_words = Judgement("complete", "words")
    assert outcome([Pause(None, by_words, 36.0, 1.5)], by_verdict(WAIT_MS)) == (False, 36.0 + 352.0)
    rows = curve([found, found])
    assert {row["cut_off"] for row in rows} == {0.0, 100.0}


def test_the_curve_begins_with_the_waits_that_the_sound_grades() -> None:
    sure, doubted = Judgement("complete", "both", 0.9), Judgement("unsure", "sound", 0.4)
    gone_on = [Pause(260.0, sure), Pause(None, sure)], [Pause(260.0, doubted), Pause(None, sure)]
    ours = curve(gone_on)[0]
    assert (ours["cut_off"], ours["wait_ms"]["p50"]) == (50.0, 224.0)


def test_figures_are_shares_and_ratios_inside_the_run() -> None:
    ours = [Turned("I want tea.", "I want tea", 200.0, 250.0, 80.0, False)] * 3
    ours += [Turned("I want tea.", "I want", None, None, 0.0, True)]
    plain = [Turned("I want tea.", "I want tea", 900.0, 900.0, 400.0, False)] * 4
    told = figures(ours)
    assert (told["word_errors"], told["cut_off"], told["late"]) == (8.33, 25.0, 25.0)
    goal = summary({"ours": {"clean": ours}, "stock": {"clean": plain}})["goal"]
    assert goal == {"words_ratio": 0.222, "end_ratio": 0.278, "call_ratio": 0.2, "word_errors_more": 8.33}


@pytest.mark.models
def test_it_runs_and_its_parts_are_there() -> None:
    told = asyncio.run(measure(load_settings(single_user=True), quick=True))
    assert told["bench"] == "listen"
    assert told["machine"]["cores"]
    for way in ("ours", "stock"):
        row = told["ways"][way]["all"]
        assert row["utterances"] == told["utterances"] == 2
        assert row["words_ms"]["n"] >= 1
    assert told["ways"]["ours"]["all"]["words_ms"]["p50"] <= told["ways"]["ours"]["all"]["end_ms"]["p50"]
    assert told["curve"]
    assert told["upkeep"]["idle_core_percent"] >= 0
    assert "cut off %" in table(told)


def test_a_window_has_its_time_and_its_words() -> None:
    told = window_summary({8.0: [100.0, 120.0], 30.0: [400.0, 440.0]}, {8.0: 3, 30.0: 2}, {8.0: 100, 30.0: 100})
    assert told["8"]["ratio"] == round(110 / 420, 3)
    assert (told["8"]["word_errors"], told["30"]["word_errors"]) == (3.0, 2.0)


@pytest.mark.models
def test_windows_are_heard_in_their_smallest_form() -> None:
    told = measure_window(load_settings(single_user=True), repeats=1, quick=True)
    assert list(told["windows"]) == ["12", "30"]
    assert told["windows"]["30"]["ratio"] == 1.0
    assert "errors %" in window_table(told)
