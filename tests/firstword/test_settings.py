"""Settings: what is not understood is refused with a suggestion."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from firstword.app import crowd_of
from firstword.errors import CannotStart, SettingsRefused
from firstword.hearing import canceller_for
from firstword.settings import Settings, load_settings, refuse_unsafe, unknown_names, variable
from llm_door.crowd import Crowd
from sound import Pcm


@pytest.fixture(autouse=True)
def _an_empty_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(variable(name), raising=False)


def test_a_misspelt_variable_stops_the_start_and_says_what_was_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTWORD_PROT", "9000")
    with pytest.raises(SettingsRefused, match="FIRSTWORD_PROT is no setting; did you mean FIRSTWORD_PORT"):
        load_settings()


def test_a_variable_of_somebody_else_is_none_of_our_business() -> None:
    assert unknown_names({"SECONDWORD_PORT": "1", "PATH": "/bin"}) == []


def test_a_variable_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "firstword.toml").write_text('port = 9001\nlanguage = "de"\n')
    monkeypatch.setenv("FIRSTWORD_PORT", "9002")
    settings = load_settings()
    assert (settings.port, settings.language) == (9002, "de")


def test_an_unknown_key_in_the_file_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "firstword.toml").write_text("prot = 9001\n")
    with pytest.raises(SettingsRefused, match=r"`prot` in firstword\.toml is no setting; did you mean port"):
        load_settings()


def test_a_file_that_is_not_toml_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "firstword.toml").write_text("port = = 3\n")
    with pytest.raises(SettingsRefused, match=r"firstword\.toml is not TOML"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "value"), [("PORT", "70000"), ("PORT", "many"), ("SESSIONS", "0"), ("LOG_LEVEL", "loud")]
)
def test_a_value_out_of_range_names_its_variable(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"FIRSTWORD_{name}", value)
    with pytest.raises(SettingsRefused, match=f"FIRSTWORD_{name}={value!r}|FIRSTWORD_{name}='{value}'"):
        load_settings()


def test_every_fault_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTWORD_PORT", "many")
    monkeypatch.setenv("FIRSTWORD_SECRTE", "x")
    with pytest.raises(SettingsRefused) as refused:
        load_settings()
    assert len(str(refused.value).splitlines()) == 2


def test_a_list_is_words_with_commas_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTWORD_ALLOWED_ORIGINS", "https://a.example, https://b.example")
    monkeypatch.setenv("FIRSTWORD_PRIVATE_HOSTS", "shop.internal,10.0.0.7")
    assert load_settings().allowed_origins == ("https://a.example", "https://b.example")
    assert load_settings().private_hosts == ("shop.internal", "10.0.0.7")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param({}, "FIRSTWORD_SINGLE_USER=true", id="nobody can sign in"),
        pytest.param(
            {"single_user": True, "host": "0.0.0.0"}, "FIRSTWORD_ALLOW_REMOTE=true", id="everybody is the owner"
        ),
        pytest.param(
            {"single_user": True, "host": "0.0.0.0", "allow_remote": True},
            "is the example one",
            id="the example secret",
        ),
        pytest.param(
            {"single_user": True, "host": "0.0.0.0", "allow_remote": True, "secret": "short"},
            "has 5 characters",
            id="a short secret",
        ),
    ],
)
def test_what_would_open_the_server_to_strangers_is_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsRefused, match=words):
        refuse_unsafe(load_settings(**given))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_one_person_on_loopback_needs_nothing(host: str) -> None:
    refuse_unsafe(load_settings(single_user=True, host=host))


def test_a_secret_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTWORD_LLM_KEY", "canary-key")
    monkeypatch.setenv("FIRSTWORD_PORT", "many")
    with pytest.raises(SettingsRefused) as refused:
        load_settings()
    assert "canary-key" not in str(refused.value)
    monkeypatch.delenv("FIRSTWORD_PORT")
    assert "canary-key" not in repr(load_settings())


def test_signing_in_needs_all_of_its_settings_and_names_what_is_missing() -> None:
    given = {"oidc_issuer": "https://id.example", "oidc_client_id": "firstword", "secret": "s" * 40}
    with pytest.raises(SettingsRefused) as refused:
        refuse_unsafe(load_settings(**given))
    assert "FIRSTWORD_OIDC_CLIENT_SECRET" in str(refused.value)
    assert "FIRSTWORD_PUBLIC_URL" in str(refused.value)
    assert "FIRSTWORD_OIDC_ISSUER" not in str(refused.value)
    refuse_unsafe(load_settings(**given, oidc_client_secret="x", public_url="https://talk.example.org"))


LIVEKIT = {"LIVEKIT_URL": "ws://127.0.0.1:7880", "LIVEKIT_API_KEY": "key", "LIVEKIT_API_SECRET": "canary-secret"}


def test_a_livekit_server_is_named_by_its_own_three_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in LIVEKIT.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert (settings.livekit_url, settings.livekit_api_key) == ("ws://127.0.0.1:7880", "key")
    assert settings.livekit_api_secret.get_secret_value() == "canary-secret"


def test_the_file_names_it_too(tmp_path: Path) -> None:
    lines = [f'{name.lower()} = "{value}"' for name, value in LIVEKIT.items()]
    (tmp_path / "firstword.toml").write_text("\n".join(lines))
    assert load_settings().livekit_api_key == "key"


@pytest.mark.parametrize("missing", LIVEKIT)
def test_a_partial_livekit_stops_the_start_and_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for name in LIVEKIT.keys() - {missing}:
        monkeypatch.setenv(name, LIVEKIT[name])
    with pytest.raises(SettingsRefused, match=f"LiveKit needs {missing} too") as refused:
        load_settings()
    assert "canary-secret" not in str(refused.value)


def test_sound_through_rooms_that_are_nowhere_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTWORD_LIVEKIT_AUDIO", "true")
    with pytest.raises(SettingsRefused, match="FIRSTWORD_LIVEKIT_AUDIO=true needs LIVEKIT_URL"):
        load_settings()


def test_an_address_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**LIVEKIT, "LIVEKIT_URL": "livekit.example"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsRefused, match="write wss://livekit"):
        load_settings()


def test_a_livekit_variable_with_our_prefix_is_told_its_name() -> None:
    assert unknown_names({"FIRSTWORD_LIVEKIT_URL": "ws://x"}) == [
        "FIRSTWORD_LIVEKIT_URL is no setting; did you mean LIVEKIT_URL?"
    ]


def test_webrtcs_canceller_is_there_where_it_is_wanted_and_refused_in_words_without_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert canceller_for(load_settings()) is None
    monkeypatch.setenv("FIRSTWORD_WEBRTC_CANCELLER", "true")
    made = canceller_for(load_settings())
    assert made is not None
    assert made().clean(Pcm.silence(0.02, 16_000), None).duration_s == 0.02
    monkeypatch.setitem(sys.modules, "voice.canceller", None)
    with pytest.raises(CannotStart, match=r"FIRSTWORD_WEBRTC_CANCELLER.*firstword\[livekit\]"):
        canceller_for(load_settings())


def test_who_may_hold_many_conversations_has_a_stream_for_the_answers_of_each() -> None:
    settings = Settings(single_user=True, sessions_per_person=12, sessions=300)
    crowd = Crowd(crowd_of(settings), lambda: 0.0)
    for _ in range(24):
        assert isinstance(crowd.enter("/v1/realtime", {"person": "owner"}), int)
    assert crowd.enter("/v1/realtime", {"person": "owner"}) == "24 streams of this person are open already"
    assert crowd_of(settings).total == 600
    assert crowd_of(Settings(single_user=True)).per_person == 8
