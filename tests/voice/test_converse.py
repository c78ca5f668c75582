"""The turn: what is decided, whatever the order of events."""

from __future__ import annotations

import pytest
from turn_kit import Talk, ended, kinds, started, utterance, words

from asr.events import SpeechPaused
from voice.converse import HOLD_S, HOLD_SPEECH_S, THINK_S
from voice.events import (
    Asked,
    Broke,
    Cancelled,
    Candidate,
    CloseTurn,
    Committed,
    Discard,
    Drained,
    Hold,
    Interrupt,
    LetGo,
    Line,
    Nobody,
    Prepare,
    Resume,
    SetMode,
    Started,
    Typed,
    Voiced,
)


def test_a_question_is_prepared_before_it_is_committed_and_let_go_after() -> None:
    talk = Talk()
    assert Prepare(0, "hello there") in talk(started(), SpeechPaused(1, 0, 2.0), words("hello there"))
    assert talk.state.phase == "pausing"
    commands = talk(ended())
    assert Line("hello there", spoken=True) in commands
    assert LetGo(0) in commands
    assert Prepare not in kinds(commands)


def test_an_unsure_turn_or_a_bought_brain_waits_for_the_commit() -> None:
    for talk, verdict in ((Talk(), "unsure"), (Talk(preempt=False), "complete")):
        assert Prepare not in kinds(talk(started(), words("hello", verdict=verdict)))
        assert kinds(talk(ended()))[-2:] == [Prepare, LetGo]


def test_speech_that_goes_on_throws_the_speculation_away() -> None:
    talk = Talk()
    talk(started(), words("I would like"))
    assert talk(started(1, 1)) == [Discard(0, "went_on")]
    assert Prepare(1, "I would like tea") in talk(words("I would like tea", 1, 1))
    assert LetGo(1) in talk(ended(1, 1))


def test_v6_words_of_an_older_generation_are_dropped() -> None:
    talk = Talk()
    talk(started(), started(1, 1))
    assert talk(words("stale"), ended()) == []
    assert talk.state.phase == "hearing"


@pytest.mark.parametrize("text", ["", " "], ids=["E13-empty", "E13-blank"])
def test_e3_nothing_said_resumes_and_loses_no_answer(text: str) -> None:
    talk = Talk()
    answer = talk.speaking()
    assert talk(Candidate()) == [Hold(answer)]
    talk(started())
    assert Resume(answer) in talk(words(text), ended())
    assert talk.state.phase == "speaking"
    assert talk(Drained(answer)) == []
    assert talk.state.phase == "listening"


def test_e6_our_own_words_are_nobodys_at_any_level() -> None:
    talk = Talk()
    answer = talk.speaking()
    assert Resume(answer) in talk(Candidate(), started(), words("the shop opens at 9"))


@pytest.mark.parametrize("noise", ["Mhm.", "yeah", "Okay."])
def test_a_listeners_noise_is_no_interruption(noise: str) -> None:
    talk = Talk()
    answer = talk.speaking()
    assert Resume(answer) in talk(Candidate(), started(), words(noise))


@pytest.mark.parametrize("final", [True, False], ids=["final", "partial"])
def test_v3_words_of_a_person_interrupt(final: bool) -> None:
    talk = Talk()
    answer = talk.speaking()
    commands = talk(Candidate(), started(), words("stop", final=final))
    assert Interrupt(answer, by_person=True) in commands
    assert Started(1.0) in commands
    commands = talk(words("stop please"), ended())
    assert Line("stop please", spoken=True) in commands
    assert talk.state.phase == "thinking"


def test_a_hold_without_speech_ends_soon_and_one_with_speech_later() -> None:
    talk = Talk()
    answer = talk.speaking()
    talk(Candidate())
    assert talk.later(HOLD_S - 0.1) == []
    assert Resume(answer) in talk.later(0.2)
    talk(Candidate(), started())
    assert talk.later(HOLD_S + 0.1) == []
    assert Resume(answer) in talk.later(HOLD_SPEECH_S)
    assert Interrupt(answer, by_person=True) in talk(words("late but real words"))


@pytest.mark.parametrize("heard", ["", "You."], ids=["no words", "a guess"])
def test_a_first_syllable_that_is_not_understood_keeps_the_hold_for_the_next(heard: str) -> None:
    talk = Talk()
    answer = talk.speaking()
    talk(Candidate(), started())
    assert talk(words(heard)) == []
    assert talk.later(HOLD_S - 0.1) == []
    assert talk.state.phase == "held"
    assert Interrupt(answer, by_person=True) in talk(started(1, 1), words("excuse me, one question", 1, 1))


def test_a_sound_that_is_not_understood_holds_no_longer_than_one_without_speech() -> None:
    talk = Talk()
    answer = talk.speaking()
    talk(Candidate(), started(), words(""))
    assert Resume(answer) in talk.later(HOLD_S + 0.1)
    talk(Candidate(), started(1, 1))
    assert talk.later(HOLD_S + 0.1) == []
    assert Resume(answer) in talk(words("", 1, 1))


