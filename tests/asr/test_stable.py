"""What of a guess will stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.stable import StablePrefix


@pytest.mark.parametrize(
    ("guesses", "stable"),
    [
        (["What is", "What is the", "What is the cap"], ["", "What", "What is"]),
        (["I would like", "I would like to go"], ["", "I would"]),
        (["I wood like", "I would like to"], ["", "I"]),
        (["well, I think", "Well I think so"], ["", "Well I"]),
        (["Hello there", "Yellow there"], ["", ""]),
        (["One", "One"], ["", ""]),
        (["We went, then", "We went. Then we"], ["", "We went"]),
        ([""], [""]),
    ],
)
def test_two_guesses_that_agree_make_their_beginning_stable(guesses: list[str], stable: list[str]) -> None:
    prefix = StablePrefix()
    assert [prefix.push(guess) for guess in guesses] == stable


@given(st.lists(st.lists(st.sampled_from(["a", "B", "b,", "c.", "…"]), max_size=6).map(" ".join), max_size=6))
def test_the_stable_part_begins_the_guess_it_came_with(guesses: list[str]) -> None:
    prefix = StablePrefix()
    assert all(guess.startswith(prefix.push(guess)) for guess in guesses)


def test_another_utterance_begins_with_nothing_stable() -> None:
    prefix = StablePrefix()
    prefix.push("One two three")
    prefix.clear()
    assert prefix.push("One two three") == ""
