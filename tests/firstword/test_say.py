"""`firstword say`, and which engine speaks."""

import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from firstword import voices
from firstword.commands.speech import say
from firstword.errors import CannotStart
from firstword.loudspeaker import Loudspeaker
from firstword.settings import load_settings
from firstword.testing.voices import ToneEngine
from firstword.voices import engine_for, engine_names, others_for
from models import WeightsMissing
from sound import Pcm, read_recording
from tts import NoVoice, UnknownVoice

TEXT = "Of course. The shop is open until six."


@pytest.fixture
def tone(monkeypatch: pytest.MonkeyPatch) -> ToneEngine:
    engine = ToneEngine(seconds_per_char=0.01)
    monkeypatch.setattr("firstword.mouth.engine_for", lambda _settings, _name: engine)
    return engine


def said(*words: str, **how: Any) -> Result:
    return CliRunner().invoke(say, words, env={"FIRSTWORD_SINGLE_USER": "true"}, **how)


def test_it_tells_pieces_and_times_and_writes_the_sound(tone: ToneEngine, tmp_path: Path) -> None:
    out = tmp_path / "said.wav"
    report = json.loads(said(TEXT, "--json", "--out", str(out), "--speed", "2", "--engine", "piper").stdout)
    assert [piece["spoken"] for piece in report["pieces"]] == ["Of course.", "The shop is open until six."]
    assert 0 < report["first_sample_ms"] <= report["whole_ms"]
    assert report["duration_s"] == pytest.approx(37 * 0.01 / 2 + 0.12, abs=0.01)
    assert read_recording(out).duration_s == pytest.approx(report["duration_s"], abs=0.001)


def test_a_dash_reads_the_text_from_standard_input(tone: ToneEngine) -> None:
    report = json.loads(said("-", "--json", input=TEXT).stdout)
    assert len(report["pieces"]) == 2


@pytest.mark.parametrize("text", ["…", "🎉", "** --"], ids=["marks", "emoji", "markdown"])
def test_a_text_without_words_is_refused_in_words(tone: ToneEngine, text: str) -> None:
    refused = said(text, "--json")
    assert isinstance(refused.exception, CannotStart)
    assert "holds no words" in str(refused.exception)


def test_an_empty_text_and_nowhere_to_go_are_refused(tone: ToneEngine) -> None:
    assert "the text is empty" in said(" ").output
    assert "--out FILE.wav or --play" in said("Hello.").output


def test_an_unknown_voice_and_an_unknown_engine_are_named_with_the_nearest(tone: ToneEngine) -> None:
    assert isinstance(said("Hello.", "--json", "--voice", "tony").exception, UnknownVoice)
    unknown = said("Hello.", "--json", "--engine", "kokro").exception
    assert "did you mean kokoro?" in str(unknown)
    with pytest.raises(CannotStart, match="there are piper, kokoro, supertonic"):
        engine_names(["zzz"])


class Device(types.ModuleType):
    """`sounddevice` as far as it is used, with a stream that keeps what it is given."""

    class PortAudioError(Exception):
        """A device that cannot be had."""

    def __init__(self, *, missing: bool = False) -> None:
        super().__init__("sounddevice")
        self.played: list[np.ndarray] = []
        self.ended: list[str] = []
        device = self

        class OutputStream:
            def __init__(self, *, samplerate: int, channels: int, dtype: str) -> None:
                if missing:
                    raise device.PortAudioError("no default output")
                assert (samplerate, channels, dtype) == (24_000, 1, "float32")

            def start(self) -> None: ...

            def write(self, samples: np.ndarray) -> None:
                device.played.append(samples)

            def stop(self) -> None:
                device.ended.append("played out")

            def abort(self) -> None:
                device.ended.append("cut off")

            def close(self) -> None: ...

        self.OutputStream = OutputStream


def test_it_is_played_to_the_end_on_a_loudspeaker(tone: ToneEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device()
    monkeypatch.setitem(sys.modules, "sounddevice", device)
    shown = said(TEXT, "--play")
    assert shown.exit_code == 0, shown.exception
    assert len(np.concatenate(device.played)) == round(24_000 * (37 * 0.01 + 0.12))
    assert device.ended == ["played out"]


def test_what_breaks_while_it_plays_cuts_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device()
    monkeypatch.setitem(sys.modules, "sounddevice", device)

    def broken_off() -> None:
        with Loudspeaker(24_000) as loudspeaker:
            loudspeaker.play(Pcm.silence(0.1, 24_000))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    assert device.ended == ["cut off"]


@pytest.mark.parametrize(
    ("module", "words"),
    [
        pytest.param(None, r"firstword\[play\]", id="no extra"),
        pytest.param(Device(missing=True), "no loudspeaker to play on", id="no device"),
    ],
)
def test_no_loudspeaker_is_said_before_anything_is_spoken(
    tone: ToneEngine, monkeypatch: pytest.MonkeyPatch, module: Any, words: str
) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", module)
    with pytest.raises(CannotStart, match=words):
        Loudspeaker(24_000)
    assert isinstance(said(TEXT, "--play").exception, CannotStart)
    assert tone.spoken == []


def test_each_engine_is_refused_in_words_where_its_weights_are_missing(tmp_path: Path) -> None:
    settings = load_settings(models=tmp_path)
    with pytest.raises(WeightsMissing, match="firstword models pull piper-en_US-joe-medium"):
        engine_for(settings)
    with pytest.raises(WeightsMissing, match="firstword models pull kokoro-82m-ja"):
        engine_for(settings, "kokoro")
    with pytest.raises(NoVoice, match="supertonic"):
        engine_for(settings, "supertonic")
    with pytest.raises(NoVoice, match=r"voice\.onnx\.json is missing"):
        engine_for(load_settings(models=tmp_path, voice_model=str(tmp_path)))


def test_an_engine_that_only_bots_name_may_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(models=tmp_path)
    had, refused = others_for(settings, {"piper", "kokoro", "something else"})
    assert had == {}
    assert list(refused) == ["kokoro"]
    assert "firstword models pull kokoro-82m-ja" in refused["kokoro"]
    monkeypatch.setattr(voices, "KokoroEngine", lambda _folder, *, threads: ToneEngine())
    (tmp_path / "kokoro").mkdir()
    had, refused = others_for(load_settings(models=tmp_path, kokoro_model=str(tmp_path / "kokoro")), {"kokoro"})
    assert (list(had), refused) == (["kokoro"], {})
