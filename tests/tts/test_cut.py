import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstword.testing.clock import VirtualClock
from tts import Cutter, pieces, speakable

LONG = (
    "The quick answer is that it depends on quite a number of things, because the weather in this part of the world "
    "changes every hour."
)
TEXTS = [case["text"] for case in json.loads(Path(__file__).with_name("sentences.json").read_text("utf-8"))]
TEXTS += [
    LONG,
    LONG + " Then more.",
    "嗯，好的。记得。",
    "a" * 1_500,
    "word " * 300,
    "Well done. " * 80,
    "",
    " \n ",
    "...",
    "Title\n\nBody.",
]


@pytest.mark.parametrize("text", TEXTS, ids=[text[:20] or "empty" for text in TEXTS])
def test_pieces_joined_give_the_text_back(text: str) -> None:
    assert "".join(pieces(text)) == text


ATOMS = (
    "word Then a Dr. U.S. 5 p.m. it end. what? so, however; $29.95 v1.2.3 no. (so on) 你好。 ， ... " + "x" * 40
).split()
WORDS = st.lists(st.sampled_from([*ATOMS, "\n\n", '"Yes."']), max_size=60).map(" ".join)


@given(text=WORDS, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=8), cap=st.sampled_from([40, 120, 300]))
@settings(max_examples=200, deadline=None)
def test_however_the_text_arrives_it_is_cut_the_same_within_the_cap(text: str, sizes: list[int], cap: int) -> None:
    whole = pieces(text, cap=cap)
    cutter = Cutter(cap=cap)
    made, at, n = [], 0, 0
    source = speakable(text)
    while at < len(source):
        made += cutter.push(source[at : at + sizes[n % len(sizes)]])
        at, n = at + sizes[n % len(sizes)], n + 1
    made += cutter.flush()
    assert [piece.source for piece in made] == whole
    assert "".join(whole) == source
    assert all(len(piece.strip()) <= cap for piece in whole)
    assert [piece.n for piece in made] == list(range(len(made)))


def test_the_opening_is_the_first_sentence() -> None:
    assert pieces("Of course. Here is how you do it.")[0] == "Of course. "


def test_a_long_first_sentence_opens_with_its_first_clause() -> None:  # T15
    assert pieces(LONG)[0] == "The quick answer is that it depends on quite a number of things, "


def test_without_a_clause_the_sentence_is_spoken_whole() -> None:
    text = "the people of this small town " * 5 + "left."
    assert pieces(text) == [text]


def test_a_short_clause_and_a_single_word_are_not_parted() -> None:
    first = pieces("Well, the people of this small town by the sea left for good years ago, sadly.")[0]
    assert first.endswith("sadly.")


def test_a_comma_within_a_number_is_no_clause() -> None:  # TT7
    text = "Die Temperatur im Zimmer beträgt jetzt 22,1 °C und steigt seit gestern Abend immer weiter an."
    assert pieces(text, language="de") == [text]


def test_the_first_cjk_sentence_is_spoken_at_once() -> None:  # T11
    cutter = Cutter()
    made = [piece.source for character in "嗯，好的。记" for piece in cutter.push(character)]
    assert made == ["嗯，好的。"]


def test_cjk_sentences_end_token_by_token() -> None:  # T10
    cutter = Cutter()
    made = [piece.source for character in "你好。再见。" for piece in cutter.push(character)]
    assert made + [piece.source for piece in cutter.flush()] == ["你好。", "再见。"]


def test_the_last_word_is_never_alone() -> None:  # T13
    made = pieces("this sentence has sixty two characters and no clause in it ok.", cap=50)
    assert all(len(piece.split()) > 1 for piece in made)
    assert abs(len(made[0]) - len(made[1])) < 15


def test_korean_pieces_are_shorter() -> None:
    text = "안녕하세요 반갑습니다 오늘 날씨가 좋습니다. " * 12
    assert max(len(piece.strip()) for piece in pieces(text, language="ko")) <= 120


