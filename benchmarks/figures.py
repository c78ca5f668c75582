"""The figures of the README and of docs/latency.md, made from the results: `python -m benchmarks.figures`.

It judges nothing. The one rule: every figure stands beside the machine and the day it was taken on; of one that was
taken on a busy machine only the ratio is quoted, which both ways had to bear, unless its clock was virtual; what has no
result has no row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.errors import BenchRefused
from benchmarks.history import RESULTS, standing

_PROJECT = Path(__file__).parent.parent
_Made = Callable[[Path], str]
_HEADER = "| what | against | ratio | milliseconds | taken |\n|---|---|---|---|---|"

Row = tuple[str, str, str, str]


def renew(documents: Mapping[Path, Mapping[str, _Made]] | None = None, folder: Path = RESULTS) -> bool:
    """Write the figures into every document; gives whether anything changed. Raises `BenchRefused` without marks."""
    changed = False
    for path, blocks in (DOCUMENTS if documents is None else documents).items():
        if path.exists():  # else installed without the repository around it
            before = path.read_text(encoding="utf-8")
            after = with_figures(before, blocks, folder)
            if after != before:
                path.write_text(after, encoding="utf-8")
                changed = True
    return changed


def with_figures(text: str, blocks: Mapping[str, _Made], folder: Path = RESULTS) -> str:
    """`text` with what each of `blocks` makes between its marks, `<!-- name -->` and `<!-- /name -->`."""
    for name, made in blocks.items():
        before, begin, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- /{name} -->")
        if not begin or not end:
            raise BenchRefused(f"there is no place for figures: <!-- {name} --> and <!-- /{name} -->")
        text = f"{before}{begin}{made(folder)}\n{end}{after}"
    return text


def table(folder: Path = RESULTS) -> str:
    """A markdown table with the rows of every benchmark that has a result."""
    lines = [_HEADER]
    for bench, rows in _ROWS.items():
        found = standing(bench, folder)
        if found is not None:
            path, result = found
            taken = _taken(result, path.relative_to(folder))
            for what, against, ratio, ms in rows(result):
                quotable = result.get("quotable") or result.get("clock") == "virtual"
                quoted = ms if quotable else "not quoted"
                if ratio or quotable:
                    lines.append(f"| {what} | {against} | {ratio} | {quoted} | {taken} |")
    return "\n".join(lines)


def walk(folder: Path = RESULTS) -> str:
    """The turn that is nearest the median of the standing `bench turn`, moment by moment, as a markdown table."""
    found = standing("turn", folder)
    if found is None:
        return "There is no result of `firstword bench turn` yet."
    path, result = found
    brain, told = list(result["brains"].items())[-1]
    middle = told["ways"]["ours"]["first_word_ms"]["p50"]
    heard = [turn for turn in told["turns"] if turn["first_word_ms"] is not None and not turn["talked_over"]]
    if middle is None or not heard:
        return "The last `firstword bench turn` heard no answer."
    one = min(heard, key=lambda turn: abs(turn["first_word_ms"] - middle))
    at = one["moments"]
    moments = sorted((ms, _MOMENTS[name]) for name, ms in at.items() if ms is not None)
    rows = [f"| {ms:.0f} | {said} |" for ms, said in [*moments, (one["first_word_ms"], "**the person hears it**")]]
    ahead = "prepared while the silence was waited for" if one["speculated"] else "made after the turn was over"
    return "\n".join(
        [
            f"“{one['question']}”, with the {brain} brain; the answer was {ahead}. It is the turn nearest the",
            f"median of {_taken(result, path.relative_to(folder), up='../')}.",
            "",
            "| ms after the last speech | |",
            "|---:|---|",
            *rows,
        ]
    )


def windows(folder: Path = RESULTS) -> str:
    """The recogniser's windows as a markdown table."""
    found = standing("turn --stage window", folder)
    if found is None:
        return "There is no result of `firstword bench turn --stage window` yet."
    path, result = found
    rows = [
        f"| {window} | {one['call_ms']['p50']:.0f} | {one['ratio']:.2f} | {one['word_errors']:.1f} |"
        for window, one in result["windows"].items()
    ]
    return "\n".join(
        [
            "| window, s | a call, ms at the median | of Whisper's own 30 s | word errors, % |",
            "|---:|---:|---:|---:|",
            *rows,
            "",
            f"({result['utterances']} utterances; {_taken(result, path.relative_to(folder), up='../')})",
        ]
    )


