"""`firstword bench report DIR`: the results in a folder as one HTML file.

It measures nothing and asks nobody: no script, no font, no picture from elsewhere, so that the file can be sent to
somebody. The one rule: beside every result stand its machine, its day, and whether it may be quoted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.errors import BenchRefused
from benchmarks.history import KEPT, history, load, standing
from benchmarks.noise import verdict
from benchmarks.report.charts import lines
from benchmarks.report.parts import PARTS, every_stage

_STYLE = Path(__file__).parent / "style.css"


def write(folder: Path, out: Path) -> Path:
    """Write the report of the results in `folder` to `out`. Raises `BenchRefused` where there are none."""
    if not folder.is_dir():
        raise BenchRefused(f"{folder} is no folder")
    sections = [*_known(folder), *_unknown(folder)]
    if not sections:
        raise BenchRefused(f"there are no results in {folder}; write one with: firstword bench turn --save {folder}")
    out.write_text(_page(sections), encoding="utf-8")
    return out


def _known(folder: Path) -> list[tuple[str, str, str]]:
    """(anchor, title, HTML) of every benchmark that has a result, in the order in which people ask."""
    found = []
    for bench, (title, lead, draw) in PARTS.items():
        result = standing(bench, folder)
        if result is not None:
            past = _past(folder, bench) if bench in KEPT else ""
            found.append((bench, title, _section(bench, title, lead, result[1], draw(result[1]) + past)))
    return found


def _unknown(folder: Path) -> list[tuple[str, str, str]]:
    """Results that have no drawing of their own: every stage as a table."""
    found = []
    for path in sorted(folder.glob("*.json")):
        result = load(path)
        if result["bench"] not in PARTS:
            drawn = every_stage(result)
            found.append((path.stem, result["bench"], _section(path.stem, result["bench"], path.name, result, drawn)))
    return found


def _past(folder: Path, bench: str) -> str:
    """The median of each run that is kept, oldest first, where there is more than one."""
    runs = history(bench, folder)
    points = [(float(n), median) for n, (_, result) in enumerate(runs, 1) if (median := _median(result)) is not None]
    if len(points) < 2:
        return ""
    days = ", ".join(escape(result["at"][:10]) for _, result in runs)
    drawn = lines({"median": points}, "The median over the runs that are kept", across="runs", up="ms")
    return f"<h3>Over time</h3><p class=soft>Runs of {days}.</p>{drawn}"


def _median(result: Mapping[str, Any]) -> float | None:
    """The figure by which a run of the history is followed."""
    if result["bench"] == "turn":
        brain = next(iter(result["brains"].values()))
        return brain["ways"]["ours"]["first_word_ms"]["p50"]  # type: ignore[no-any-return]
    texts = next(iter(result["engines"].values()))
    return next(iter(texts.values()))["streamed_ms"]["p50"]  # type: ignore[no-any-return]


def _section(anchor: str, title: str, lead: str, result: Mapping[str, Any], drawn: str) -> str:
    machine = result["machine"]
    quiet = "quiet" if result.get("quotable") else "noisy"
    said = result.get("verdict") or verdict(result.get("foreign_cpu_percent"))
    models = ", ".join(f"{name} ({use})" for use, name in result.get("models", {}).items())
    on = f"{machine['processor']}, {machine['cores']} cores, Python {machine.get('python', '?')}"
    versions = ", ".join(f"{name} {version}" for name, version in result.get("versions", {}).items() if version)
    day = result.get("at", "")[:10]
    return (
        f'<section id="{escape(anchor)}"><h2>{escape(title)}</h2><p class="soft">{escape(lead)}</p>'
        f'<p class="verdict {quiet}">{escape(said)}</p>{drawn}'
        f"<details><summary>{escape(' · '.join(part for part in (day, on) if part))}</summary>"
        f"<p>{escape(models)}</p><p>{escape(versions)}</p></details></section>"
    )


def _page(sections: Sequence[tuple[str, str, str]]) -> str:
    links = "".join(f'<a href="#{escape(anchor)}">{escape(title)}</a>' for anchor, title, _ in sections)
    body = "".join(section for _, _, section in sections)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Firstword, measured</title>'
        f"<style>{_STYLE.read_text(encoding='utf-8')}</style></head><body><header><h1>How soon is the first word?</h1>"
        '<p class="lead">Measured from where a person sits: from the end of their speech to the first sound that they '
        "hear. A box is the middle half of the measurements, the line in it the median, the whisker goes from least "
        "to the 95th percentile. Point at anything for its figure.</p>"
        f"<nav>{links}</nav></header>{body}<footer>Compare only inside one run, and quote a figure only beside its "
        "machine.</footer></body></html>\n"
    )
