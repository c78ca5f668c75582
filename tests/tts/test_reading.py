import pytest

from tts import spoken

CASES = [
    ("It costs $29.95 now.", "It costs 29 dollars 95 now."),
    ("$5.500", "5.500 dollars"),
    ("$1 or $1.00", "1 dollar or 1 dollar"),
    ("$0.99", "99 cents"),
    ("$1.5M", "1.5 million dollars"),
    ("1km and 5 km", "1 kilometre and 5 kilometres"),
    ("98.6°F", "98.6 degrees Fahrenheit"),
    ("60 km/h", "60 kilometres an hour"),
    ("at 14:05", "at 14 oh 5"),
    ("at 9:30", "at 9:30"),
    ("on 2026-11-30.", "on November 30, 20 26."),
    ("in 1986.", "in 19 86."),
    ("1905 and 2003", "19 oh 5 and 2003"),
    ("version 0.12.1", "version 0 point 12 point 1"),
    ("1.0", "1.0"),
    ("192.168.1.1", "1 9 2 dot 1 6 8 dot 1 dot 1"),
    ("call 555-1234", "call 5 5 5, 1 2 3 4"),
    ("call +1 415 555 2671", "call plus 1, 4 1 5, 5 5 5, 2 6 7 1"),
    ("10-20 people", "10 to 20 people"),
    ("3/4 full", "three quarters full"),
    ("Dr. Lee, e.g. here", "Doctor Lee, for example here"),
    ("No. 5", "number 5"),
    ("No. I will not.", "No. I will not."),
    ("C# and 5*3", "C sharp and 5 times 3"),
    ("Title\n\nBody here", "Title. Body here"),
    ("one\ntwo   three", "one two three"),
]


@pytest.mark.parametrize(("text", "read"), CASES, ids=[case[0] for case in CASES])
def test_english_data_is_read_as_a_person_does(text: str, read: str) -> None:
    assert spoken(text) == read


@pytest.mark.parametrize("language", ["de", "xx", "../en", ""])
def test_a_language_without_a_table_passes_through(language: str) -> None:
    assert spoken("Es kostet 22,1 Euro am 5. Mai.", language) == "Es kostet 22,1 Euro am 5. Mai."