def test_speech_while_thinking_is_held_and_then_taken_in() -> None:
    talk = Talk()
    talk(*utterance("book a table"))
    assert talk(started(1, 1)) == [Hold(0)]
    commands = talk(words("for two", 1, 1), ended(1, 1))
    assert Discard(0, "went_on") in commands
    assert Line("for two", spoken=True) in commands
    assert LetGo(1) in commands


def test_a_cancel_while_somebody_speaks_over_the_answer_tells_that_they_speak() -> None:
    talk = Talk()
    answer = talk.speaking()
    talk(Candidate(), started())
    assert talk(Cancelled()) == [Interrupt(answer, by_person=False), Started(1.0)]
    assert talk.state.phase == "hearing"


def test_a_cough_while_thinking_loses_nothing() -> None:
    talk = Talk()
    talk(*utterance("book a table"))
    commands = talk(started(1, 1), words("", 1, 1), ended(1, 1))
    assert kinds(commands)[:1] == [Hold]
    assert Resume(0) in commands
    assert talk.state.phase == "thinking"


def test_our_own_tail_after_the_answer_is_no_question() -> None:
    talk = Talk()
    answer = talk.speaking()
    talk(Drained(answer))
    commands = talk(*utterance("it closes at five"))
    assert Line not in kinds(commands)
    assert Nobody(wanted=False) in commands


def test_a_typed_line_takes_the_same_path_and_interrupts() -> None:
    talk = Talk()
    answer = talk.speaking()
    commands = talk(Typed("never mind"))
    assert commands[0] == Interrupt(answer, by_person=True)
    assert kinds(commands)[1:] == [Line, Prepare, LetGo]


def test_a_muted_microphone_says_nothing() -> None:
    talk = Talk()
    talk(SetMode("muted"))
    assert Line not in kinds(talk(*utterance("hello")))
    assert Line in kinds(talk(Typed("hello")))


def test_an_answer_asked_for_before_its_words_came_is_given_then() -> None:
    talk = Talk(respond=False)
    assert Line in kinds(talk(*utterance("first")))
    assert talk.state.answer is None
    talk(Committed())
    assert talk(Asked()) == []
    assert LetGo in kinds(talk(*utterance("second", turn=2)))


def test_an_answer_asked_for_that_nobody_spoke_to_is_refused_in_time() -> None:
    talk = Talk(respond=False)
    talk(Committed(), Asked())
    assert talk.later(10) == [Nobody(wanted=True)]


@pytest.mark.parametrize("broken", [True, False], ids=["S8-raises", "S8-stuck"])
def test_s8_an_answer_that_fails_gives_the_turn_back(broken: bool) -> None:
    talk = Talk()
    talk(*utterance("hello"))
    commands = talk(Broke(0)) if broken else talk.later(THINK_S + 1)
    assert Discard(0, "failed") in commands
    assert CloseTurn() in commands
    assert talk.state.phase == "listening"


def test_not_interruptible_is_not_interrupted() -> None:
    talk = Talk(interruptible=False)
    talk.speaking()
    assert talk(Candidate(), started(), words("stop"), ended()) == [CloseTurn()]


@pytest.mark.parametrize(
    ("leaks", "voiced_s", "text", "taken"),
    [
        (False, 0.04, "please go on", False),
        (False, 0.10, "stop", True),
        (True, 0.10, "stop", True),
        (True, 0.10, "wait a minute", True),
        (True, 0.10, "about is", False),
        (True, 0.20, "please go home", True),
        (True, 0.20, "the shop", False),
        (True, 9.00, "the shop opens", False),
        (False, 9.00, "the shop", True),
        (False, 9.00, "...", False),
    ],
    ids=[
        "cough",
        "stop",
        "stop-over-leak",
        "wait-a-minute",
        "scraps",
        "phrase",
        "own-two-words",
        "own",
        "E6-two",
        "E13",
    ],
)
def test_words_need_a_voice_and_more_of_it_where_our_own_comes_back(
    leaks: bool, voiced_s: float, text: str, taken: bool
) -> None:
    talk = Talk()
    answer = talk.speaking()
    talk(Candidate(0.02, leaks), started(), Voiced(voiced_s))
    assert (Interrupt(answer, by_person=True) in talk(words(text))) is taken


@pytest.mark.parametrize(("leaks", "taken"), [(True, False), (False, True)], ids=["still in it", "taken out"])
def test_words_need_no_more_voice_once_our_own_is_known_to_be_out_of_them(leaks: bool, taken: bool) -> None:
    talk = Talk()
    answer = talk.speaking()
    talk(Candidate(0.0, leaks=True), started(), Voiced(0.17, leaks=leaks))
    assert (Interrupt(answer, by_person=True) in talk(words("please go home"))) is taken


def test_what_was_never_said_to_leak_does_not_begin_to() -> None:
    talk = Talk()
    answer = talk.speaking()
    talk(Candidate(0.0, leaks=False), started(), Voiced(0.17, leaks=True))
    assert Interrupt(answer, by_person=True) in talk(words("please go home"))


def test_too_little_voice_to_tell_waits_for_more_and_then_goes_on() -> None:
    talk = Talk()
    answer = talk.speaking()
    talk(Candidate(0.02), started())
    assert talk(words("hello", final=False)) == []
    assert talk(words("hello")) == []
    assert talk.state.phase == "held"
    assert Resume(answer) in talk(ended())
