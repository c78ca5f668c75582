"""What every benchmark shares: one head, the same flags, the refusal to be quoted, and where results are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from benchmarks.errors import BenchRefused
from benchmarks.figures import DOCUMENTS, renew, table, walk, with_figures
from benchmarks.history import history, place, save, standing
from benchmarks.instrument import HEAD, footer, rounds, run
from benchmarks.machine import head
from benchmarks.noise import Spent, Watch, foreign_percent, verdict
from firstword.commands.bench import bench

MACHINE = {"processor": "Intel(R) Xeon(R) Processor @ 2.10GHz", "cores": 2}
FLAGS = {"--repeats", "--quick", "--json", "--save"}


def told(day: str, *, quotable: bool, bench: str = "turn") -> dict[str, Any]:
    return {"bench": bench, "at": f"{day}T10:00:00+00:00", "machine": MACHINE, "quotable": quotable}


@pytest.mark.parametrize(
    ("busy_s", "own_s", "percent"),
    [(10.0, 10.0, 0.0), (12.0, 10.0, 10.0), (20.0, 2.0, 90.0), (9.0, 10.0, 0.0)],
    ids=["alone", "a fifth of a core", "crowded", "counted a moment apart"],
)
def test_what_others_used_is_a_share_of_all_cores(busy_s: float, own_s: float, percent: float) -> None:
    assert foreign_percent(Spent(100.0, 50.0, 7.0), Spent(120.0, 50.0 + busy_s, 7.0 + own_s)) == percent
    assert foreign_percent(Spent(100.0, 50.0, 7.0), Spent(100.0, 50.0, 7.0)) is None


def test_a_noisy_result_is_refused_in_words_and_a_quiet_one_is_not() -> None:
    assert verdict(10.0).startswith("Quiet: others used 10 %")
    assert verdict(10.1).startswith("Not to be quoted: others used 10.1 %")
    assert verdict(None).startswith("Not to be quoted")


def test_a_watch_sees_the_machine() -> None:
    with Watch() as watch:
        sum(n * n for n in range(2_000_000))
    assert watch.foreign is None or 0.0 <= watch.foreign <= 100.0


def test_every_result_begins_with_the_same_head() -> None:
    def measure() -> dict[str, Any]:
        return {"own": 1, "bench": "one", **head(threads=2, models={"voice": "piper-en_US-joe-medium"})}

    result = run(measure, repeats=3)
    assert list(result) == [*HEAD, "own"]
    assert len(result["sums"]["piper-en_US-joe-medium"]) == 64
    assert result["verdict"] in footer(result)
    assert "3 rounds" in footer(result)


def test_rounds_give_medians_and_what_lay_between() -> None:
    measured = iter([{"a": {"p50": n}, "name": "x", "even": True} for n in (3.0, 1.0, 2.0)])
    assert rounds(lambda: next(measured), 3) == {
        "a": {"p50": 2.0}, "name": "x", "even": True, "between_rounds": {"a": {"p50": [1.0, 3.0]}},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("result", "file"),
    [
        (told("2026-11-30", quotable=True), "turn/2026-11-30-intel-xeon-2-cores.json"),
        (told("2026-11-30", quotable=False), "turn/2026-11-30-intel-xeon-2-cores-noisy.json"),
        (told("2026-11-30", quotable=True, bench="core --kill"), "core-kill.json"),
        (told("2026-11-30", quotable=True, bench="turn --stage window"), "turn-stage-window.json"),
    ],
    ids=["history", "busy", "the last one", "no blanks"],
)
def test_a_result_has_its_place_and_the_machine_no_name(result: dict[str, Any], file: str) -> None:
    assert place(result).as_posix() == file


def test_a_quiet_result_speaks_before_a_later_busy_one(tmp_path: Path) -> None:
    for result in (told("2026-11-01", quotable=True), told("2026-11-30", quotable=False)):
        save(result, tmp_path)
    assert [result["at"][:10] for _, result in history("turn", tmp_path)] == ["2026-11-01", "2026-11-30"]
    found = standing("turn", tmp_path)
    assert found is not None
    assert found[1]["at"].startswith("2026-11-01")
    assert standing("first-word", tmp_path) is None


def test_every_benchmark_has_the_same_flags() -> None:
    commands = {name: command for name, command in bench.commands.items() if name not in {"compare", "report"}}
    for name, command in commands.items():
        flags = {flag for option in command.params if isinstance(option, click.Option) for flag in option.opts}
        assert flags >= FLAGS, name


def test_a_result_is_kept_where_one_says_and_a_quick_one_not_with_the_projects_own(tmp_path: Path) -> None:
    done = CliRunner().invoke(bench, ["core", "--quick", "--json", "--save", str(tmp_path)])
    assert done.exit_code == 0, done.output
    result = json.loads((tmp_path / "core.json").read_text())
    assert (result["quick"], result["repeats"]) == (True, 1)
    refused = CliRunner().invoke(bench, ["core", "--quick", "--save"])
    assert refused.exit_code == 2
    assert "quick run" in refused.output


def test_what_was_counted_on_a_virtual_clock_is_quoted_of_a_busy_machine_too(tmp_path: Path) -> None:
    fixed = [
        {"threshold": 0.12, "found": 0.9, "answers_lost": 0.8, "self_interruptions": 4000},
        {"threshold": 0.5, "found": 0.3, "answers_lost": 0.1, "self_interruptions": 40},
    ]
    result = {
        **told("2026-11-30", quotable=False, bench="barge-in"),
        "nobody": {"minutes": 1000.4, "self_interruptions": 0},
        "interruptions": {"found": 0.976, "silence_ms": {"p95": 178.0}},
        "noises": {"answers_lost": 0.004},
        "fixed": fixed,
    }
    save(result, tmp_path)
    assert "barge-in" not in table(tmp_path)
    save({**result, "clock": "virtual"}, tmp_path)
    assert "a fixed threshold of 0.5: 30.0%, 10.0%, 40 | 97.6%, 0.4%, 0 | 178 to silence" in table(tmp_path)


def test_figures_stand_between_the_marks_with_machine_and_day(tmp_path: Path) -> None:
    core = {**told("2026-11-30", quotable=True, bench="core"), "databases": {"sqlite": {"turn_ms": {"p50": 1.44}}}}
    save(core, tmp_path)
    blocks = {"figures": table}
    text = with_figures("a\n<!-- figures -->\nold\n<!-- /figures -->\nb\n", blocks, tmp_path)
    assert text.startswith("a\n<!-- figures -->\n| what |")
    assert "| 1.4 | [2026-11-30, Intel(R) Xeon(R) Processor @ 2.10GHz, 2 cores](" in text
    assert text.endswith("\n<!-- /figures -->\nb\n")
    readme = tmp_path / "README.md"
    readme.write_text(text)
    assert renew({readme: blocks, tmp_path / "none": blocks}, tmp_path) is False
    readme.write_text(text.replace("1.4", "9.9"))
    assert renew({readme: blocks}, tmp_path) is True
    assert readme.read_text() == text
    with pytest.raises(BenchRefused, match="no place"):
        with_figures("nothing", blocks, tmp_path)


def test_of_a_busy_machine_only_ratios_are_quoted(tmp_path: Path) -> None:
    way = {"words_ms": {"p50": 358.0}}
    listen = {"goal": {"words_ratio": 0.23, "word_errors_more": -2.6}, "ways": {"ours": {"all": way}}}
    busy = {"foreign_cpu_percent": 41.0}
    save({**told("2026-11-30", quotable=False, bench="listen"), **busy, **listen}, tmp_path)
    save(
        {**told("2026-11-30", quotable=False, bench="core"), "databases": {"sqlite": {"turn_ms": {"p50": 9.9}}}},
        tmp_path,
    )
    (row,) = table(tmp_path).splitlines()[2:]
    assert "| 0.23 | not quoted | [2026-11-30" in row
    assert "2 cores, busy (41 % others)](" in row


def test_a_turn_is_walked_through_in_the_order_in_which_it_went(tmp_path: Path) -> None:
    assert walk(tmp_path).startswith("There is no result")
    moments = {"words": 130.4, "asked": 131.0, "first_token": 150.0, "first_sound": None, "committed": 224.0}
    turns = [
        {"question": q, "first_word_ms": ms, "talked_over": over, "speculated": True, "moments": moments}
        for q, ms, over in (("Late?", 900.0, False), ("Middle?", 300.0, False), ("Over?", 290.0, True))
    ]
    brain = {"ways": {"ours": {"first_word_ms": {"p50": 291.0}}}, "turns": turns}
    save({**told("2026-11-30", quotable=True), "brains": {"script": brain}}, tmp_path)
    lines = walk(tmp_path).splitlines()
    assert lines[0].startswith("“Middle?”, with the script brain; the answer was prepared while")
    assert [line.split("|")[1].strip() for line in lines[5:]] == ["130", "131", "150", "224", "300"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_have_the_figures_of_the_results(path: Path) -> None:
    before = path.read_text(encoding="utf-8")
    assert with_figures(before, DOCUMENTS[path]) == before, "make them again: python -m benchmarks.figures"
