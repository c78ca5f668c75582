"""Charts as SVG, by hand: boxes, waterfalls, lines and ladders. Pure; colours are the page's variables.

They draw what they are given and choose nothing. The one rule: every mark has a title that says its figure in words,
and every chart a label for those who cannot see it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

WIDTH = 860
_LABEL, _RIGHT = 250, 70
_PLOT = WIDTH - _LABEL - _RIGHT


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of time in a waterfall row: its class, its ends in ms, and what it is."""

    kind: str
    start_ms: float
    stop_ms: float
    name: str


@dataclass(frozen=True, slots=True)
class Fall:
    """A row of a waterfall: bars, and the moment at which something was heard."""

    label: str
    bars: tuple[Bar, ...]
    heard_ms: float | None


def boxes(rows: Sequence[tuple[str, Mapping[str, Any], str]], label: str) -> str:
    """A box a row: (name, spread, class). Box: the middle half; line: median; whisker: least to p95."""
    drawn = [row for row in rows if row[1].get("p50") is not None]
    if not drawn:
        return ""
    top = _nice(max(spread["p95"] for _, spread, _ in drawn))
    parts = []
    for n, (name, spread, kind) in enumerate(drawn):
        y = 14 + n * 34
        low, high = spread.get("p25") or spread["p50"], spread.get("p75") or spread["p50"]
        said = f"{name}: median {spread['p50']:g} ms, middle half {low:g} to {high:g}, p95 {spread['p95']:g}"
        least, middle = spread.get("min", spread["p50"]), _x(spread["p50"], top)
        parts.append(
            f'<g class="{kind}"><title>{escape(said)}</title>{_name(name, y + 5)}'
            f'<line class="whisker" x1="{_x(least, top)}" x2="{_x(spread["p95"], top)}" y1="{y}" y2="{y}"/>'
            f'<rect class="box" x="{_x(low, top)}" y="{y - 9}" width="{_wide(low, high, top)}" height="18" rx="3"/>'
            f'<line class="median" x1="{middle}" x2="{middle}" y1="{y - 11}" y2="{y + 11}"/>'
            f"{_value(spread['p50'], y + 5)}</g>"
        )
    return _svg("".join(parts), 14 + len(drawn) * 34, top, label)


def waterfall(falls: Sequence[Fall], label: str) -> str:
    """A row a turn: each kind of bar on a line of its own inside it, and a dot where something was heard."""
    if not falls:
        return ""
    top = _nice(max(max([bar.stop_ms for bar in fall.bars] + [fall.heard_ms or 0.0]) for fall in falls))
    kinds = list(dict.fromkeys(bar.kind for fall in falls for bar in fall.bars))
    tall = 7 * len(kinds) + 10
    parts = []
    for n, fall in enumerate(falls):
        y = 6 + n * tall
        parts.append(f"<g>{_name(fall.label, y + tall / 2)}")
        for bar in fall.bars:
            at = y + 3 + 7 * kinds.index(bar.kind)
            start, stop = max(0.0, bar.start_ms), max(0.0, bar.stop_ms)
            said = f"{bar.name}: {bar.start_ms:.0f} to {bar.stop_ms:.0f} ms"
            parts.append(
                f'<rect class="bar {bar.kind}" x="{_x(start, top)}" y="{at}" width="{_wide(start, stop, top)}" '
                f'height="5" rx="2.5"><title>{escape(said)}</title></rect>'
            )
        if fall.heard_ms is not None:
            parts.append(
                f'<circle class="heard" cx="{_x(fall.heard_ms, top)}" cy="{y + tall / 2 - 2}" r="5"><title>heard after '
                f"{fall.heard_ms:.0f} ms</title></circle>{_value(fall.heard_ms, y + tall / 2 + 2)}"
            )
        parts.append("</g>")
    return _svg("".join(parts), 8 + len(falls) * tall, top, label)


def ladder(rows: Sequence[tuple[str, Sequence[tuple[str, float, str]]]], label: str) -> str:
    """A line a row on a logarithmic axis with a dot for each way: (name, ((way, ms, class), …))."""
    values = [ms for _, dots in rows for _, ms, _ in dots if ms > 0]
    if not values:
        return ""
    least, most = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    most = max(most, least + 1)

    def x(ms: float) -> float:
        return round(_LABEL + (math.log10(max(ms, 10**least)) - least) / (most - least) * _PLOT, 1)

    parts = []
    for n, (name, dots) in enumerate(rows):
        y, places = 16 + n * 30, [x(ms) for _, ms, _ in dots]
        parts.append(
            f'<g>{_name(name, y + 5)}<line class="whisker" x1="{min(places)}" x2="{max(places)}" y1="{y}" y2="{y}"/>'
        )
        parts += [_dot(f"dot {kind}", x(ms), y, f"{name}, {way}: {ms:g} ms") for way, ms, kind in dots]
        parts.append("</g>")
    tall = 16 + len(rows) * 30
    ticks = "".join(_tick(x(10**power), tall, f"{10**power:,} ms") for power in range(least, most + 1))
    return _frame(ticks + "".join(parts), tall, label)


