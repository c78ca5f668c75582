import json

import pytest
from click.testing import CliRunner

from firstword.commands.speech import say
from firstword.dry import cut, shown

TEXT = "**Yes**, it costs $29.95 today. 🎉\n\n- one\n- two"


def test_each_piece_is_shown_as_it_is_written_and_as_it_is_read() -> None:
    report = cut(TEXT)
    assert report["filtered"] == "Yes, it costs $29.95 today. \n\none\n\ntwo"
    assert "".join(piece["source"] for piece in report["pieces"]) == report["filtered"]
    opening = report["pieces"][0]
    assert (opening["opening"], opening["words"], opening["characters"]) == (True, 5, 27)
    lines = list(shown(report))
    assert any("the opening, 5 words, 27 characters" in line for line in lines)
    assert "     Yes, it costs $29.95 today." in lines
    assert "   → Yes, it costs 29 dollars 95 today." in lines


def test_no_line_is_wider_than_the_terminal() -> None:
    assert max(len(line) for line in shown(cut("a long way to go and then some more " * 20), 60)) <= 60


@pytest.mark.parametrize("text", ["🎉🎉", "---", "<think>x</think>"])
def test_a_text_with_nothing_to_say_is_said_to_be_silent(text: str) -> None:
    assert "nothing in it is spoken" in "\n".join(shown(cut(text)))


def test_the_command_prints_one_object_with_the_pieces() -> None:
    done = CliRunner().invoke(say, ["-", "--dry", "--json"], input=TEXT, env={"FIRSTWORD_SINGLE_USER": "true"})
    assert done.exit_code == 0, done.output
    assert json.loads(done.output) == cut(TEXT)
