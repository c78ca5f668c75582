"""`firstword hear`: a session's events folded into utterances, and the command on a real recording."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from commanded import firstword

from asr import Judged, SpeechEnded, SpeechPaused, SpeechStarted, Word, Words
from benchmarks.word_errors import word_errors
from firstword.ear import Utterances
from firstword.house import House
from firstword.settings import load_settings
from firstword.testing.lanes import VirtualLane
from firstword.voices import engine_for
from sound import Pcm, write_wav


def _final(generation: int, text: str, end_s: float) -> Words:
    said = (Word(text, 0.5, end_s, 0.9),)
    return Words("final", 1, generation, text, "en", end_s, said, "complete", 80.0, text)


def test_the_last_generation_of_a_turn_is_what_was_said() -> None:
    guesses: list[tuple[str, str]] = []
    told = Utterances(lambda text, stable: guesses.append((text, stable)))
    for at_s, event in (
        (0.6, SpeechStarted(1, 1, 0.5)),
        (0.9, Words("partial", 1, 1, "I want", "en", 0.9, stable="I")),
        (1.1, SpeechPaused(1, 1, 1.0)),
        (1.2, _final(1, "I want", 1.0)),
        (1.5, SpeechStarted(1, 2, 1.4)),
        (2.1, SpeechPaused(1, 2, 2.0)),
        (2.2, _final(2, "I want tea.", 2.0)),
        (2.24, Judged(1, 2, "complete", "both")),
        (2.25, SpeechEnded(1, 2, 2.0, "complete", 224.0)),
        (5.0, SpeechStarted(2, 1, 4.9)),
        (5.3, SpeechPaused(2, 1, 5.0)),
        (5.3, _final(1, "", 5.0)),
        (5.4, SpeechEnded(2, 1, 5.0, "complete", 224.0)),
    ):
        told.fold(event, at_s)
    (heard,) = told.heard
    assert (heard["text"], heard["start_s"], heard["end_s"]) == ("I want tea.", 0.5, 2.0)
    assert (heard["words_ms"], heard["end_ms"], heard["waited_ms"]) == (200.0, 250.0, 224.0)
    assert (heard["verdict"], heard["decided_by"]) == ("complete", "both")
    assert heard["words"][0]["text"] == "I want tea."
    assert guesses == [("I want", "I")]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    engine = engine_for(load_settings(single_user=True))
    path = tmp_path_factory.mktemp("said") / "two.wav"
    said = [Pcm.join(engine.speak(text)) for text in ("Where is the station?", "I would like to go home.")]
    pause = Pcm.silence(1.6, engine.sample_rate_hz)
    write_wav(path, Pcm.join([Pcm.silence(0.4, engine.sample_rate_hz), said[0], pause, said[1]]))
    return path


@pytest.mark.models
@pytest.mark.parametrize("live", [(), ("--live",)], ids=["at once", "live"])
def test_the_command_gives_text_words_and_timings(recording: Path, live: tuple[str, ...]) -> None:
    told = json.loads(firstword("hear", str(recording), "--json", *live).stdout)
    # The voice says a line a little differently each time, and "where is" is heard as "where's".
    assert word_errors(told["text"], "Where is the station? I would like to go home.")[0] <= 2
    assert [word["text"] for word in told["words"]] == told["text"].split()
    starts = [word["start_s"] for word in told["words"]]
    assert starts == sorted(starts)
    assert told["text"].startswith("Where")
    assert len(told["utterances"]) == 2
    for one in told["utterances"]:
        assert 0 < one["start_s"] < one["end_s"] <= told["duration_s"] + 0.2
        assert one["recognise_ms"] > 0


class InPlace:
    """Lanes without threads: on a busy machine a guess that waits for one comes after the words it guesses at."""

    def lane(self, _name: str) -> VirtualLane:
        return VirtualLane()

    def close(self) -> None:
        pass


@pytest.mark.models
def test_partials_are_shown_as_they_come_and_the_text_stands_alone(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firstword.ear.Lanes", InPlace)
    done = firstword("hear", str(recording), "--live")
    assert "… " in done.stderr
    assert "station" in done.stdout
    assert "…" not in done.stdout


@pytest.mark.models
@pytest.mark.parametrize("how", [("--language", "de"), ("--language", "fr", "--live"), ()])
def test_an_english_recogniser_refuses_another_language_in_words(recording: Path, how: tuple[str, ...]) -> None:
    done = firstword("hear", str(recording), *how, **({} if how else {"FIRSTWORD_LANGUAGE": "es"}))
    assert done.returncode == 2
    assert "does not understand" in done.stderr
    assert "whisper-base" in done.stderr


def test_the_transcriptions_door_hears_the_language_of_the_house() -> None:
    ear = SimpleNamespace(recogniser=None, silero=None)
    house = SimpleNamespace(_ear=ear, _ear_lane=None, settings=load_settings(single_user=True, language="de"))
    assert House.hearing_source(house).language == "de"  # type: ignore[arg-type]
