"""`firstword bench compare`: what got slower is named; the noise of a run is not a difference."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from asr import Ear, Silero, Transcript
from benchmarks.compare import compare
from benchmarks.errors import BenchRefused
from benchmarks.questions import Question
from benchmarks.spread import spread
from benchmarks.turn import OURS, summary, told_of
from firstword.commands.bench import bench
from firstword.talk import Turn
from firstword.testing.clock import run_virtually
from firstword.testing.device import Device
from firstword.testing.lanes import RememberingEngine, VirtualLane
from firstword.testing.room import EchoRoom
from firstword.testing.talks import Talk, hears_with
from firstword.testing.voices import ToneEngine
from sound import Pcm
from sound.noises import hum
from voice.answer import OUT_HZ

# What each stage of the turn takes, in virtual seconds.
COSTS_S = {"words_ms": 0.26, "first_token_ms": 0.2, "first_sound_ms": 0.2}
MACHINE = {"processor": "a processor", "cores": 2}
TURNS = 2


class Toil(VirtualLane):
    """A lane whose jobs take as long as was worked in them, and the clock that they see meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.spent_s = 0.0

    def clock(self) -> float:
        return asyncio.get_running_loop().time() + self.spent_s

    async def run(self, work: Callable[[], Any], *, deadline_s: float | None = None) -> Any:
        async with self._one:
            done = work()
            spent_s, self.spent_s = self.spent_s, 0.0
            await asyncio.sleep(spent_s)
            return done


class Says:
    """A recogniser that hears a whole question in everything, and works `cost_s` for it."""

    name = "says"
    languages = None

    def __init__(self, toil: Toil, cost_s: float) -> None:
        self._toil, self._cost_s = toil, cost_s

    def recognise(self, pcm: Pcm, *, language: str, hint: str = "", word_times: bool = False) -> Transcript:
        self._toil.spent_s += self._cost_s
        return Transcript("What time do you open?", language)

    def warm(self) -> None:
        pass


def slowed(ask: Callable[..., AsyncIterator[Any]], wait_s: float) -> Callable[..., AsyncIterator[Any]]:
    """A door before which somebody waits."""

    async def after(*args: Any, **how: Any) -> AsyncIterator[Any]:
        await asyncio.sleep(wait_s)
        async for said in ask(*args, **how):
            yield said

    return after


async def _turns(costs_s: dict[str, float]) -> list[Turn]:
    """Turns of the real session on virtual time, each stage as slow as it is told to be."""
    engine = RememberingEngine(ToneEngine(), sample_rate_hz=ToneEngine().sample_rate_hz)
    silero, turns = Silero(), []
    for seed in range(TURNS):
        toil = Toil()
        ear = Ear(Says(toil, costs_s["words_ms"]), toil, silero=silero, clock=toil.clock)
        talk = Talk(
            Device(EchoRoom(gain=0.0, delay_s=0.0, rate_hz=OUT_HZ)),
            answers=["At nine."],
            engine=engine,
            listener=hears_with(ear),
            lane=VirtualLane(job_s=costs_s["first_sound_ms"]),
        )
        talk.door.ask = slowed(talk.door.ask, costs_s["first_token_ms"])  # type: ignore[method-assign]
        try:
            await talk.run(0.8)
            await talk.say(hum(1.0, 0.3, OUT_HZ, pitch_hz=110.0 + 4 * seed))
            for _ in range(30):
                await talk.run(0.2)
                if talk.of("firstword.trace"):
                    break
            (trace,) = talk.of("firstword.trace")
        finally:
            await talk.close()
        turns.append(Turn(1.0, 10.0, first_sound_at=10.0 + trace["first_word_ms"] / 1000, trace=trace))
    return turns


def result(turns: list[Turn]) -> dict[str, Any]:
    told = {"ways": {OURS: summary(turns)}, "turns": [told_of(Question("When?"), turn) for turn in turns]}
    return {"bench": "turn", "machine": MACHINE, "quotable": True, "brains": {"script": told}}


@pytest.fixture(scope="module")
def before() -> dict[str, Any]:
    return result(run_virtually(_turns(COSTS_S)))


@pytest.mark.parametrize("stage", COSTS_S)
def test_a_stage_that_takes_30_percent_longer_is_named(before: dict[str, Any], stage: str) -> None:
    after = result(run_virtually(_turns({**COSTS_S, stage: COSTS_S[stage] * 1.3})))
    told = compare(before, after)
    assert told["slowest"] == stage, told["said"]
    (move,) = [move for move in told["moves"] if move["path"][-1] == stage]
    assert move["ratio"] == pytest.approx(1.3, abs=0.06)
    back = compare(after, before)
    assert back["slowest"] is None
    assert back["said"].startswith("Nothing got slower")


def first_words(*values_ms: float, foreign: float = 2.0) -> dict[str, Any]:
    streamed = {"p50": 60.0, "n": 9, "p25": 59.0, "p75": 61.0}
    return {
        "bench": "first-word", "machine": MACHINE, "foreign_cpu_percent": foreign, "quotable": foreign <= 10,
        "engines": {"piper": {"a text": {"one_piece_ms": spread(values_ms), "streamed_ms": streamed, "ratio": 0.1}}},
    }  # fmt: skip


def test_what_lies_within_the_noise_of_the_runs_has_not_moved() -> None:
    wide, tight = [200.0, 900.0, 500.0, 700.0, 300.0], [499.0, 500.0, 501.0, 500.0, 500.0]
    noisy = compare(first_words(*wide), first_words(*(1.3 * value for value in wide)))
    assert {move["moved"] for move in noisy["moves"]} == {"same"}
    clear = compare(first_words(*tight), first_words(*(1.3 * value for value in tight)))
    (moved,) = [move for move in clear["moves"] if move["moved"] == "slower"]
    assert moved["path"] == ["engines", "piper", "a text", "one_piece_ms"]
    assert clear["slowest"] is None, "the plain way is not ours"


def test_a_busy_machine_and_another_machine_are_said() -> None:
    other = {**first_words(500.0, foreign=41.5), "machine": {**MACHINE, "cores": 8}}
    caveats = compare(first_words(500.0), other)["caveats"]
    assert caveats == [
        "the second was taken on a busy machine (others used 41.5 %; 10 % is the most)",
        "they differ in machine: cores 2 and 8",
    ]


def test_the_command_names_the_stage_and_refuses_what_it_cannot_compare(tmp_path: Path) -> None:
    slow = copy.deepcopy(first_words(500.0))
    slow["engines"]["piper"]["a text"]["streamed_ms"].update(p50=80.0, p25=79.0, p75=81.0)
    files = {"a": first_words(500.0), "b": slow, "other": {**slow, "bench": "core"}, "no": {"not": "one"}}
    for name, told in files.items():
        (tmp_path / name).write_text(json.dumps(told))
    said = CliRunner().invoke(bench, ["compare", str(tmp_path / "a"), str(tmp_path / "b")])
    assert said.output.splitlines()[-1] == "Slower: streamed (piper, a text): 60 to 80 ms, +33%."
    for name, why in (("other", "different benchmarks"), ("no", "is no result"), ("none", "cannot be read")):
        refused = CliRunner().invoke(bench, ["compare", str(tmp_path / "a"), str(tmp_path / name)])
        assert isinstance(refused.exception, BenchRefused)
        assert why in str(refused.exception)
