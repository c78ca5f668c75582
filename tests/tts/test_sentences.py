import json
from pathlib import Path

import pytest

from tts import sentences
from tts.sentences import first_end

CASES = json.loads(Path(__file__).with_name("sentences.json").read_text("utf-8"))

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


def test_an_end_is_not_sure_before_the_next_word_is_seen() -> None:
    assert not first_end("It is done. ").sure
    assert first_end("It is done. N").sure
    assert first_end("The cost is $29.9") is None
