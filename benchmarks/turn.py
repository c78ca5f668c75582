"""`firstword bench turn`: end of speech to the first audible sample, through the real server and a real socket.

The person is a set of recordings made with the server's own voice. It measures what arrives; the split of the wait is
the session's own trace, shown beside it. The one rule: each way of working is measured in the same run, in turns, so
that a busy machine troubles all of them alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.machine import head
from benchmarks.spread import spread
from firstword.app import create_kept_app
from firstword.house import signer_for
from firstword.serving import serving, until_ready
from firstword.settings import Settings
from firstword.talk import Turn, converse
from firstword.voices import engine_for
from sound import Pcm

QUESTIONS = (
    "What can you do for me?",
    "How do I write a bot of my own?",
    "Where are the models kept?",
    "Can you hear me?",
    "Tell me something about the first word.",
)
# The parts of a turn's wait, in the order in which they pass.
PARTS = ("eot_wait_ms", "words_ms", "first_token_ms", "first_sound_ms")


def record_questions(settings: Settings, questions: Sequence[str] = QUESTIONS) -> list[Pcm]:
    """The questions, spoken by the local voice, each with 300 ms of silence before it and 200 ms after."""
    engine = engine_for(settings)
    recordings = []
    for question in questions:
        rate_hz = engine.sample_rate_hz
        spoken = list(engine.speak(question, language="en"))
        recordings.append(Pcm.join([Pcm.silence(0.3, rate_hz), *spoken, Pcm.silence(0.2, rate_hz)]))
    return recordings


async def measure(
    settings: Settings, *, bot: str, repeats: int, questions: Sequence[str] = QUESTIONS
) -> dict[str, Any]:
    """Ask every question `repeats` times with and without speculation; gives the result object."""
    recordings = record_questions(settings, questions)
    turns: dict[str, list[Turn]] = {"speculating": [], "waiting": []}
    async with serving(lambda base_url: create_kept_app(settings, base_url)) as base_url:
        await until_ready(base_url)
        for round_number in range(repeats):
            for way in turns:
                grant = signer_for(settings).mint(bot=bot, subject="owner", room=f"bench-{round_number}-{way}")
                session = {"firstword": {"events": True, "preempt": way == "speculating"}}
                async with converse(base_url, grant, session=session) as conversation:
                    turns[way] += [await conversation.ask(recording) for recording in recordings]
    return {
        "bench": "turn",
        **head(
            threads=settings.engine_threads,
            models={"listen": settings.listen_model, "voice": settings.voice_model, "brain": settings.brain_model},
        ),
        "ways": {way: _summary(done) for way, done in turns.items()},
        "ratio": _ratio(turns),
    }


def _summary(turns: list[Turn]) -> dict[str, Any]:
    answered = [turn for turn in turns if turn.first_word_ms is not None]
    parts = {
        part: spread([float(turn.trace[part]) for turn in answered if turn.trace.get(part) is not None])
        for part in PARTS
    }
    return {
        "turns": len(turns),
        "answered": len(answered),
        "cut_off": sum(turn.responses > 1 for turn in turns),
        "first_word_ms": spread([turn.first_word_ms for turn in answered if turn.first_word_ms is not None]),
        "parts": parts,
        "wasted": sum(int(turn.trace.get("wasted", 0)) for turn in turns),
    }


def _ratio(turns: dict[str, list[Turn]]) -> float | None:
    """Median first word with speculation over the median without, in this run."""
    medians = [
        spread([turn.first_word_ms for turn in turns[way] if turn.first_word_ms is not None])["p50"]
        for way in ("speculating", "waiting")
    ]
    return round(medians[0] / medians[1], 3) if all(medians) else None


def table(result: dict[str, Any]) -> str:
    """The result as a table for a terminal."""
    lines = [f"{'way':14}{'turns':>6}{'p50 ms':>9}{'p95 ms':>9}" + "".join(f"{part[:-3]:>14}" for part in PARTS)]
    for way, summary in result["ways"].items():
        first = summary["first_word_ms"]
        row = f"{way:14}{summary['answered']:>6}{first['p50'] or '-':>9}{first['p95'] or '-':>9}"
        lines.append(row + "".join(f"{summary['parts'][part]['p50'] or '-':>14}" for part in PARTS))
    machine = result["machine"]
    lines.append(
        f"{machine['processor']}, {machine['cores']} cores, load {result['load_1min']}; "
        f"speculating / waiting = {result['ratio']}"
    )
    return "\n".join(lines)
