"""`firstword bench report`: one file that asks nobody for anything and holds every result."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.errors import BenchRefused
from benchmarks.history import save
from benchmarks.report.charts import Bar, Fall, boxes, ladder, lines, waterfall
from benchmarks.report.page import write
from benchmarks.report.parts import PARTS, best_of, fall_of
from benchmarks.spread import spread
from firstword.commands.bench import bench

TURN = {
    "question": "What <is> a bot?", "first_word_ms": 300.0, "recognise_ms": 90.0,
    "moments": {"words": 130.0, "asked": 133.0, "first_token": 150.0, "first_sound": None, "committed": 224.0},
}  # fmt: skip


def turn_result(day: str, median: float) -> dict[str, Any]:
    way = {"first_word_ms": spread([median, median + 90]), "talked_over": 0, "reopened": 1}
    ways = {"ours": way, "without window": way}
    return {
        "bench": "turn", "at": f"{day}T10:00:00+00:00", "machine": {"processor": "A <processor>", "cores": 2},
        "quotable": False, "foreign_cpu_percent": 55.0, "brains": {"script": {"ways": ways, "turns": [TURN]}},
        "waits": [{"wait": 1.0, **ways["ours"]}, {"wait": 2.0, **ways["ours"]}],
    }  # fmt: skip


def test_a_turn_is_drawn_by_its_moments_and_what_is_missing_is_not_drawn() -> None:
    fall = fall_of(TURN)
    assert [(bar.kind, bar.start_ms, bar.stop_ms) for bar in fall.bars] == [
        ("wait", 0.0, 224.0), ("words", 40.0, 130.0), ("think", 133.0, 150.0),
    ]  # fmt: skip
    assert fall.heard_ms == 300.0


def test_every_mark_says_its_figure() -> None:
    assert "ours: median 20 ms, middle half 15 to 25, p95 29" in boxes(
        [("ours", spread([10.0, 20.0, 30.0]), "ours")], "x"
    )
    drawn = waterfall([Fall("q", (Bar("wait", 0.0, 224.0, "silence waited"),), 300.0)], "x")
    assert "silence waited: 0 to 224 ms" in drawn
    assert "heard after 300 ms" in drawn
    assert "a text, streamed: 65 ms" in ladder([("a text", [("streamed", 65.0, "streamed")])], "x")
    assert "by deadline: 8 at once, 400 ms" in lines(
        {"by deadline": [(1, 300), (8, 400)]}, "x", across="at once", up="ms"
    )


@pytest.mark.parametrize(
    "empty", [boxes([], "x"), waterfall([], "x"), ladder([], "x"), lines({}, "x", across="", up="")]
)
def test_nothing_draws_nothing(empty: str) -> None:
    assert empty == ""


def test_the_least_of_a_row_stands_out() -> None:
    drawn = best_of(["a", "b", "c"], [("lost", ["1 of 5", "0 of 5", None])])
    assert "<td class=best>0 of 5</td>" in drawn
    assert drawn.count("class=best") == 1


def test_the_page_holds_every_result_and_asks_nobody(tmp_path: Path) -> None:
    for day, median in (("2026-11-01", 300.0), ("2026-11-30", 280.0)):
        save(turn_result(day, median), tmp_path)
    save({**turn_result("2026-11-30", 1.0), "bench": "something else", "brains": {}, "waits": [], "kills": 7}, tmp_path)
    done = CliRunner().invoke(bench, ["report", str(tmp_path), "--out", str(tmp_path / "all.html")])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "all.html").read_text(encoding="utf-8")
    assert not re.search(r"https?:|<script|<link|@import|url\(|src=", page)
    assert "What &lt;is&gt; a bot?" in page
    assert "<processor>" not in page
    assert "Not to be quoted: others used 55 %" in page
    assert "Runs of 2026-11-01, 2026-11-30." in page
    assert "kills" in page


def test_the_projects_own_results_are_all_drawn(tmp_path: Path) -> None:
    from benchmarks.history import RESULTS, standing

    page = write(RESULTS, tmp_path / "own.html").read_text(encoding="utf-8")
    for name, (title, _, _) in PARTS.items():
        assert (f"<h2>{title}</h2>" in page) is (standing(name, RESULTS) is not None)


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    for folder, why in ((tmp_path, "no results"), (tmp_path / "none", "is no folder")):
        with pytest.raises(BenchRefused, match=why):
            write(folder, tmp_path / "out.html")
