"""`firstword bench peers`: the loudspeaker, what is counted, the refusal, and our own half in its smallest form."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx2
import numpy as np
import pytest

from benchmarks.errors import BenchRefused
from benchmarks.figures import beside
from benchmarks.history import save
from benchmarks.peers import systems
from benchmarks.peers.bench import measure, summary, table
from benchmarks.peers.brain import serving_brain
from benchmarks.peers.loudspeaker import RATE_HZ, Loudspeaker
from benchmarks.peers.scenes import LINES, Seen, end_of_speech_s, onset_of_s, read_wrongly
from benchmarks.peers.systems import SYSTEMS, refuse_unprepared
from firstword.settings import load_settings


def tone(seconds: float, level: float = 0.5) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.full(round(seconds * RATE_HZ), level, dtype=np.float32)


def test_a_loudspeaker_plays_at_once_and_one_thing_after_another() -> None:
    heard = Loudspeaker()
    heard.push(tone(0.1), 1.0)
    heard.push(tone(0.1), 1.02)
    heard.push(tone(0.1), 2.0)
    assert heard.first_audible_s(0.0) == 1.0
    assert heard.last_audible_s(1.5) == pytest.approx(1.2)
    assert heard.sounding(2.05)
    assert not heard.sounding(2.2)
    assert np.count_nonzero(heard.between(1.15, 1.25)) == round(0.05 * RATE_HZ)


def test_what_is_cleared_does_not_sound_and_what_is_held_sounds_later() -> None:
    cleared, held = Loudspeaker(), Loudspeaker()
    for heard in (cleared, held):
        heard.push(tone(1.0), 1.0)
    cleared.clear(1.3)
    assert (cleared.last_audible_s(), cleared.broken_off) == (pytest.approx(1.3), 1)
    cleared.clear(9.0)
    assert cleared.broken_off == 1, "there was nothing to break off"
    held.hold(1.3)
    assert not held.between(1.4, 1.6).any()
    held.resume(3.0)
    assert held.last_audible_s() == pytest.approx(3.7)
    assert not held.between(1.4, 2.9).any()
    held.hold(3.2)
    held.clear(3.5)
    assert held.last_audible_s() == pytest.approx(3.2)


def test_speech_has_its_ends_whatever_silence_stands_around_it() -> None:
    speech = np.concatenate([tone(0.4, 0.0), tone(0.5), tone(0.3, 0.0)])
    assert (onset_of_s(speech), end_of_speech_s(speech)) == (pytest.approx(0.4), pytest.approx(0.9))


@pytest.mark.parametrize(
    ("line", "heard", "wrong"),
    [
        (0, "The gate is always open.", False),
        (0, "The gate is asterisk asterisk always asterisk open.", True),
        (2, "It costs $12.50 a day.", False),
        (2, "It costs dollar twelve point five zero a day.", True),
        (5, "We meet at 2.30 in room 5.", False),
        (6, "Read the plan first.", False),
        (6, "Read the plan, https example first.", True),
        (7, "It is 20 degrees, about 50% humid.", False),
    ],
)
def test_a_text_is_read_wrongly_where_a_word_is_missing_or_a_mark_is_spoken(line: int, heard: str, wrong: bool) -> None:
    assert read_wrongly(LINES[line], heard) is wrong


def test_the_summary_counts_each_scene(tmp_path: Path) -> None:
    seen = Seen([400.0, None, 500.0], [False, True, False], [False, True, False], [300.0, None], [True], [False], [0])
    told = summary(SYSTEMS[1], seen, [(LINES[0].text, "star star always")])
    counted = {"questions": 3, "unanswered": 0, "paused": 1, "cut_off": 1, "not_stopped": 1, "coughs_lost": 1,
               "echoes_interrupted": 0, "lines_wrong": 1}  # fmt: skip
    assert {name: told[name] for name in counted} == counted
    assert told["settings"] == "its defaults"
    result = {"bench": "peers", "systems": {"pipecat defaults": told}, "peer_versions": {"pipecat-ai": "1"}}
    assert "1/3" in table(result)
    save({**result, "at": "2026-11-30", "machine": {"processor": "Any", "cores": 2}, "quotable": True}, tmp_path)
    assert "| pipecat defaults | 450 (495) | 1 of 1 | 300 | 1 of 1 | 0 of 1 | 1 of 1 |" in beside(tmp_path)


def test_the_brain_says_its_script_and_counts_who_asked() -> None:
    async def asked() -> tuple[str, int]:
        async with serving_brain("Nine o'clock.") as (brain, url), httpx2.AsyncClient(trust_env=False) as client:
            told = await client.post(f"{url}/chat/completions", json={"stream": True, "messages": []})
            lines = [line[6:] for line in told.text.splitlines() if line.startswith("data: {")]
            return "".join(json.loads(line)["choices"][0]["delta"].get("content", "") for line in lines), brain.asked

    assert asyncio.run(asked()) == ("Nine o'clock.", 1)


def test_without_the_peers_it_says_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "PYTHON", systems.PROJECT / "nowhere")
    with pytest.raises(BenchRefused, match=r"scripts/peers/setup\.sh"):
        refuse_unprepared()


@pytest.mark.models
@pytest.mark.timeout(180)
def test_our_own_half_runs_in_its_smallest_form() -> None:
    told = asyncio.run(
        measure(
            load_settings(single_user=True), repeats=1, quick=True, told=lambda _line: None, only=["firstword defaults"]
        )
    )
    one = told["systems"]["firstword defaults"]
    assert one["questions"] == one["first_word_ms"]["n"] + one["unanswered"] + one["cut_off"] == 1
