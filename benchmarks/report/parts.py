"""What each benchmark shows of itself: its figures, charts and tables as HTML. Pure.

It knows the shape of each result, and nothing of pages. The one rule: it shows what was measured and its spread; what
it cannot draw is shown as a table of every stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from benchmarks.compare import stages
from benchmarks.instrument import HEAD
from benchmarks.report.charts import Bar, Fall, boxes, ladder, lines, waterfall

_FALL_KEY = (("wait", "silence waited"), ("words", "understanding"), ("think", "thinking"), ("voice", "making sound"),
             ("heard", "heard"))  # fmt: skip
_WAYS_KEY = (
    ("one", "one piece"),
    ("sentence", "first sentence"),
    ("opening", "opening clause"),
    ("streamed", "streamed"),
)


def turn(result: Mapping[str, Any]) -> str:
    """Waterfalls of every turn, each way beside ours, and first word against cut-offs."""
    told = []
    for brain, found in result["brains"].items():
        first = found["ways"]["ours"]["first_word_ms"]
        told.append(f"<h3>With the {escape(brain)} brain</h3>")
        told.append(
            figures([(first["p50"], "ms", "end of speech to first sound, median"), (first["p95"], "ms", "p95")])
        )
        falls = [fall_of(one) for one in found.get("turns", []) if one["first_word_ms"] is not None]
        if any(fall.bars for fall in falls):
            told.append(key(_FALL_KEY))
            told.append(waterfall(falls, f"Every turn with the {brain} brain, from the end of speech on"))
        rows = [(way, one["first_word_ms"], "ours" if way == "ours" else "") for way, one in found["ways"].items()]
        told.append("<p class=soft>The same turns with one thing switched off at a time:</p>")
        told.append(boxes(rows, f"First word by way of working, {brain} brain"))
    if result.get("waits"):
        points = [(one["wait"], one["first_word_ms"]["p50"] or 0.0) for one in result["waits"]]
        cuts = [(one["wait"], one["talked_over"] + one["reopened"]) for one in result["waits"]]
        told.append(
            "<h3>What patience costs</h3><p class=soft>All waits scaled together: the median first word, and how many "
            "of the turns were taken for over too early.</p>"
        )
        told.append(lines({"first word": points}, "First word over the waits", across="waits scaled by", up="ms"))
        told.append(lines({"too early": cuts}, "Cut-offs over the waits", across="waits scaled by", up="turns"))
    return "".join(told)


def fall_of(one: Mapping[str, Any]) -> Fall:
    """A turn as a row: the moments are ms after the end of speech; those that are missing are not drawn."""
    at = one.get("moments") or {}
    spans = (
        ("wait", 0.0, at.get("committed"), "silence waited"),
        ("words", _less(at.get("words"), one.get("recognise_ms")), at.get("words"), "understanding"),
        ("think", at.get("asked"), at.get("first_token"), "thinking"),
        ("voice", at.get("first_token"), at.get("first_sound"), "making sound"),
    )
    bars = tuple(
        Bar(kind, start, stop, name) for kind, start, stop, name in spans if start is not None and stop is not None
    )
    return Fall(one["question"], bars, one["first_word_ms"])


def _less(at: float | None, ms: float | None) -> float | None:
    return None if at is None or ms is None else at - ms


def first_word(result: Mapping[str, Any]) -> str:
    """A ladder an engine: the ways of each text, on a logarithmic axis."""
    told = []
    for engine, texts in result["engines"].items():
        rows = [
            (name, [(said, _p50(one[f"{way}_ms"]), kind) for way, kind, said in _WAYS]) for name, one in texts.items()
        ]
        told += [f"<h3>{escape(engine)}</h3>", key(_WAYS_KEY), ladder(rows, f"First sound by text, {engine}")]
    return "".join(told)


_WAYS = (("one_piece", "one", "as one piece"), ("sentence_first", "sentence", "first sentence"),
         ("opening", "opening", "opening clause"), ("streamed", "streamed", "streamed"))  # fmt: skip


def listen(result: Mapping[str, Any]) -> str:
    """Ours and the stock call, room by room."""
    rows = [
        (f"{way}, {room}", one["words_ms"], "ours" if way == "ours" else "")
        for way, rooms in result["ways"].items()
        for room, one in rooms.items()
    ]
    goal = result["goal"]
    shown = [
        (goal["words_ratio"], "", "of the stock call's time"),
        (goal["word_errors_more"], "", "points of word errors more"),
    ]
    return figures(shown) + boxes(rows, "Last speech to final words")


def load(result: Mapping[str, Any]) -> str:
    """p95 over people at once, for both orders of the lanes."""
    series = {
        f"by {order}": [(row["conversations"], row["first_word_ms"]["p95"] or 0.0) for row in found["steps"]]
        for order, found in result["lanes"].items()
    }
    rows = [
        (order, row["conversations"], row["first_word_ms"]["p50"], row["first_word_ms"]["p95"], row["underruns"],
         row["server_cores"], row["mib_each"])
        for order, found in result["lanes"].items() for row in found["steps"]
    ]  # fmt: skip
    most = [
        (one["most_without_underrun"], "", f"at once without a gap, {order}") for order, one in result["lanes"].items()
    ]
    header = ("lanes by", "at once", "p50 ms", "p95 ms", "gaps", "cores", "MiB each")
    drawn = lines(series, "First word p95 over conversations at once", across="at once", up="ms p95")
    return figures(most) + drawn + grid(header, rows)


def peers(result: Mapping[str, Any]) -> str:
    """First word side by side, and every other row as a table with the best of each in bold."""
    rows = [
        (name, one["first_word_ms"], "ours" if name.startswith("firstword") else "")
        for name, one in result["systems"].items()
    ]
    names = list(result["systems"])
    table = [
        ("first word, median ms", [one["first_word_ms"]["p50"] for one in result["systems"].values()]),
        ("first word, p95 ms", [one["first_word_ms"]["p95"] for one in result["systems"].values()]),
        *(
            (said, [f"{one[part]} of {one[whole]}" if one[whole] else None for one in result["systems"].values()])
            for part, whole, said in _COUNTED
        ),
        ("barge-in to silence, median ms", [one["silence_ms"]["p50"] for one in result["systems"].values()]),
    ]
    told = "".join(f"<p><b>{escape(name)}</b> <code>{escape(str(one['settings']))}</code></p>"
                   for name, one in result["systems"].items())  # fmt: skip
    settings = f"<details><summary>Settings</summary>{told}</details>"
    return boxes(rows, "First word by system") + best_of(names, table) + settings


_COUNTED = (("cut_off", "questions", "cut off"), ("not_stopped", "interruptions", "not stopped by an interruption"),
            ("coughs_lost", "coughs", "answers lost to a cough"),
            ("echoes_interrupted", "echoes", "interrupted by itself"),
            ("lines_wrong", "lines", "texts read wrongly"))  # fmt: skip


def barge_in(result: Mapping[str, Any]) -> str:
    """What was found and lost, and what fixed thresholds make of the same sound."""
    nobody, people, others = result["nobody"], result["interruptions"], result["noises"]
    per_1000 = 1000 * nobody["self_interruptions"] / nobody["minutes"] if nobody["minutes"] else None
    head = figures([
        (per_1000, "", "self-interruptions in 1,000 minutes"), (_percent(people["found"]), "%", "interruptions found"),
        (people["silence_ms"]["p95"], "ms", "to silence, p95"),
        (_percent(others["answers_lost"]), "%", "answers lost to noises"),
    ])  # fmt: skip
    fixed = [
        (row["threshold"], row["self_interruptions"], row["found"], row["silence_ms"]["p95"], row["answers_lost"])
        for row in result["fixed"]
    ]
    header = ("a fixed threshold at", "self-interruptions", "found", "silence p95 ms", "answers lost")
    return head + grid(header, fixed)


def every_stage(result: Mapping[str, Any]) -> str:
    """Every length of time that a result holds; where it holds none, every figure."""
    rows = [(" · ".join(path).replace("_ms", ""), stage.p50_ms) for path, stage in stages(result)]
    if rows:
        return grid(("stage", "median ms"), rows)
    return grid(("figure", ""), list(_numbers({name: one for name, one in result.items() if name not in HEAD}, ())))


def _numbers(value: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _numbers(inner, (*path, name))
        elif isinstance(inner, int | float):
            yield " · ".join((*path, name)).replace("_", " "), "yes" if inner is True else inner


PARTS: Mapping[str, tuple[str, str, Callable[[Mapping[str, Any]], str]]] = {
    "turn": ("A turn", "End of speech to the first sound, through a real server and a real socket.", turn),
    "first-word": ("First word", "Text handed over to its first audible sample.", first_word),
    "listen": ("Listening", "Last speech to final words, beside the stock faster-whisper call.", listen),
    "load": ("Many at once", "Conversations at the same time, until the first gap in somebody's sound.", load),
    "peers": ("Beside its peers", "The same recordings, voice, recogniser and scripted model.", peers),
    "barge-in": ("Interrupting", "Simulated rooms: who is found, and what is lost.", barge_in),
    "door": ("The door", "What it adds to a model's own first word.", every_stage),
    "core": ("The core", "A turn's cost beside its model.", every_stage),
}


def figures(shown: Sequence[tuple[float | None, str, str]]) -> str:
    """Large numbers with what they are."""
    told = "".join(
        f"<div><b>{'–' if value is None else f'{value:,g}'} <small>{unit}</small></b><span>{escape(said)}</span></div>"
        for value, unit, said in shown
    )
    return f'<div class="figures">{told}</div>'


def key(entries: Sequence[tuple[str, str]]) -> str:
    """What the colours are."""
    return (
        '<div class="key">' + "".join(f'<span><i class="{kind}"></i>{said}</span>' for kind, said in entries) + "</div>"
    )


def grid(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def best_of(names: Sequence[str], rows: Sequence[tuple[str, Sequence[Any]]]) -> str:
    """A table in which the least of each row stands out: for every row here, less is better."""
    body = []
    for said, values in rows:
        counted = [_count(value) for value in values]
        best = min((count for count in counted if count is not None), default=None)
        cells = "".join(
            f"<td{' class=best' if count is not None and count == best else ''}>{_cell(value)}</td>"
            for value, count in zip(values, counted, strict=True)
        )
        body.append(f"<tr><td>{escape(said)}</td>{cells}</tr>")
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *names))
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'


def _count(value: Any) -> float | None:
    if isinstance(value, str):
        part, _, whole = value.partition(" of ")
        return float(part) / float(whole)
    return None if value is None else float(value)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,g}" if isinstance(value, int | float) else escape(str(value))


def _p50(value: Any) -> float:
    return float(value["p50"] if isinstance(value, Mapping) else value)


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 1)
