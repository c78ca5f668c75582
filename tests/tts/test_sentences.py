import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written import written

from tts import sentences
from tts.sentences import Ends

CASES = json.loads(Path(__file__).with_name("sentences.json").read_text("utf-8"))


def _written() -> Iterator[tuple[str, str, str, list[str]]]:
    """(kind, language, text, sentences) for each line of `ends.txt` and `ends-more.txt`."""
    kind = language = ""
    for line in written("ends"):
        if line.startswith("["):
            kind, language = line.strip("[]").rsplit(" ", 1)
        elif line and not line.startswith("//"):
            shown = line.replace("¶", "\n")
            text = shown.replace("\n | ", "\n").replace(" | ", " ").replace("| ", " ").replace("|", "")
            yield kind, language, text, [part.strip() for part in shown.split("|")]


WRITTEN = list(_written())
IDS = [f"{kind} {language}: {text[:24]}" for kind, language, text, _ in WRITTEN]

MORE = [
    pytest.param("Dr. Sharma arrived at 9:30 a.m., slightly out of breath.", 1, id="T1"),
    pytest.param("Go to example.com, mail a@b.co, pay 1.000,50 at 192.168.1.1. Done.", 2, id="T3"),
    pytest.param(
        "Dr. Patel and Mrs. Jones met at St. Mary's to discuss the U.S. budget. They covered topics, e.g. schools, "
        "roads and parks, before lunch was served. Nobody left before 5 p.m. that day.",
        3,
        id="T5",
    ),
    pytest.param("Use 0.12.1 in config.toml now.", 1, id="T6"),
    pytest.param("J.K. Rowling measured 23.5度 outside.", 1, id="T8"),
    pytest.param("你好。再见。", 2, id="T10"),
    pytest.param("Title\n\nBody.", 2, id="T28"),
    pytest.param("Wait... what?", 1, id="T30"),
    pytest.param("It is 98.6°F now. Ok.", 2, id="TT5"),
    pytest.param("It is 5 p.m. The shop is closed.", 2, id="time-then-sentence"),
    pytest.param("See you at 5 p.m. Monday. Fine.", 2, id="time-then-day"),
    pytest.param("We live in the U.S. It is big.", 2, id="country-then-sentence"),
    pytest.param("The U.S. Senate met. Fine.", 2, id="country-then-name"),
    pytest.param("George W. Bush spoke. Fine.", 2, id="initial"),
    pytest.param("So do I. Then we left.", 2, id="i"),
    pytest.param("No. I will not.", 2, id="no-is-an-answer"),
    pytest.param("See fig. 3 and vol. 2, pp. 5-6. End.", 2, id="before-numbers"),
    pytest.param("1. First item. 2. Second item.", 2, id="list-numbers"),
    pytest.param("He left (quietly.) Then he came back.", 2, id="brackets"),
    pytest.param("これは「すごい。」と言った。次。", 2, id="quoted-then-particle"),
    pytest.param("क्या? हाँ। ठीक है॥ बस।", 4, id="danda"),
    pytest.param("Hello.World", 1, id="no-space"),
    pytest.param("Ask J. R. R. Tolkien. He knows.", 2, id="spaced-initials"),
    pytest.param("Read https://a.example/b.html?x=1.2. Then v2.0.1-rc.1 is out.", 2, id="url-then-version"),
    pytest.param("“Is it done?” he asked. “Yes.” She left.", 3, id="curly-quotes"),
]


@pytest.mark.parametrize("case", CASES, ids=[case["text"][:24] for case in CASES])
def test_the_field_s_sentences_end_where_a_reader_ends_them(case: dict) -> None:
    assert sentences(case["text"]) == case["sentences"]


@pytest.mark.parametrize(("text", "count"), MORE)
def test_a_text_has_this_many_sentences(text: str, count: int) -> None:
    assert len(sentences(text)) == count, sentences(text)