def test_three_deltas_of_one_price_are_one_number() -> None:
    cutter = Cutter()
    assert [*cutter.push("It is $29"), *cutter.push("."), *cutter.push("95 now. "), *cutter.push("So")][
        0
    ].source == "It is $29.95 now. "


def test_an_end_is_trusted_when_nothing_came_for_150_ms() -> None:
    clock = VirtualClock()
    cutter = Cutter(clock=clock)
    assert cutter.push("Of course.") == []
    assert cutter.due(clock.forward(0.1)) == []
    assert [piece.source for piece in cutter.due(clock.forward(0.06))] == ["Of course."]
    assert cutter.push(" I asked Dr.") == []
    assert cutter.due(clock.forward(1)) == []


SLOW = "When the ferry is late, we wait in the small café."


def sent(text: str, words_s: float) -> list[tuple[str, float]]:
    """The pieces of `text` and when each was given, where a word comes every `1 / words_s` seconds."""
    clock = VirtualClock()
    cutter = Cutter(clock=clock)
    given: list[tuple[str, float]] = []
    for word in re.findall(r"\S+\s*", text):
        arrives_s = clock() + 1 / words_s
        while (due_s := cutter.due_s) is not None and due_s < arrives_s:
            clock.forward(max(0.0, due_s - clock()))
            given += [(piece.source, clock()) for piece in cutter.due(clock())]
        clock.forward(arrives_s - clock())
        given += [(piece.source, clock()) for piece in cutter.push(word)]
    return given + [(piece.source, clock()) for piece in cutter.flush()]


@pytest.mark.parametrize("words_s", [100, 40, 25])
def test_a_quick_sender_s_short_sentence_is_not_parted(words_s: float) -> None:
    assert [piece for piece, _ in sent(SLOW, words_s)] == [SLOW]


@pytest.mark.parametrize("words_s", [10, 5, 2, 1])
def test_a_slow_sender_s_sentence_opens_with_the_clause_that_is_there(words_s: float) -> None:
    given = sent(SLOW, words_s)
    assert [piece for piece, _ in given] == ["When the ferry is late, ", "we wait in the small café."]
    assert given[0][1] == pytest.approx(7 / words_s)  # two words behind the comma: neither side is a word alone


@pytest.mark.parametrize("words_s", [40, 10, 3, 1])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Yes, we wait in the small café by the port.", id="a clause too short"),
        pytest.param("On 5 May, 2026 we waited in the small café.", id="a date"),
        pytest.param("The ferry (late, as ever, today) came at last.", id="in brackets"),
        pytest.param("We all wait in the small café by the port.", id="no clause"),
        pytest.param("We wait in the small café by the port, sadly.", id="a word alone behind it"),
    ],
)
def test_however_slow_a_sender_nothing_is_cut_within_a_phrase(text: str, words_s: float) -> None:
    assert [piece for piece, _ in sent(text, words_s)] == [text]


def test_only_the_opening_is_hurried() -> None:
    text = "We are here. When the ferry is late, we wait in the small café. "
    assert [piece.strip() for piece, _ in sent(text, 6)] == text.strip().replace(". ", ".|").split("|")


def test_a_sentence_that_seems_over_is_not_parted_at_its_clause() -> None:
    clock = VirtualClock()
    cutter = Cutter(clock=clock)
    for word in re.findall(r"\S+\s?", SLOW):
        assert cutter.push(word) == []
        clock.forward(0.05)
    assert [piece.source for piece in cutter.due(clock.forward(0.15))] == [SLOW]


def test_what_is_held_to_be_packed_can_be_taken() -> None:
    cutter = Cutter()
    assert len(cutter.push("One here. Two here. Three he")) == 1
    assert [piece.source for piece in cutter.take()] == ["Two here. "]
    assert [piece.source for piece in cutter.flush()] == ["Three he"]
