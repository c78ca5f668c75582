from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from written import written

from tts import spoken


def _written() -> Iterator[tuple[str, str, str, str]]:
    """(language, kind, text, what is read) for each line of `reading.txt` and `reading-more.txt`."""
    language = kind = ""
    for line in written("reading"):
        if line.startswith("["):
            language, _, kind = line.strip("[]").partition(" ")
        elif line and not line.startswith("//"):
            text, arrow, read = line.replace("¶", "\n").partition(" ⇒ ")
            yield language, kind, text, read if arrow else text


WRITTEN = [pytest.param(code, text, read, id=f"{code} {kind}: {text[:24]}") for code, kind, text, read in _written()]


@pytest.mark.parametrize(("language", "text", "read"), WRITTEN)
def test_data_is_read_as_a_person_reads_it(language: str, text: str, read: str) -> None:
    assert spoken(text, language) == read


@pytest.mark.parametrize("language", ["de-AT", "de_DE", "DE"])
def test_a_region_reads_as_its_language(language: str) -> None:
    assert spoken("am 3. Mai", language) == "am dritten Mai"


@pytest.mark.parametrize("language", ["it", "xx", "../en", ""])
def test_a_language_without_a_table_passes_through(language: str) -> None:
    assert spoken("22,1 euro il 5. maggio, $5.", language) == "22,1 euro il 5. maggio, $5."


@given(
    text=st.text(alphabet="0123456789 .,:/-$€%°CkmXVI²½#~<>*&SrtDMnaeBhpu\n", max_size=40),
    language=st.sampled_from(["en", "de", "fr", "es"]),
)
def test_reading_never_fails_and_never_loses_a_word(text: str, language: str) -> None:
    read = spoken(text, language)
    assert bool(read) == bool(text.split())
    assert "{" not in read
