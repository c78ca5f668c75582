"""`firstword bench turn --stage window`: what a shorter window of the recogniser saves, and what it costs in words.

The same utterances through our recogniser at each window, guards and all; 30 s is Whisper's own. The one rule: the
windows take turns, utterance by utterance, and the words are counted beside the milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.machine import head
from benchmarks.spread import spread
from benchmarks.utterances import RATE_HZ, lines, spoken
from benchmarks.word_errors import word_errors
from firstword.hearing import recogniser_for
from firstword.settings import Settings
from firstword.voices import engine_for
from sound import Pcm

WINDOWS_S = (4.0, 6.0, 8.0, 12.0, 30.0)
# What the listener keeps before the first word and has after the last one.
_BEFORE, _AFTER = round(0.4 * RATE_HZ), round(0.1 * RATE_HZ)
_LEAD = round(0.6 * RATE_HZ)


def measure(settings: Settings, *, repeats: int, quick: bool, windows_s: Sequence[float] = WINDOWS_S) -> dict[str, Any]:
    """Every utterance of both sets, `repeats` times, at each window; `quick`: two utterances at two windows."""
    said = [*lines("exam"), *lines("practice")][: 2 if quick else None]
    chosen = windows_s[-2:] if quick else windows_s
    engine = engine_for(settings)
    recognisers = {
        window_s: recogniser_for(settings.model_copy(update={"listen_window_s": window_s})) for window_s in chosen
    }
    for recogniser in recognisers.values():
        recogniser.warm()
    taken: dict[float, list[float]] = {window_s: [] for window_s in chosen}
    errors, words = dict.fromkeys(chosen, 0), dict.fromkeys(chosen, 0)
    for line in said:
        utterance = spoken(line, lambda text: Pcm.join(engine.speak(text)))
        heard = Pcm(utterance.samples[_LEAD - _BEFORE : utterance.end + _AFTER], RATE_HZ)
        for n in range(repeats):
            for window_s, recogniser in recognisers.items():
                began_s = time.perf_counter()
                text = recogniser.recognise(heard, language=settings.language).text
                taken[window_s].append((time.perf_counter() - began_s) * 1000)
                if n == 0:
                    wrong, count = word_errors(text, utterance.text)
                    errors[window_s] += wrong
                    words[window_s] += count
    return {
        "bench": "turn --stage window",
        **head(
            threads=settings.engine_threads, models={"listen": settings.listen_model, "voice": settings.voice_model}
        ),
        "utterances": len(said),
        "windows": summary(taken, errors, words),
    }


def summary(
    taken: Mapping[float, Sequence[float]], errors: Mapping[float, int], words: Mapping[float, int]
) -> dict[str, Any]:
    """By window in seconds: the call, its ratio to the longest window's, and word errors in percent."""
    spreads = {window_s: spread(values) for window_s, values in taken.items()}
    longest = spreads[max(spreads)]["p50"]
    return {
        f"{window_s:g}": {
            "call_ms": one,
            "ratio": round(one["p50"] / longest, 3),
            "word_errors": round(100 * errors[window_s] / max(1, words[window_s]), 2),
        }
        for window_s, one in spreads.items()
    }


def table(result: Mapping[str, Any]) -> str:
    """The result for a terminal."""
    rows = [f"{'window s':>9}{'call p50':>10}{'p95':>9}{'ratio':>8}{'errors %':>10}"]
    rows += [
        f"{window:>9}{one['call_ms']['p50']:>10}{one['call_ms']['p95']:>9}{one['ratio']:>8}{one['word_errors']:>10}"
        for window, one in result["windows"].items()
    ]
    return "\n".join([*rows, f"{result['utterances']} utterances; milliseconds"])
