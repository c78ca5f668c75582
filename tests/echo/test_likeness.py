"""A sentence that the assistant just said is the assistant."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from echo import is_backchannel, is_own, is_stop, novel_words

SHOP = "Good morning. The shop opens at nine. Shall I tell you more, or would you like the blue one?"


@pytest.mark.parametrize(
    "heard",
    ["the shop opens at 9", "The shop opens at nine.", "THE SHOP OPENS AT NINE", "the ship opens at nine",
     "good morning",
     "opens at nine shall I tell you more", "Shall I tell you moor or would you like"],
    ids=["E6", "same", "case", "one-misheard", "short-sentence", "across", "homophone"],
)  # fmt: skip
def test_its_own_words_are_its_own(heard: str) -> None:
    assert is_own(heard, SHOP)


@pytest.mark.parametrize(
    "heard",
    ["", "  ", "the shop", "at nine", "stop", "the blue one", "the bank opens at ten",
     "what time does the shop open", "no I said tell me more about nine"],
)  # fmt: skip
def test_a_persons_words_are_not(heard: str) -> None:
    assert not is_own(heard, SHOP)


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("It costs twenty-five dollars in all.", "it costs 25 dollars in all"),
        ("Line sixty runs until 12.", "line 60 runs until twelve"),
    ],
)
def test_number_words_do_not_hide_it(said: str, heard: str) -> None:
    assert is_own(heard, said)


def test_nothing_said_is_nobodys() -> None:
    assert not is_own("the shop opens at nine", "")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80), st.text(max_size=120))
def test_any_two_texts_have_an_answer(heard: str, said: str) -> None:
    assert is_own(heard, said) in (True, False)


def test_where_its_voice_is_known_to_leak_a_word_of_its_own_is_its_own() -> None:
    assert is_own("the shop", SHOP, leaks=True)
    assert not is_own("the bank", SHOP, leaks=True)
    assert novel_words("the bank opens at ten", SHOP) == 2


@pytest.mark.parametrize("text", ["Stop!", "hold on", "wait a minute", "Excuse me."])
def test_a_call_to_stop_is_known(text: str) -> None:
    assert is_stop(text, "en")
    assert not is_stop("a minute")
    assert not is_stop("please tell me about the prices")


@pytest.mark.parametrize(
    ("text", "language", "noise"),
    [("Mhm.", "en", True), ("Yeah, okay.", "en", True), ("okay stop", "en", False), ("", "en", False),
     ("I see.", "en", True), ("Ha ha ha ha!", "en", True),
     ("Genau!", "de", True), ("yeah yeah yeah yeah", "en", False), ("mhm", "xx", False), ("yeah", "en-GB", True)],
)  # fmt: skip
def test_a_listeners_noise_is_nothing_else(text: str, language: str, noise: bool) -> None:
    assert is_backchannel(text, language) is noise
