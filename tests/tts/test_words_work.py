"""How much is done for a text, counted in calls: as the text grows so does the work, and no delta costs much."""

import sys
from types import FrameType

import pytest

from tts import Cutter, Speakable, pieces, speakable

PARTS = {
    "prose": "The answer is long, because Dr. Smith said so at 5 p.m. on Jan. 12. It costs $29.95 now. ",
    "markdown": "- **Bold** with `code` and [a link](https://a.example/b)\n\n| a | b |\n|---|---|\n\n<b>x</b> $x$ [1] ",
    "no space": "abcdefghij",
    "no end": "the people of this small town by the sea ",
    "open brackets": "[ ( never closed ",
    "cjk": "今天天气很好，我们去公园吧！",
    "marks": "*_`~[(<$& ",
    "stars": "**********",
    "dots": "a... b.c ",
    "emoji": "🎉🎉 ✓ ",
    "spaces": "          ",
    "line breaks": "\n\na\n",
}
# Calls for one delta of four characters, at most. A piece of 300 characters is read in some 150; a mark that was held
# for 2,000 characters is let go in some 2,000.
MOST_CALLS = 2_500


class Counter:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        self.calls += event in ("call", "c_call")


def stream(text: str) -> tuple[int, int]:
    """(calls in all, calls for the dearest delta)."""
    cleaner, cutter = Speakable(), Cutter()
    counter, dearest = Counter(), 0
    sys.setprofile(counter)
    try:
        for at in range(0, len(text), 4):
            before = counter.calls
            cutter.push(cleaner.push(text[at : at + 4]))
            dearest = max(dearest, counter.calls - before)
        cutter.push(cleaner.flush())
        cutter.flush()
    finally:
        sys.setprofile(None)
    return counter.calls, dearest


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_four_times_the_text_is_four_times_the_work_and_no_delta_is_dear(part: str) -> None:
    stream(part)
    little, _ = stream(part * (1_000 // len(part)))
    much, dearest = stream(part * 4 * (1_000 // len(part)))
    assert much <= 5 * little
    assert dearest <= MOST_CALLS


ODD = [("a", 100_000), ("*", 100_000), ("🎉", 100_000), (".", 100_000), ("。", 20_000), ("[", 10_000), ("<", 10_000)]
ODD += [("` ", 10_000), ("a.", 10_000), ("{", 10_000), (", ", 10_000), ("\n", 10_000)]


@pytest.mark.parametrize(("unit", "length"), ODD, ids=repr)
def test_a_hundred_thousand_characters_of_one_kind_are_cut_and_none_is_lost(unit: str, length: int) -> None:
    text = unit * (length // len(unit))
    made = pieces(text)
    assert "".join(made) == speakable(text)
    assert all(len(piece.strip()) <= 300 for piece in made if any(map(str.isalnum, piece)))
