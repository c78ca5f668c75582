"""`firstword bench turn`: end of speech to the first audible sample, through the real server and a real socket.

The person is a set of recordings made with the server's own voice, eight of them with a pause for thought inside. It
measures what arrives; the split of the wait is the session's own trace, shown beside it. The one rule: every way of
working is a server of its own, all of them up at once and asked in turns, so that a busy machine troubles all alike.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from benchmarks.child import child_server
from benchmarks.machine import head
from benchmarks.questions import QUESTIONS, Question, Spoken, record
from benchmarks.spread import spread
from firstword.house import signer_for
from firstword.settings import Settings
from firstword.talk import Conversation, Turn, converse
from firstword.voices import engine_for

# What can be switched off, each by one setting: the plain way of doing the same work.
WITHOUT: dict[str, dict[str, str]] = {
    "speculation": {"speculation": "false"},
    "window": {"listen_window_s": "30"},
    "streaming": {"streaming": "false"},
}
OURS = "ours"
OVER_LIVEKIT = "over livekit"
_WITHOUT = "without "
BRAINS: dict[str, dict[str, str]] = {"script": {"script_only": "true"}, "local": {}}
# Scales of every wait for the end of a turn, for the curve of first word against cut-offs.
WAITS = (0.5, 0.75, 1.0, 1.5, 2.0)
# The parts of a turn's wait, in the order in which they pass; with speculation they overlap.
PARTS = ("eot_wait_ms", "words_ms", "first_token_ms", "first_sound_ms")
# The first turn of a conversation pays for what later ones do not.
_WARM = Question("Hello there.")


async def measure(
    settings: Settings,
    *,
    bot: str,
    brains: Sequence[str] = tuple(BRAINS),
    without: Sequence[str] = tuple(WITHOUT),
    waits: Sequence[float] = WAITS,
    repeats: int = 1,
    questions: Sequence[Question] = QUESTIONS,
) -> dict[str, Any]:
    """Ask every question `repeats` times in every way; gives the result object.

    `brains` are of `BRAINS`, `without` of `WITHOUT`; `waits` scales the waits for the curve, empty for none.
    """
    warm, *recordings = record(engine_for(settings), [_WARM, *questions])
    ways = {OURS: {}, **{_WITHOUT + name: WITHOUT[name] for name in without}}
    result: dict[str, Any] = {
        "bench": "turn",
        **head(
            threads=settings.engine_threads,
            models={"listen": settings.listen_model, "voice": settings.voice_model, "brain": settings.brain_model},
        ),
        "questions": len(recordings) * repeats,
        "brains": {},
    }
    asked = [recording.question for recording in recordings] * repeats
    for brain in brains:
        told = {way: {**BRAINS[brain], **change} for way, change in ways.items()}
        turns = await _ask_all(settings, told, bot, warm, recordings, repeats)
        result["brains"][brain] = {
            "ways": {way: summary(asked) for way, asked in turns.items()},
            "ratios": ratios(turns),
            "turns": [told_of(question, turn) for question, turn in zip(asked, turns[OURS], strict=True)],
        }
    if waits:
        result["waits"] = await _curve(settings, bot, waits, warm, recordings, repeats)
    return result


async def _ask_all(
    settings: Settings,
    ways: Mapping[str, Mapping[str, str]],
    bot: str,
    warm: Spoken,
    recordings: Sequence[Spoken],
    repeats: int,
) -> dict[str, list[Turn]]:
    """Every recording in every way, in turns; `warm` before them, and nobody counts it."""
    async with contextlib.AsyncExitStack() as opened:
        talking = {}
        for way, change in ways.items():
            base_url = await opened.enter_async_context(child_server(change))
            talking[way] = await opened.enter_async_context(_conversation(settings, base_url, bot))
        return await _in_turns(talking, warm, recordings, repeats)


async def _in_turns(
    talking: Mapping[str, Conversation], warm: Spoken, recordings: Sequence[Spoken], repeats: int
) -> dict[str, list[Turn]]:
    turns: dict[str, list[Turn]] = {way: [] for way in talking}
    for conversation in talking.values():
        await conversation.ask(warm.pcm, only_beginning=True)
    for n in range(repeats * len(recordings)):
        recording = recordings[n % len(recordings)]
        for way, conversation in talking.items():
            turns[way].append(await conversation.ask(recording.pcm, only_beginning=True))
    return turns


async def measure_over_livekit(
    settings: Settings, *, bot: str, repeats: int = 1, questions: Sequence[Question] = QUESTIONS
) -> dict[str, Any]:
    """The same questions over the WebSocket and through a room of a LiveKit server on this machine, with the script.

    A server, a worker and a LiveKit server are all up; one conversation at a time asks. Raises `CannotStart` where no
    LiveKit server is built.
    """
    from benchmarks.in_a_room import in_a_room

    warm, *recordings = record(engine_for(settings), [_WARM, *questions])
    asked = [recording.question for recording in recordings] * repeats
    async with (
        child_server(BRAINS["script"]) as base_url,
        in_a_room(settings, base_url, bot) as room,
        _conversation(settings, base_url, bot) as direct,
    ):
        turns = await _in_turns({OURS: direct, OVER_LIVEKIT: room}, warm, recordings, repeats)
    return {
        "bench": "turn over livekit",
        **head(
            threads=settings.engine_threads,
            models={"listen": settings.listen_model, "voice": settings.voice_model, "brain": "script"},
        ),
        "questions": len(asked),
        "brains": {
            "script": {
                "ways": {way: summary(each) for way, each in turns.items()},
                "ratios": ratios(turns),
                "turns": [told_of(question, turn) for question, turn in zip(asked, turns[OVER_LIVEKIT], strict=True)],
            }
        },
    }


async def _curve(
    settings: Settings, bot: str, waits: Sequence[float], warm: Spoken, recordings: Sequence[Spoken], repeats: int
) -> list[dict[str, Any]]:
    """First word and cut-offs over the waits, with the script: servers that differ in their waits alone."""
    settings_of = {str(scale): {**BRAINS["script"], "wait": str(scale)} for scale in waits}
    turns = await _ask_all(settings, settings_of, bot, warm, recordings, repeats)
    return [{"wait": float(scale), **summary(asked)} for scale, asked in turns.items()]


@contextlib.asynccontextmanager
async def _conversation(settings: Settings, base_url: str, bot: str) -> AsyncIterator[Conversation]:
    grant = signer_for(settings).mint(bot=bot, subject="owner", room="bench")
    async with converse(base_url, grant) as conversation:
        yield conversation


def summary(turns: Sequence[Turn]) -> dict[str, Any]:
    """What came of the turns of one way.

    `talked_over`: an answer was heard before the person had finished. `reopened`: the turn was taken for over too
    early, and nothing of that was heard.
    """
    answered = [turn for turn in turns if turn.first_word_ms is not None]
    parts = {
        part: spread([float(turn.trace[part]) for turn in answered if turn.trace.get(part) is not None])
        for part in PARTS
    }
    return {
        "turns": len(turns),
        "answered": len(answered),
        "talked_over": sum(turn.talked_over for turn in turns),
        "reopened": sum(turn.committed_early and not turn.talked_over for turn in turns),
        "first_word_ms": _first_words(turns),
        "parts": parts,
        "wasted": sum(int(turn.trace.get("wasted", 0)) for turn in turns),
    }


def told_of(question: Question, turn: Turn) -> dict[str, Any]:
    """One turn of ours, for looking at: the moments are the session's own, in ms after the end of speech."""
    return {
        "question": question.text,
        "pause_ms": question.pause_ms,
        "first_word_ms": turn.first_word_ms,
        "talked_over": turn.talked_over,
        "speculated": turn.trace.get("speculated"),
        "wasted": turn.trace.get("wasted"),
        "recognise_ms": turn.trace.get("words_ms"),
        "moments": turn.trace.get("moments", {}),
    }


