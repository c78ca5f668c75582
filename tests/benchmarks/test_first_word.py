"""Benchmarks of speaking: what is made of the measurements, and that they can be taken."""

import asyncio
import tomllib

import numpy as np
import pytest

from benchmarks.first_word import TEXTS, WAYS, Text, heard_ms, measure, part_of, summary
from benchmarks.said_words import LINES, Said, hard_lines, measure_words
from benchmarks.said_words import summary as words_summary
from benchmarks.text_cost import DENSE, answers, deltas, measure_text, opening_ms, text_table
from firstword.settings import load_settings
from sound import Pcm

QUIET, LOUD = Pcm.silence(0.1, 16_000), Pcm(np.full(1_600, 0.5, dtype=np.float32), 16_000)


@pytest.mark.parametrize(
    ("arrived", "ms"),
    [
        pytest.param([(0.2, LOUD)], 200, id="one stretch"),
        pytest.param([(0.2, QUIET), (0.21, LOUD)], 300, id="silence before it is waited through"),
        pytest.param([(0.2, QUIET), (0.5, LOUD)], 500, id="a late stretch is heard late"),
    ],
)
def test_the_first_sample_is_heard_once_what_stands_before_it_has_played(
    arrived: list[tuple[float, Pcm]], ms: float
) -> None:
    assert heard_ms(arrived) == pytest.approx(ms)


def test_silence_is_no_first_word() -> None:
    with pytest.raises(ValueError, match="audible"):
        heard_ms([(0.1, QUIET)])


def test_the_texts_are_of_the_sizes_that_results_are_quoted_for() -> None:
    sizes = {name: len(text.words) for name, text in TEXTS.items()}
    assert sizes["four sentences"] == 219
    first = TEXTS["clause at 60"].words.partition(". ")[0] + "."
    assert (len(first), first.index(",") + 1) == (133, 60)
    assert len(TEXTS["twelve words"].words.split()) == 12
    assert len(TEXTS["no clause"].words.split()) == 60


def test_each_way_is_given_its_part_of_the_text() -> None:
    text = Text("When it rains for **long**, the people of the town stay at home and read to one another. Then not.")
    assert part_of("one_piece", text).endswith("Then not.")
    assert part_of("sentence_first", text).rstrip().endswith("one another.")
    assert part_of("opening", text).rstrip() == "When it rains for long,"


def test_the_summary_is_of_medians() -> None:
    taken = {way: [30.0, 10.0, 20.0] for way in WAYS} | {"one_piece": [200.0, 100.0, 900.0]}
    told = summary("twelve", taken)
    assert (told["one_piece_ms"]["p50"], told["streamed_ms"]["p50"]) == (200.0, 20.0)
    assert (told["ratio"], told["characters"]) == (0.1, 6)


@pytest.mark.parametrize(
    ("streamed", "equal"), [(0, True), (3, False)], ids=["no difference", "three words more in every line"]
)
def test_ways_are_equal_where_no_difference_lies_in_the_range(streamed: int, equal: bool) -> None:
    told = words_summary([Said("a line", 10, 0, streamed)] * 20)
    assert told["equal"] is equal
    assert told["streamed"]["errors"] == 20 * streamed


def test_there_are_a_hundred_hard_lines_none_twice() -> None:
    assert len(set(hard_lines())) == len(tomllib.loads(LINES.read_text("utf-8"))["lines"]) == 100


@pytest.mark.models
def test_a_quick_run_has_the_shape_of_a_result() -> None:
    settings = load_settings()
    told = asyncio.run(measure(settings, engines=("piper",), repeats=1, texts=("twelve words",)))
    found = told["engines"]["piper"]["twelve words"]
    assert set(found) == {"characters", "ratio", *(f"{way}_ms" for way in WAYS)}
    assert told["machine"]["cores"] >= 1
    heard = asyncio.run(measure_words(settings, lines=["The answer is on the back of the sheet."]))
    assert (heard["lines"], heard["words"]) == (1, 9)
    assert heard["streamed"]["errors"] <= 3


def test_a_text_is_handed_over_in_deltas_of_a_token_that_give_it_back() -> None:
    for kind in answers().values():
        for _, answer in kind:
            assert "".join(deltas(answer)) == answer
            assert max(len(delta.strip()) for delta in deltas(answer)) <= 4


def test_every_call_of_filter_and_cut_is_counted_and_its_growth_told() -> None:
    result = measure_text(rounds=1, lengths=(200, 400))
    counted = sum(len(deltas(answer)) + 1 for kind in answers().values() for _, answer in kind)
    assert result["calls"]["all"]["n"] == counted
    assert all(row["p50_us"] <= row["p99_us"] <= row["max_us"] for row in result["calls"].values())
    assert {tuple(grown["us_a_character"]) for grown in result["linear"].values()} == {("200", "400")}
    assert all(name in text_table(result) for name in [*result["calls"], *result["linear"]])


def test_a_slow_sender_s_opening_is_there_sooner_and_a_quick_one_s_is_the_same() -> None:
    text = "When the ferry is late, we wait in the small room above the bar."
    assert opening_ms(text, 0.1, hurries=True) < 0.7 * opening_ms(text, 0.1, hurries=False)
    assert opening_ms(text, 0.01, hurries=True) == opening_ms(text, 0.01, hurries=False)


def test_dense_answers_come_in_each_language_that_has_a_table_for_reading() -> None:
    assert {"en", "de", "fr", "es"} <= set(tomllib.loads(DENSE.read_text("utf-8")))
