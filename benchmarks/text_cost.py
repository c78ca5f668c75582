"""`firstword bench first-word --text`: what the filter and the cut cost on the loop, a call of one token's delta.

No voice and no sound: text through the same filter and cut as a conversation's, in deltas of a token's size, how the
cost grows with the length of an answer, and, on virtual time, when a model of some pace has written an opening. The
one rule: what is counted is this thread's own time on a core, and a call's figure is its least over the rounds, so that
what others do on the machine meanwhile is not counted as ours.
"""

from __future__ import annotations

import re
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.first_word import TEXTS
from benchmarks.machine import head
from benchmarks.said_words import hard_lines
from firstword.testing.clock import VirtualClock
from tts import Cutter, Piece, Speakable

DENSE = Path(__file__).parent / "dense_lines.toml"
ROUNDS = 25
# The goal of a call.
GOAL_US = 200
LENGTHS = (1_000, 10_000, 100_000)
# Tokens a second: the embedded model on one thread of a quiet machine, and slower ones.
PACES = (76, 20, 10, 5)
_PACED = ("four sentences", "clause at 60")
_SHORT = "When the ferry is late, we wait in the small room above the bar."
# A word's beginning with the space before it, or up to four characters more of it: 4.3 characters on average.
_TOKEN = re.compile(r"\s*\S{1,4}|\s+")
_PROSE = " ".join(TEXTS[name].words for name in ("four sentences", "clause at 60", "no clause")) + " "


def answers() -> dict[str, list[tuple[str, str]]]:
    """(language, answer) by kind: the lines of both files one by one, and those of a language as one long answer."""
    dense: Mapping[str, Sequence[str]] = tomllib.loads(DENSE.read_text("utf-8"))
    return {
        "plain": [("en", line) for line in [*hard_lines(), *(text.words for text in TEXTS.values())]],
        "dense": [(language, line) for language, lines in dense.items() for line in lines],
        "long": [
            ("en", " ".join(hard_lines())),
            *((language, "\n\n".join(lines)) for language, lines in dense.items()),
        ],
    }


def deltas(text: str) -> list[str]:
    """`text` in deltas of a token's size."""
    return _TOKEN.findall(text)


def measure_text(*, rounds: int = ROUNDS, lengths: Sequence[int] = LENGTHS) -> dict[str, Any]:
    """Microseconds a call by kind of answer and for the readings of pieces, and microseconds a character by length."""
    kinds = answers()
    _round(kinds)  # warm: tables are loaded, patterns compiled
    taken = [_round(kinds) for _ in range(rounds)]
    calls = {kind: np.min([each[kind] for each in taken], axis=0) for kind in kinds}
    readings = np.min([_readings(kinds) for _ in range(rounds)], axis=0)
    return {
        "bench": "first-word --text",
        **head(threads=1, models={}),
        "rounds": rounds,
        "goal_us": GOAL_US,
        "calls": {kind: _spread_us(calls[kind]) for kind in kinds}
        | {"all": _spread_us(np.concatenate([*calls.values()]))},
        "reading_a_piece": _spread_us(readings),
        "opening": {name: _openings(text) for name, text in _paced().items()},
        "linear": {name: _growth(unit, lengths) for name, unit in _units().items()},
    }


def _round(kinds: Mapping[str, Sequence[tuple[str, str]]]) -> dict[str, list[float]]:
    return {
        kind: [taken for language, answer in kinds[kind] for taken in _calls(language, deltas(answer))]
        for kind in kinds
    }


def _calls(language: str, arriving: Sequence[str]) -> Iterator[float]:
    """Seconds of each call with one delta, and of the one at the end."""
    cleaner, cutter = Speakable(), Cutter(language=language)
    for delta in arriving:
        started = time.thread_time()
        cutter.push(cleaner.push(delta))
        yield time.thread_time() - started
    started = time.thread_time()
    cutter.push(cleaner.flush())
    cutter.flush()
    yield time.thread_time() - started


def _readings(kinds: Mapping[str, Sequence[tuple[str, str]]]) -> list[float]:
    """Seconds that it takes to read the numbers of each piece, which the lane does and not the loop."""
    return [
        _reading(piece) for answers in kinds.values() for language, text in answers for piece in _cut(language, text)
    ]


