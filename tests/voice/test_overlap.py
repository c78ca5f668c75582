"""Words over an answer: whose they are, as the recogniser wrote them and as it doubts them."""

from __future__ import annotations

import pytest

from asr.events import Words
from voice.overlap import Over, whose

SAID = "The shop opens at nine. It closes at five."


def words(text: str, no_speech: float = 0.1, log: float = -0.6, kind: str = "final") -> Words:
    return Words(kind, 1, 1, text, "en", 2.0, no_speech=no_speech, mean_log_probability=log)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "heard",
    [
        words("P-P-P-P-P-P-P", no_speech=0.84, log=-0.6),
        words("P-P-P-P-P-P-P"),
        words("You", no_speech=0.48, log=-0.48),
        words("you.", no_speech=0.41),
        words("You, you, you."),
        words("sisisisisisisisisi"),
        words("and make them.", no_speech=0.56, log=-0.85),
        words("Bye.", log=-1.32),
        words("uh", no_speech=0.44, log=-1.37),
        words("them.", log=-1.18),
        words("No.", log=-1.34),
        words("..."),
        words(""),
    ],
    ids=lambda one: one.text or "nothing",
)
def test_what_was_not_understood_is_nothing(heard: Words) -> None:
    assert whose(heard, Over(SAID)) == "nothing"


@pytest.mark.parametrize(
    "heard",
    [
        words("Mhm."),
        words("M.H.N.", log=-0.8),
        words("Ha, ha, ha."),
        words("Thanks.", log=-0.78),
        words("Thank you."),
        words("Bye, bye, bye."),
    ],
    ids=lambda one: one.text,
)
def test_a_listeners_noise_is_nobodys(heard: Words) -> None:
    assert whose(heard, Over(SAID)) == "nobody"


@pytest.mark.parametrize(
    "heard",
    [
        words("Stop.", no_speech=0.44, log=-0.91),
        words("start.", log=-1.04),
        words("start", log=-1.28),
        words("No, no, no.", log=-0.4),
        words("Please call me, they can't see.", log=-1.3),
        words("Actually, never mind."),
        words("Bon, bon, bon."),
    ],
    ids=lambda one: one.text,
)
def test_what_somebody_said_is_a_persons_however_it_was_spelled(heard: Words) -> None:
    assert whose(heard, Over(SAID)) == "person"


def test_a_recogniser_without_doubts_is_believed() -> None:
    assert whose(Words("final", 1, 1, "Stop.", "en", 2.0), Over(SAID)) == "person"


def test_partials_of_a_word_or_two_wait_and_a_call_to_stop_does_not() -> None:
    assert whose(words("thank you", kind="partial"), Over(SAID)) == "untold"
    assert whose(words("P-P-P-P-P", no_speech=0.8, kind="partial"), Over(SAID)) == "untold"
    assert whose(words("stop", kind="partial"), Over(SAID)) == "person"
    assert whose(words("I want to talk", kind="partial"), Over(SAID)) == "person"


def test_our_own_words_are_ours_and_a_cough_has_too_little_voice() -> None:
    assert whose(words("the shop opens at 9"), Over(SAID)) == "own"
    assert whose(words("what about Sunday"), Over(SAID, voiced_s=0.04)) == "untold"


def test_a_thank_you_is_a_listeners_unless_it_answers_a_question() -> None:
    assert whose(words("Thank you."), Over("Shall I keep one for you?", asked=True)) == "person"
    assert whose(words("Thank you, but which one?"), Over(SAID)) == "person"


def test_two_words_need_the_voice_of_two_and_a_call_to_stop_that_of_one() -> None:
    assert whose(words("That's how.", log=-0.99), Over(SAID, voiced_s=0.1)) == "untold"
    assert whose(words("That's how.", log=-0.99), Over(SAID, voiced_s=0.18)) == "person"
    assert whose(words("Sunday."), Over(SAID, voiced_s=0.1)) == "person"
    assert whose(words("Hold on."), Over(SAID, voiced_s=0.1)) == "person"