def lines(series: Mapping[str, Sequence[tuple[float, float]]], label: str, *, across: str, up: str) -> str:
    """A line a series through (x, y); classes are `series-0`, `series-1`, …"""
    points = [point for one in series.values() for point in one]
    if not points:
        return ""
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    top, tall = _nice(max(y for _, y in points) or 1.0), 260

    def place(x: float, y: float) -> tuple[float, float]:
        share = (x - left) / (right - left) if right > left else 0.5
        return round(60 + share * (WIDTH - 180), 1), round(16 + (1 - y / top) * (tall - 40), 1)

    parts = [
        f'<line class="grid" x1="60" x2="{WIDTH - 120}" y1="{at}" y2="{at}"/>'
        f'<text class="tick" x="52" y="{at + 4}" text-anchor="end">{height:g}</text>'
        for height, at in ((top * n / 4, place(left, top * n / 4)[1]) for n in range(5))
    ]
    parts += [
        f'<text class="tick" x="{place(x, 0)[0]}" y="{tall - 6}" text-anchor="middle">{x:g}</text>'
        for x in sorted({x for x, _ in points})
    ]
    for n, (name, one) in enumerate(series.items()):
        places = [place(x, y) for x, y in one]
        path = " ".join(f"{x},{y}" for x, y in places)
        parts.append(f'<g class="series-{n}"><polyline class="line" points="{path}"/>')
        parts += [
            _dot("dot", px, py, f"{name}: {x:g} {across}, {y:g} {up}")
            for (px, py), (x, y) in zip(places, one, strict=True)
        ]
        parts.append(f'<text class="name" x="{places[-1][0] + 10}" y="{places[-1][1] + 4}">{escape(name)}</text></g>')
    foot = f'<text class="tick" x="{WIDTH - 120}" y="{tall + 14}" text-anchor="end">{escape(across)}</text>'
    head = f'<text class="tick" x="60" y="10">{escape(up)}</text>'
    return _frame("".join(parts) + head + foot, tall + 18, label, axis=0)


def _svg(inner: str, tall: float, top: float, label: str) -> str:
    ticks = "".join(_tick(_x(top * n / 4, top), tall, f"{top * n / 4:g} ms") for n in range(5))
    return _frame(ticks + inner, tall, label)


def _frame(inner: str, tall: float, label: str, *, axis: int = 22) -> str:
    return (
        f'<div class="chart"><svg viewBox="0 0 {WIDTH} {tall + axis:g}" role="img" aria-label="{escape(label)}">{inner}'
        "</svg></div>"
    )


def _dot(kind: str, x: float, y: float, said: str) -> str:
    return f'<circle class="{kind}" cx="{x}" cy="{y}" r="6"><title>{escape(said)}</title></circle>'


def _tick(x: float, tall: float, said: str) -> str:
    return (
        f'<line class="grid" x1="{x}" x2="{x}" y1="0" y2="{tall:g}"/>'
        f'<text class="tick" x="{x}" y="{tall + 16:g}" text-anchor="middle">{said}</text>'
    )


def _name(name: str, y: float) -> str:
    short = name if len(name) <= 34 else name[:33].rstrip() + "…"
    return f'<text class="name" x="{_LABEL - 14}" y="{y:g}" text-anchor="end">{escape(short)}</text>'


def _value(ms: float, y: float) -> str:
    return f'<text class="value" x="{WIDTH - _RIGHT + 12}" y="{y:g}">{ms:,.0f}</text>'


def _x(ms: float, top: float) -> float:
    return round(_LABEL + min(1.0, ms / top) * _PLOT, 1)


def _wide(start: float, stop: float, top: float) -> float:
    return max(2.0, round((min(stop, top) - min(start, top)) / top * _PLOT, 1))


def _nice(value: float) -> float:
    """The next of 1, 2, 4, 6, 8 times a power of ten: a top that is easily halved twice."""
    power = 10 ** math.floor(math.log10(max(value, 1.0)))
    return float(next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= value))
