"""What of an answer was heard."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice.heard import CUT, Heard

RATE_HZ = 1_000
THREE = ("The first one is here. ", "Then the second follows. ", "And a third closes it.")


def ledger(*sources: str, samples: int = 1_000) -> Heard:
    heard = Heard(RATE_HZ)
    for n, source in enumerate(sources):
        heard.made(n, source, samples // 2, last=False)
        heard.made(n, source, samples - samples // 2, last=True)
    return heard


def test_h1_a_cut_in_the_second_sentence_keeps_the_first_and_a_part() -> None:
    assert ledger(*THREE).text(1_500, complete=False) == "The first one is here. Then the" + CUT


@pytest.mark.parametrize("made", [0, 1], ids=["H3-nothing-made", "H3-H6-unplayed"])
def test_h3_nothing_played_is_no_line(made: int) -> None:
    assert ledger(*THREE[:made]).text(0, complete=False) == ""


def test_h5_a_preamble_is_counted_as_its_own_piece() -> None:
    heard = ledger("One moment. ", "The answer is forty two.")
    assert heard.text(1_400, complete=False) == "One moment. The answer" + CUT


def test_the_whole_has_no_cut() -> None:
    assert ledger(*THREE).text(3_000, complete=True) == "".join(THREE)
    assert ledger(*THREE).text(99_999, complete=True) == "".join(THREE)
    assert ledger(*THREE).text(3_000, complete=False) == "".join(THREE) + CUT


def test_a_piece_still_being_made_is_judged_by_the_pace_of_the_others() -> None:
    heard = Heard(RATE_HZ)
    heard.made(0, "0123456789 ", 1_100, last=True)
    heard.made(1, "aaaa bbbb cccc dddd", 500, last=False)
    assert heard.text(1_600, complete=False) == "0123456789 aaaa" + CUT


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.text("ab. ", min_size=1, max_size=30), st.integers(1, 900)), max_size=5),
    st.integers(-10, 5_000),
)
def test_what_was_heard_is_whole_words_from_the_start_and_never_grows_back(
    parts: list[tuple[str, int]], played: int
) -> None:
    heard = Heard(RATE_HZ)
    for n, (source, samples) in enumerate(parts):
        heard.made(n, source + " ", samples, last=True)
    whole = "".join(source + " " for source, _ in parts).strip()
    text = heard.text(played, complete=False)
    kept = text.removesuffix(CUT)
    assert whole.startswith(kept)
    assert not kept or len(kept) == len(whole) or whole[len(kept)].isspace()
    assert len(heard.text(played + 50, complete=False)) >= len(text)
