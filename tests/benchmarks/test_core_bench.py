"""The core's benchmark: its sums, and that it runs."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from benchmarks.core import summary as overhead
from benchmarks.core_kill import summary as left
from firstword.commands.bench import bench

WHOLE = [("a", n, "") for n in range(4)]


@pytest.mark.parametrize(
    ("steps", "counted"),
    [
        pytest.param(WHOLE, {"steps": 4, "duplicates": 0, "missing": 0, "beyond": 0}, id="whole"),
        pytest.param(WHOLE[:3], {"steps": 3, "duplicates": 0, "missing": 1, "beyond": 0}, id="one-missing"),
        pytest.param([*WHOLE, WHOLE[0]], {"steps": 5, "duplicates": 1, "missing": 0, "beyond": 0}, id="one-twice"),
        pytest.param([*WHOLE, ("a", 4, "")], {"steps": 5, "duplicates": 0, "missing": 0, "beyond": 1}, id="one-more"),
    ],
)
def test_what_is_wrong_is_counted(steps: list[tuple[str, int, str]], counted: dict[str, int]) -> None:
    found = left({"a": ("done", 2)}, steps, ["a", "a"], 7)
    assert {name: found[name] for name in counted} == counted
    assert (found["runs"], found["done"], found["kills"], found["attempts"], found["called_twice"]) == (1, 1, 7, 2, 1)


def test_the_overhead_is_told_in_milliseconds() -> None:
    assert overhead({"sqlite": [(0.001, 0.002, 0.003)] * 3}, {"sqlite": 812.4}) == {
        "sqlite": {
            "turns": 3,
            "first_event_ms": {"p50": 1.0, "p95": 1.0},
            "first_word_ms": {"p50": 2.0, "p95": 2.0},
            "turn_ms": {"p50": 3.0, "p95": 3.0},
            "turns_per_s": 812,
        }
    }


def test_a_quick_one_runs_and_prints_one_object() -> None:
    printed = CliRunner().invoke(bench, ["core", "--quick", "--json"])
    assert printed.exit_code == 0, printed.output
    found = json.loads(printed.output)
    assert found["machine"]["cores"]
    assert found["databases"]["sqlite"]["turns"] == 20


def test_a_few_runs_are_all_done_though_their_workers_are_killed() -> None:
    printed = CliRunner().invoke(bench, ["core", "--kill", "--quick", "--json"])
    assert printed.exit_code == 0, printed.output
    found = json.loads(printed.output)
    assert {name: found[name] for name in ("runs", "done", "steps", "duplicates", "missing", "called_twice")} == {
        "runs": 8, "done": 8, "steps": 32, "duplicates": 0, "missing": 0, "called_twice": 0,
    }  # fmt: skip