def test_german_ordinals_and_abbreviations_are_held() -> None:
    assert sentences("Am 5. Mai kam Dr. Müller, z.B. heute. Gut.", "de") == [
        "Am 5. Mai kam Dr. Müller, z.B. heute.",
        "Gut.",
    ]


def test_an_unknown_language_is_no_error() -> None:
    assert sentences("One. Two.", "xx-nowhere") == ["One.", "Two."]


@pytest.mark.parametrize("text", ["", "  \n", "...", "?!", "a" * 100_000])
def test_odd_texts_do_not_break_it(text: str) -> None:
    assert "".join(sentences(text)) == text.strip()


def test_an_end_is_sure_when_the_next_word_is_seen() -> None:
    ends = Ends()
    assert ends.push("It is done. ") == []
    assert ends.pending == 11
    assert ends.push("N") == [11]


def test_a_number_that_is_still_being_written_has_no_end() -> None:
    ends = Ends()
    assert [*ends.push("It is $29"), *ends.push(".")] == []
    assert ends.push("95 now. So") == [17]


def test_an_abbreviation_waits_for_its_next_word() -> None:
    ends = Ends()
    assert ends.push("At 5 p.m. T") == []
    assert ends.push("ues") == []
    assert ends.push("day. It") == [18]


@pytest.mark.parametrize(("kind", "language", "text", "wanted"), WRITTEN, ids=IDS)
def test_a_sentence_ends_where_a_reader_ends_it_whether_its_language_is_known_or_not(
    kind: str, language: str, text: str, wanted: list[str]
) -> None:
    assert sentences(text, language) == wanted
    assert sentences(text) == wanted


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11, 50])
def test_sentences_end_at_the_same_place_however_they_arrive(size: int) -> None:
    for _, language, text, _ in WRITTEN:
        assert _in_deltas(text, [size], language) == _in_deltas(text, [len(text)], language), text


ATOMS = [
    "word",
    "Then",
    "Dr.",
    "U.S.",
    "5",
    "p.m.",
    "3.",
    "Mai",
    "der",
    "am",
    "z.",
    "B.",
    "it",
    "end.",
    "what?",
    '"Yes."',
    "Tom",
    "asked.",
    "said:",
    "so...",
    "I...",
    "I",
    "Inc.",
    "Jan.",
    "12.",
    "No.",
    "M.",
    "J.",
    "K.",
    "Ph.D.",
    "你好。",
    "「はい」",
    "です。",
    "$29.95",
    "v1.2.3",
    "e.g.",
    "(so.)",
    "etc.",
    "»Komm!«",
    "rief",
    "«",
    "Oui",
    "?",
    "»",
    "क्या।",
    "د؟",
    ";",
    "！",
    "-",
    "1)",
    "#",
    "…",
]
SPACES = st.sampled_from([" ", "", "  ", "\n", "\n\n", "\n- "])
TEXTS = st.lists(st.tuples(st.sampled_from(ATOMS), SPACES), max_size=30).map(
    lambda parts: "".join(word + space for word, space in parts)
)


@given(text=TEXTS, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=8), language=st.sampled_from(["en", "de"]))
@settings(max_examples=300, deadline=None)
def test_no_text_ends_elsewhere_because_of_how_it_arrived(text: str, sizes: list[int], language: str) -> None:
    assert _in_deltas(text, sizes, language) == _in_deltas(text, [max(1, len(text))], language)


@given(text=st.text(alphabet="a .!?\n\"'A1。", max_size=60), sizes=st.lists(st.integers(1, 4), min_size=1, max_size=8))
@settings(max_examples=300, deadline=None)
def test_no_marks_end_elsewhere_because_of_how_they_arrived(text: str, sizes: list[int]) -> None:
    assert _in_deltas(text, sizes, "en") == _in_deltas(text, [max(1, len(text))], "en")


def _in_deltas(text: str, sizes: list[int], language: str) -> list[int]:
    ends = Ends(language)
    found, at, n = [], 0, 0
    while at < len(text):
        size = sizes[n % len(sizes)]
        found += ends.push(text[at : at + size])
        at, n = at + size, n + 1
    return found + ends.trust()
