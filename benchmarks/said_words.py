"""`firstword bench first-word --words`: what a recogniser understands of hard lines, spoken whole and streamed.

Word for word the two ways say the same; the pieces, windows and trimmed edges of the second must not cost a listener
anything. The one rule: both ways of a line are spoken and heard in the same run by the same voice and recogniser.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from asr import Silero, WhisperRecogniser, hear
from benchmarks.first_word import plain_engine
from benchmarks.machine import head
from benchmarks.word_errors import word_errors
from firstword.hearing import recogniser_for
from firstword.settings import Settings
from firstword.voices import engine_for
from models import Lane, Lanes
from sound import Pcm
from tts import Engine, Speaker, speakable, spoken

LINES = Path(__file__).parent / "hard_lines.toml"
_DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class Said:
    """One line: words in it, and the errors in what was understood of it spoken whole and streamed."""

    line: str
    words: int
    whole: int
    streamed: int


def hard_lines() -> list[str]:
    """The lines of `hard_lines.toml`."""
    lines: list[str] = tomllib.loads(LINES.read_text("utf-8"))["lines"]
    return lines


async def measure_words(settings: Settings, *, lines: Sequence[str] = ()) -> dict[str, Any]:
    """Speak and recognise each line in both ways; gives the result object."""
    engine, recogniser, silero = engine_for(settings), recogniser_for(settings), Silero()
    lanes = Lanes()
    done = []
    try:
        whole = plain_engine(settings, settings.voice_engine)
        for line in lines or hard_lines():
            sound = await lanes.lane("whole").run(lambda line=line: _whole(whole, line))  # type: ignore[misc]
            streamed = await _streamed(engine, lanes.lane("voice"), line)
            heard = [await asyncio.to_thread(_heard, recogniser, silero, way) for way in (sound, streamed)]
            done.append(_said(line, heard))
    finally:
        lanes.close()
    return {
        "bench": "first-word --words",
        **head(
            threads=settings.engine_threads, models={"voice": settings.voice_model, "listen": settings.listen_model}
        ),
        "engine": engine.name,
        **summary(done),
    }


def _said(line: str, heard: Sequence[str]) -> Said:
    # What is compared is what the engine was given: how a number is read is not the recogniser's to judge.
    said = spoken(speakable(line))
    (whole, words), (streamed, _) = (word_errors(each, said) for each in heard)
    return Said(line, words, whole, streamed)


def summary(done: Sequence[Said]) -> dict[str, Any]:
    """Errors and rates of both ways, and the difference in points with the range in which 95 of 100 draws fall.

    The draws are of lines with replacement (a bootstrap), from a fixed seed. `equal` is whether 0 lies in the range.
    """
    words = np.array([said.words for said in done])
    whole = np.array([said.whole for said in done])
    streamed = np.array([said.streamed for said in done])
    drawn = np.random.default_rng(1).integers(0, len(done), (_DRAWS, len(done)))
    differences = 100 * (streamed[drawn].sum(axis=1) - whole[drawn].sum(axis=1)) / words[drawn].sum(axis=1)
    low, high = (round(float(edge), 2) for edge in np.percentile(differences, [2.5, 97.5]))
    return {
        "lines": len(done),
        "words": int(words.sum()),
        "whole": {"errors": int(whole.sum()), "percent": round(100 * float(whole.sum() / words.sum()), 2)},
        "streamed": {"errors": int(streamed.sum()), "percent": round(100 * float(streamed.sum() / words.sum()), 2)},
        "difference_points": round(100 * float((streamed.sum() - whole.sum()) / words.sum()), 2),
        "range_points": [low, high],
        "equal": low <= 0 <= high,
        "apart": [
            {"line": said.line, "whole": said.whole, "streamed": said.streamed}
            for said in done
            if said.whole != said.streamed
        ],
    }


def words_table(result: dict[str, Any]) -> str:
    """The result for a terminal."""
    rows = [f"{way:10}{result[way]['errors']:>5} errors{result[way]['percent']:>8} %" for way in ("whole", "streamed")]
    low, high = result["range_points"]
    verdict = "equal within noise" if result["equal"] else "not equal"
    return "\n".join(
        [
            f"{result['lines']} lines, {result['words']} words, {result['engine']}",
            *rows,
            f"difference {result['difference_points']} points (95 of 100 draws between {low} and {high}): {verdict}",
        ]
    )


def _whole(engine: Engine, line: str) -> Pcm:
    return Pcm.join(list(engine.speak(spoken(speakable(line)))))


async def _streamed(engine: Engine, lane: Lane, line: str) -> Pcm:
    return Pcm.join([frame.pcm async for frame in Speaker(engine, lane).say(line).frames()])


def _heard(recogniser: WhisperRecogniser, silero: Silero, sound: Pcm) -> str:
    padded = Pcm.join([Pcm.silence(0.3, sound.rate_hz), sound, Pcm.silence(0.5, sound.rate_hz)])
    return " ".join(utterance.text for utterance in hear(padded, recogniser, silero, language="en"))
