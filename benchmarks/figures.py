"""The README's figures, made from the results: `python -m benchmarks.figures`.

It quotes and judges nothing. The one rule: every figure stands beside the machine and the day it was taken on, and one
that was taken on a busy machine says so; what has no result has no row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.errors import BenchRefused
from benchmarks.history import RESULTS, standing

README = Path(__file__).parent.parent / "README.md"
_BLOCK = re.compile(r"(<!-- figures[^>]*-->\n).*?(<!-- /figures -->)", re.DOTALL)
_HEADER = "| what | against | ratio | milliseconds | taken |\n|---|---|---|---|---|"

Row = tuple[str, str, str, str]


def renew(readme: Path = README, folder: Path = RESULTS) -> bool:
    """Write the figures into `readme`; gives whether anything changed. Raises `BenchRefused` without the marks."""
    if not readme.exists():  # installed without the repository around it
        return False
    before = readme.read_text(encoding="utf-8")
    after = with_figures(before, table(folder))
    if after != before:
        readme.write_text(after, encoding="utf-8")
    return after != before


def with_figures(text: str, figures: str) -> str:
    """`text` with `figures` between the marks."""
    if not _BLOCK.search(text):
        raise BenchRefused("the README has no place for figures: <!-- figures --> and <!-- /figures -->")
    return _BLOCK.sub(lambda found: f"{found[1]}{figures}\n{found[2]}", text)


def table(folder: Path = RESULTS) -> str:
    """A markdown table with the rows of every benchmark that has a result."""
    lines = [_HEADER]
    for bench, rows in _ROWS.items():
        found = standing(bench, folder)
        if found is not None:
            path, result = found
            taken = _taken(result, path.relative_to(folder))
            lines += [f"| {' | '.join((*row, taken))} |" for row in rows(result)]
    return "\n".join(lines)


def _taken(result: Mapping[str, Any], path: Path) -> str:
    day = result.get("at", "")[:10] or "on an unknown day"
    machine = result["machine"]
    foreign = result.get("foreign_cpu_percent")
    busy = "" if result.get("quotable") else f", busy ({foreign:g} % others)" if foreign is not None else ", busy"
    return f"[{day}, {machine['processor']}, {machine['cores']} cores{busy}](benchmarks/results/{path.as_posix()})"


def _turn(result: Mapping[str, Any]) -> list[Row]:
    rows = []
    for brain, found in result["brains"].items():
        first = found["ways"]["ours"]["first_word_ms"]
        over = found["ratios"]
        rows.append(
            (
                f"end of speech to the first audible sample, {brain} brain (`bench turn`)",
                ", ".join(f"{way}" for way in over),
                ", ".join(f"{ratio:.2f}" for ratio in over.values() if ratio is not None),
                f"{first['p50']:.0f}, p95 {first['p95']:.0f}",
            )
        )
    return rows


def _first_word(result: Mapping[str, Any]) -> list[Row]:
    return [
        (
            f"first sound of a {texts['four sentences']['characters']}-character answer, {engine} (`bench first-word`)",
            "the answer made as one piece",
            f"{texts['four sentences']['ratio']:.2f}",
            f"{texts['four sentences']['streamed_ms']['p50']:.0f}",
        )
        for engine, texts in result["engines"].items()
        if "four sentences" in texts
    ]


def _listen(result: Mapping[str, Any]) -> list[Row]:
    goal, ours = result["goal"], result["ways"]["ours"]["all"]
    return [
        (
            "last speech to final words (`bench turn --stage listen`)",
            f"the stock faster-whisper call, {goal['word_errors_more']:+g} points of word errors",
            f"{goal['words_ratio']:.2f}",
            f"{ours['words_ms']['p50']:.0f}",
        )
    ]


def _core(result: Mapping[str, Any]) -> list[Row]:
    turn = result["databases"]["sqlite"]["turn_ms"]
    return [("what the core adds to a turn beside its model (`bench core`)", "", "", f"{turn['p50']:.1f}")]


def _load(result: Mapping[str, Any]) -> list[Row]:
    ours = result["lanes"]["deadline"]
    at = ours["at_goal"]
    return [
        (
            f"first word with {at['conversations']} conversations at once, p95 (`bench load`)",
            "one conversation's",
            f"{at['p95_ratio']:.2f}",
            f"{at['first_word_ms']['p95']:.0f}",
        )
    ]


def _peers(result: Mapping[str, Any]) -> list[Row]:
    systems = result["systems"]
    ours = systems["firstword defaults"]["first_word_ms"]["p50"]
    return [
        (
            "end of speech to the first audible sample (`bench peers`)",
            name,
            f"{ours / one['first_word_ms']['p50']:.2f}",
            f"{ours:.0f} against {one['first_word_ms']['p50']:.0f}",
        )
        for name, one in systems.items()
        if not name.startswith("firstword") and one["first_word_ms"]["p50"]
    ]


_ROWS: Mapping[str, Callable[[Mapping[str, Any]], list[Row]]] = {
    "turn": _turn,
    "first-word": _first_word,
    "listen": _listen,
    "core": _core,
    "load": _load,
    "peers": _peers,
}


if __name__ == "__main__":
    renew()