def beside(folder: Path = RESULTS) -> str:
    """What `bench peers` found of each system, as a markdown table."""
    found = standing("peers", folder)
    if found is None:
        return "There is no result of `firstword bench peers` yet."
    path, result = found
    return "\n".join(
        [
            "| | first word, ms (p95) | pauses taken for the end | talked over: silent after, ms | coughs that lost an "
            "answer | stopped by its own echo | lines read wrongly |",
            "|---|---:|---:|---:|---:|---:|---:|",
            *(_beside(name, one) for name, one in result["systems"].items()),
            "",
            f"({_taken(result, path.relative_to(folder), up='../')}; "
            + ", ".join(f"{name} {version}" for name, version in result["peer_versions"].items() if name in _PEERS)
            + ")",
        ]
    )


def _beside(name: str, one: Mapping[str, Any]) -> str:
    first, silence = one["first_word_ms"], one["silence_ms"]["p50"]
    cells = [
        f"{first['p50']:.0f} ({first['p95']:.0f})" if first["p50"] is not None else "no answer",
        f"{one['cut_off']} of {one['paused']}",
        f"{silence:.0f}" if silence is not None else "",
        *(
            f"{one[lost]} of {one[of]}" if one[of] else ""
            for lost, of in (("coughs_lost", "coughs"), ("echoes_interrupted", "echoes"), ("lines_wrong", "lines"))
        ),
    ]
    return f"| {name} | {' | '.join(cells)} |"


# The packages of the peers; what else stands beside them in `peer_versions` they share with us.
_PEERS = ("pipecat-ai", "livekit-agents")
_MOMENTS = {
    "words": "the final words of the recogniser are known",
    "asked": "the door is asked for an answer",
    "first_token": "the first token of the answer is there",
    "first_sound": "the first sound of the answer is made",
    "committed": "the silence has lasted long enough: the turn is over, and what is prepared is let go",
    "audible": "the first audible sample is sent",
}


def _taken(result: Mapping[str, Any], path: Path, *, up: str = "") -> str:
    day = result.get("at", "")[:10] or "on an unknown day"
    machine = result["machine"]
    foreign = result.get("foreign_cpu_percent")
    busy = "" if result.get("quotable") else f", busy ({foreign:g} % others)" if foreign is not None else ", busy"
    return f"[{day}, {machine['processor']}, {machine['cores']} cores{busy}]({up}benchmarks/results/{path.as_posix()})"


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
    at = result["lanes"]["deadline"]["at_goal"]
    if at["conversations"] < result["goal"] or at["underruns"]:
        return []
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
    if not ours:
        return []
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


def _barge_in(result: Mapping[str, Any]) -> list[Row]:
    if result.get("clock") != "virtual":  # an older one, which does not say how it was counted
        return []
    nobody, people, others = result["nobody"], result["interruptions"], result["noises"]
    best = max(result["fixed"], key=lambda one: one["found"] - one["answers_lost"])
    return [
        (
            "interruptions found, answers lost to other sounds, interruptions by itself in "
            f"{nobody['minutes']:,.0f} minutes (`bench barge-in`)",
            f"a fixed threshold of {best['threshold']:g}: {best['found']:.1%}, {best['answers_lost']:.1%}, "
            f"{best['self_interruptions']:,}",
            f"{people['found']:.1%}, {others['answers_lost']:.1%}, {nobody['self_interruptions']:,}",
            f"{people['silence_ms']['p95']:.0f} to silence, p95, on a virtual clock",
        )
    ]


_ROWS: Mapping[str, Callable[[Mapping[str, Any]], list[Row]]] = {
    "turn": _turn,
    "first-word": _first_word,
    "listen": _listen,
    "core": _core,
    "load": _load,
    "barge-in": _barge_in,
    "peers": _peers,
}


DOCUMENTS: Mapping[Path, Mapping[str, _Made]] = {
    _PROJECT / "README.md": {"figures": table},
    _PROJECT / "docs" / "latency.md": {"walk": walk, "windows": windows, "beside": beside},
}


if __name__ == "__main__":
    renew()