def ratios(turns: Mapping[str, Sequence[Turn]]) -> dict[str, float | None]:
    """The median first word of our way over that of each other way, in this run: under 1 is sooner."""
    medians = {way: _first_words(asked)["p50"] for way, asked in turns.items()}
    ours = medians.pop(OURS)
    return {way: round(ours / median, 3) if ours and median else None for way, median in medians.items()}


def _first_words(turns: Sequence[Turn]) -> dict[str, Any]:
    return spread([turn.first_word_ms for turn in turns if turn.first_word_ms is not None])


def table(result: dict[str, Any]) -> str:
    """The result as a table for a terminal."""
    columns = f"{'turns':>6}{'p50 ms':>9}{'p95 ms':>9}{'over':>6}{'again':>6}"
    lines = []
    for brain, found in result["brains"].items():
        lines.append(f"{brain + ' brain':24}{columns}" + "".join(f"{part[:-3]:>13}" for part in PARTS))
        lines += [_row(way, summed) + _parts(summed) for way, summed in found["ways"].items()]
        lines.append(
            "ours over: " + ", ".join(f"{way.removeprefix(_WITHOUT)} {ratio}" for way, ratio in found["ratios"].items())
        )
    if result.get("waits"):
        lines.append(f"{'waits scaled by':24}{columns}")
        lines += [_row(str(point["wait"]), point) for point in result["waits"]]
    return "\n".join(lines)


def _row(name: str, summed: Mapping[str, Any]) -> str:
    first = summed["first_word_ms"]
    return (
        f"{name:24}{summed['answered']:>6}{first['p50'] or '-':>9}{first['p95'] or '-':>9}"
        f"{summed['talked_over']:>6}{summed['reopened']:>6}"
    )


def _parts(summed: Mapping[str, Any]) -> str:
    return "".join(f"{summed['parts'][part]['p50'] or '-':>13}" for part in PARTS)
