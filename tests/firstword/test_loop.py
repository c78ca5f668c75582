"""The whole loop on real models: somebody speaks, and hears an answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from commanded import firstword
from prometheus_client.parser import text_string_to_metric_families
from spoken_question import QUESTION, word_errors

from firstword.ear import listen
from firstword.settings import load_settings
from firstword.talk import Turn, converse
from sound import Pcm, read_recording, write_wav

pytestmark = [pytest.mark.models, pytest.mark.timeout(600)]


async def ask(base_url: str, *sounds: Pcm, **session: Any) -> list[Turn]:
    async with httpx2.AsyncClient(trust_env=False) as client:
        started = (await client.post(f"{base_url}/app/voice/guide/start")).json()
    async with converse(base_url, started["grant"], session=session or None) as conversation:
        return [await conversation.ask(sound) for sound in sounds]


def test_talk_hears_the_question_and_writes_an_answer_that_can_be_understood(
    question_file: Path, tmp_path: Path
) -> None:
    # A process of its own: the command brings a whole server with it.
    words = ["talk", str(question_file), "--bot", "guide", "--out", str(tmp_path / "out"), "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "firstword", *words], capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stderr
    (turn,) = json.loads(done.stdout)["turns"]
    assert word_errors(QUESTION, turn["heard"]) == 0
    assert turn["said"]
    assert turn["first_word_ms"] > 0
    answer = read_recording(tmp_path / "out" / "answer-1.wav")
    heard = listen(load_settings(), answer, language="en", live=False, on_partial=None)
    assert word_errors(turn["said"], heard["text"]) < 0.25


async def test_the_receipt_adds_up_and_names_who_answered(house_url: str, question: Pcm) -> None:
    (turn,) = await ask(house_url, question)
    trace = turn.trace
    assert trace["provider"] == "local"
    assert trace["model"] == "smollm2-135m"
    assert trace["verdict"] in {"complete", "unsure", "incomplete"}
    assert trace["first_word_ms"] >= trace["eot_wait_ms"]
    assert trace["tokens"]["completion"] > 0


async def test_silence_is_nobody(house_url: str) -> None:
    (turn,) = await ask(house_url, Pcm.silence(1.0, 16_000))
    assert (turn.heard, turn.said, turn.first_word_ms) == ("", "", None)


async def test_two_questions_are_two_turns_of_one_conversation(house_url: str, question: Pcm) -> None:
    turns = await ask(house_url, question, question)
    assert [word_errors(QUESTION, turn.heard) for turn in turns] == [0, 0]
    assert all(turn.said for turn in turns)


async def test_an_operator_is_told_what_is_and_nothing_of_anybody(house_url: str, question: Pcm) -> None:
    await ask(house_url, question)
    async with httpx2.AsyncClient(trust_env=False, base_url=house_url) as client:
        assert (await client.get("/healthz")).json() == {"ok": True}
        assert (await client.get("/readyz")).json()["ready"] is True
        told = {each.name: each for each in text_string_to_metric_families((await client.get("/metrics")).text)}
    histograms = ("first_word_seconds", "turn_part_seconds", "answer_underruns", "breaker_rest_seconds")
    assert {told[f"firstword_{name}"].type for name in histograms} == {"histogram"}
    assert told["firstword_breaker_openings"].type == "counter"
    counted = [each.value for each in told["firstword_first_word_seconds"].samples if each.name.endswith("_count")]
    assert sum(counted) >= 1
    labels = {label for family in told.values() for sample in family.samples for label in sample.labels}
    assert labels == {"bot", "ending", "le", "of", "part", "provider", "speculated"}


def test_hear_of_silence_is_an_empty_text(tmp_path: Path) -> None:
    write_wav(tmp_path / "silence.wav", Pcm.silence(1.0, 16_000))
    done = firstword("hear", str(tmp_path / "silence.wav"), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["text"] == ""


def test_say_and_hear_are_each_others_inverse(tmp_path: Path) -> None:
    text = "The first word is the only one that anybody waits for."
    said = firstword("say", text, "--out", str(tmp_path / "said.wav"), "--json")
    assert said.returncode == 0, said.stderr
    heard = firstword("hear", str(tmp_path / "said.wav"), "--json")
    assert word_errors(text, json.loads(heard.stdout)["text"]) < 0.2


async def test_the_doors_refuse_without_a_grant(house_url: str) -> None:
    async with httpx2.AsyncClient(trust_env=False) as client:
        for path in ("/v1/chat/completions", "/v1/audio/speech", "/v1/audio/transcriptions"):
            refused = await client.post(house_url + path, json={})
            assert refused.status_code == 401, path
            assert refused.json()["error"]["code"] == "invalid_api_key"
        strange = await client.get(house_url + "/", headers={"Host": "elsewhere.example"})
        assert 400 <= strange.status_code < 500