def _cut(language: str, text: str) -> list[Piece]:
    cleaner, cutter = Speakable(), Cutter(language=language)
    return [*cutter.push(cleaner.push(text) + cleaner.flush()), *cutter.flush()]


def _reading(piece: Piece) -> float:
    started = time.thread_time()
    _ = piece.spoken
    return time.thread_time() - started


def _units() -> dict[str, str]:
    dense: Mapping[str, Sequence[str]] = tomllib.loads(DENSE.read_text("utf-8"))
    return {"prose": _PROSE, "numbers": "\n\n".join(dense["en"]) + "\n\n", "no space": "a", "open mark": "word [word "}


def _paced() -> dict[str, str]:
    return {name: TEXTS[name].words for name in _PACED} | {"short sentence": _SHORT}


def _openings(text: str) -> dict[str, dict[str, float]]:
    """Milliseconds from the first token to the opening by tokens a second, with and without hurrying for slow ones."""
    paces = {}
    for pace in PACES:
        ms, waiting_ms = (opening_ms(text, 1 / pace, hurries=hurries) for hurries in (True, False))
        paces[str(pace)] = {"ms": ms, "waiting_ms": waiting_ms, "ratio": round(ms / waiting_ms, 2)}
    return paces


def opening_ms(text: str, token_s: float, *, hurries: bool) -> float:
    """Milliseconds on virtual time until the opening of `text` is there, a token every `token_s` seconds."""
    clock = VirtualClock()
    cleaner, cutter = Speakable(clock=clock), Cutter(clock=clock)
    for n, delta in enumerate(deltas(text)):
        due_s = cutter.due_s if hurries else None
        if due_s is not None and due_s < n * token_s and cutter.due(max(clock(), due_s)):
            return round(max(clock(), due_s) * 1000, 1)
        clock.forward(n * token_s - clock())
        if cutter.push(cleaner.push(delta)):
            break
    return round(clock() * 1000, 1)


def _growth(unit: str, lengths: Sequence[int]) -> dict[str, Any]:
    """Microseconds a character at each length, and the last over the first: 1 where the cost is linear."""
    each = {}
    for length in lengths:
        arriving = deltas((unit * (length // len(unit) + 1))[:length])
        least_s = min(sum(_calls("en", arriving)) for _ in range(2))
        each[str(length)] = round(least_s / length * 1e6, 2)
    first, last = each[str(lengths[0])], each[str(lengths[-1])]
    return {"us_a_character": each, "ratio": round(last / first, 2)}


def _spread_us(seconds: np.ndarray) -> dict[str, Any]:
    p50, p99 = np.percentile(seconds, [50, 99]) * 1e6
    return {
        "n": len(seconds),
        "p50_us": round(float(p50), 1),
        "p99_us": round(float(p99), 1),
        "max_us": round(float(seconds.max()) * 1e6, 1),
        "over_goal": int((seconds * 1e6 > GOAL_US).sum()),
    }


def text_table(result: dict[str, Any]) -> str:
    """The result for a terminal."""
    rows = {**result["calls"], "a reading": result["reading_a_piece"]}
    lines = [f"{'calls':12}{'n':>8}{'p50 µs':>9}{'p99 µs':>9}{'max µs':>9}{f'over {GOAL_US}':>10}"]
    for name, row in rows.items():
        figures = f"{row['p50_us']:>9}{row['p99_us']:>9}{row['max_us']:>9}{row['over_goal']:>10}"
        lines.append(f"{name:12}{row['n']:>8}{figures}")
    lines.append("")
    for name, paces in result["opening"].items():
        each = "  ".join(f"{pace}/s: {row['ms']:g} ({row['waiting_ms']:g})" for pace, row in paces.items())
        lines.append(f"{name:16}opening after ms at tokens {each}")
    lines.append("")
    for name, grown in result["linear"].items():
        lengths = "  ".join(f"{int(length):,}: {cost} µs" for length, cost in grown["us_a_character"].items())
        lines.append(f"{name:12}a character at {lengths}; ratio {grown['ratio']}")
    lines.append(f"each call its least of {result['rounds']} rounds")
    return "\n".join(lines)
