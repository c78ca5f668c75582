"""Settings: everything a deployment can say, from `FIRSTWORD_*` variables and `firstword.toml`.

They are values; they open nothing. The one rule: what is not understood is refused with a suggestion, never ignored.
"""

from __future__ import annotations

import difflib
import ipaddress
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from firstword.addresses import Address
from firstword.errors import SettingsRefused
from models import default_folder

PREFIX = "FIRSTWORD_"
EXAMPLE_SECRET = "an-example-secret-for-one-person-on-loopback"  # noqa: S105 - refused everywhere else
_SHORTEST_SECRET = 32
# The version of LiveKit's client that scripts/setup.sh fetches.
LIVEKIT_CLIENT = "2.23.0"
_ROOT = Path(__file__).resolve().parent.parent


def _data_home() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def cache_home() -> Path:
    """Where what was fetched or built is kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "firstword"


class Settings(BaseSettings):
    """Each field is a variable `FIRSTWORD_<NAME>` and a key in `firstword.toml`; the variable wins."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, extra="forbid", toml_file="firstword.toml", validate_default=True
    )

    host: str = Field("127.0.0.1", description="address to serve on")
    port: int = Field(8765, ge=0, le=65535, description="port to serve on; 0 takes a free one")
    single_user: bool = Field(False, description="every request is the one owner; only on loopback")
    allow_remote: bool = Field(False, description="let single-user mode serve beyond loopback")
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Host headers to accept besides loopback"
    )
    allowed_origins: Annotated[tuple[str, ...], NoDecode] = Field((), description="Origins to accept besides our own")
    private_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="hosts of the owner's own network that a bot's tools may ask"
    )
    oidc_issuer: str = Field("", description="the identity provider people sign in with (OpenID Connect)")
    oidc_client_id: str = Field("", description="who it takes us for")
    oidc_client_secret: SecretStr = Field(SecretStr(""), description="our password with it")
    public_url: str = Field("", description="where people reach this server: https://talk.example.org")
    owners: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="who owns this site: addresses the provider has verified, or its own names for people"
    )
    secret: SecretStr = Field(SecretStr(EXAMPLE_SECRET), description="signs the grants; 32 characters or more")
    older_secrets: Annotated[tuple[SecretStr, ...], NoDecode] = Field((), description="still honoured, for rotation")

    content: Path = Field(_ROOT / "content", description="folder of bots")
    models: Path = Field(default_factory=default_folder, description="folder of weights")
    data: Path = Field(default_factory=lambda: _data_home() / "firstword", description="folder of the default database")
    database_url: str = Field("", description="SQLAlchemy URL; empty is SQLite in the data folder")

    listen_model: str = Field("whisper-tiny.en", description="catalog name of the recogniser")
    language: str = Field("en", min_length=2, description="language heard and spoken unless the bot says another")
    voice_engine: Literal["piper", "kokoro", "supertonic"] = Field("piper", description="the local engine that speaks")
    voice_model: str = Field("piper-en_US-joe-medium", description="Piper's voice: a catalog name, or a folder")
    kokoro_model: str = Field("kokoro-82m-ja", description="Kokoro's weights: a catalog name, or a folder")
    supertonic: Path | None = Field(None, description="Supertonic's folder; else supertonic-3 beside the other weights")
    brain_model: str = Field("smollm2-135m", description="catalog name of the local language model")
    listen_window_s: float = Field(
        8.0, ge=4.0, le=30.0, description="least seconds a recogniser's window holds; 30 is Whisper's own"
    )
    webrtc_canceller: bool = Field(
        False, description="WebRTC's echo canceller hears the microphone before ours does (needs the extra livekit)"
    )
    wait: float = Field(1.0, ge=0.25, le=4.0, description="scales every bot's waits for the end of a turn")
    speculation: bool = Field(True, description="recognise and think while a person may only be pausing")
    streaming: bool = Field(True, description="hear a piece while the rest of it is made")
    lanes: Literal["deadline", "arrival"] = Field(
        "deadline", description="which work goes first: what is needed soonest, or what came first"
    )
    threads: int = Field(
        0, ge=0, le=64, description="threads an engine uses; 0 is min(4, cores), half of it for Piper and to listen"
    )

    llm_url: str = Field("", description="an address to think with, before the local model")
    llm_key: SecretStr = Field(SecretStr(""), description="its key, or several with commas between, tried in turn")
    llm_model: str = Field("", description="its model")
    llm_shape: Literal["", "openai", "anthropic"] = Field("", description="what it speaks; empty goes by its host")
    llm_price_in: float | None = Field(None, ge=0, description="money for a million tokens that it reads")
    llm_price_out: float | None = Field(None, ge=0, description="money for a million tokens that it writes")
    backups: tuple[Address, ...] = Field((), description="further addresses, in order: [[backups]] in firstword.toml")
    live: bool = Field(False, description="providers that cost money may be asked")
    script_only: bool = Field(False, description="no model is asked; answers come from scripts")

    tts_url: str = Field("", description="an OpenAI-shaped speech address, for bots with `by: endpoint`")
    tts_key: SecretStr = Field(SecretStr(""), description="its key")
    tts_model: str = Field("", description="its model")
    tts_voice: str = Field("", description="its voice")

    ice_servers: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="stun: and turn: addresses that help calls through networks; none on a network of one's own"
    )
    turn_username: str = Field("", description="who the turn: servers take us for")
    turn_credential: SecretStr = Field(SecretStr(""), description="their password; callers are told it")

    # LiveKit's own names, as its server, its clients and its hosting print them.
    livekit_url: str = Field(
        "",
        validation_alias=AliasChoices("LIVEKIT_URL", "livekit_url"),
        description="a LiveKit server whose rooms conversations are held in: ws://host:7880",
    )
    livekit_api_key: str = Field(
        "", validation_alias=AliasChoices("LIVEKIT_API_KEY", "livekit_api_key"), description="its key"
    )
    livekit_api_secret: SecretStr = Field(
        SecretStr(""),
        validation_alias=AliasChoices("LIVEKIT_API_SECRET", "livekit_api_secret"),
        description="its secret",
    )
    livekit_audio: bool = Field(False, description="sound goes through LiveKit's rooms too, not text alone")
    livekit_client: Path = Field(
        default_factory=lambda: cache_home() / f"livekit-client-{LIVEKIT_CLIENT}" / "livekit-client.umd.js",
        description="the file of LiveKit's own client that the page gets; scripts/setup.sh fetches it",
    )
    door_url: str = Field("", description="where `firstword worker` reaches the server; empty is this machine and port")

    sessions: int = Field(32, ge=1, description="conversations at once")
    sessions_per_person: int = Field(4, ge=1, description="conversations at once of one person")
    idle_minutes: float = Field(5, gt=0, description="a conversation without a word ends after so long")
    longest_minutes: float = Field(60, gt=0, description="a conversation lasts so long at most")
    minutes_a_day: float = Field(0, ge=0, description="how long one person may talk in 24 hours; 0 is no limit")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="how much is logged")

    @field_validator(
        "allowed_hosts", "allowed_origins", "private_hosts", "older_secrets", "ice_servers", "owners", mode="before"
    )
    @classmethod
    def _words(cls, value: object) -> object:
        """A variable holds a list with commas between."""
        return tuple(word.strip() for word in value.split(",") if word.strip()) if isinstance(value, str) else value

    @field_validator("ice_servers")
    @classmethod
    def _ice(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            if not one.startswith(("stun:", "stuns:", "turn:", "turns:")):
                raise ValueError(f"{one} is no ICE server; write stun:host:port or turn:host:port")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @property
    def database(self) -> str:
        """The SQLAlchemy URL in force."""
        return self.database_url or f"sqlite+aiosqlite:///{self.data / 'firstword.db'}"

    @property
    def heavy_threads(self) -> int:
        """Threads for one engine that needs all it can get; past four they get in one another's way."""
        return self.threads or min(4, os.cpu_count() or 1)

    @property
    def engine_threads(self) -> int:
        """Threads for the ear and for Piper, which run beside one another: half as many.

        Their calls are short and made of hundreds of small steps, and a second thread that is woken for each costs
        nearly what it gives. On two cores tiny.en took 125 ms of a turn with two and 73 with one (medians of 20
        questions); Piper's first window takes 55 ms with one and 50 with two, and leaves a core for somebody else.
        """
        return self.threads or max(1, self.heavy_threads // 2)

    @property
    def engines_at_once(self) -> int:
        """How many engines run at the same time: one that listens and one that speaks, where there are two cores."""
        return min(2, os.cpu_count() or 1)


def load_settings(**given: Any) -> Settings:
    """Read the environment and `firstword.toml`; `given` wins over both. Raises `SettingsRefused` with every fault."""
    faults = unknown_names(os.environ)
    try:
        settings = Settings(**given)
    except ValidationError as refused:
        faults += [_in_words(error) for error in refused.errors()]
    except tomllib.TOMLDecodeError as fault:
        faults.append(f"firstword.toml is not TOML: {fault}")
    else:
        faults += _no_livekit(settings)
    if faults:
        raise SettingsRefused("\n".join(faults))
    return settings


def variable(name: str) -> str:
    """The variable of the setting `name`."""
    alias = Settings.model_fields[name].validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else PREFIX + name.upper()


def unknown_names(environment: Mapping[str, str]) -> list[str]:
    """A sentence for each `FIRSTWORD_*` variable that is no setting."""
    known = [variable(name) for name in Settings.model_fields]
    return [
        f"{name} is no setting{_did_you_mean(bare if (bare := name.removeprefix(PREFIX)) in known else name, known)}"
        for name in sorted(environment)
        if name.startswith(PREFIX) and name not in known
    ]


def refuse_unsafe(settings: Settings) -> None:
    """Raises `SettingsRefused` where serving with these settings would open the server to strangers."""
    faults: list[str] = []
    loopback = _is_loopback(settings.host)
    if not settings.single_user:
        faults += _no_sign_in(settings)
    elif not loopback and not settings.allow_remote:
        faults.append(
            f"FIRSTWORD_HOST={settings.host} would make everybody who reaches it the owner. Use 127.0.0.1, or say "
            "FIRSTWORD_ALLOW_REMOTE=true too."
        )
    secret = settings.secret.get_secret_value()
    if not loopback or not settings.single_user:
        if secret == EXAMPLE_SECRET:
            faults.append("FIRSTWORD_SECRET is the example one; set your own: 32 random characters or more.")
        elif len(secret) < _SHORTEST_SECRET:
            faults.append(f"FIRSTWORD_SECRET has {len(secret)} characters; it needs {_SHORTEST_SECRET} or more.")
    if faults:
        raise SettingsRefused("\n".join(faults))


def _no_sign_in(settings: Settings) -> list[str]:
    """What is missing before people can sign in."""
    named = {
        "FIRSTWORD_OIDC_ISSUER": settings.oidc_issuer,
        "FIRSTWORD_OIDC_CLIENT_ID": settings.oidc_client_id,
        "FIRSTWORD_OIDC_CLIENT_SECRET": settings.oidc_client_secret.get_secret_value(),
        "FIRSTWORD_PUBLIC_URL": settings.public_url,
    }
    missing = [name for name, value in named.items() if not value]
    if len(missing) == len(named):
        return [
            "nobody can sign in: there is no identity provider in these settings. For one person on this machine set "
            "FIRSTWORD_SINGLE_USER=true (./start does)."
        ]
    faults = [f"signing in needs {name} too" for name in missing]
    if settings.public_url and not settings.public_url.startswith(("http://", "https://")):
        faults.append("FIRSTWORD_PUBLIC_URL is no address; write https://talk.example.org")
    return faults


def _no_livekit(settings: Settings) -> list[str]:
    """What is missing before conversations can be held in a LiveKit server's rooms, where somebody asked for that."""
    named = {
        "livekit_url": settings.livekit_url,
        "livekit_api_key": settings.livekit_api_key,
        "livekit_api_secret": settings.livekit_api_secret.get_secret_value(),
    }
    missing = [variable(name) for name, value in named.items() if not value]
    if len(missing) == len(named):
        return ["FIRSTWORD_LIVEKIT_AUDIO=true needs " + ", ".join(missing)] if settings.livekit_audio else []
    faults = [f"LiveKit needs {name} too (set all three, or none of them)" for name in missing]
    if settings.livekit_url and not settings.livekit_url.startswith(("ws://", "wss://", "http://", "https://")):
        faults.append(f"LIVEKIT_URL={settings.livekit_url!r} is no address; write wss://livekit.example.org")
    return faults


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _in_words(error: Mapping[str, Any]) -> str:
    field = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"`{field}` in firstword.toml is no setting{_did_you_mean(field, list(Settings.model_fields))}"
    name = PREFIX + field.upper()
    shown = "" if "secret" in field or "key" in field else f"={error.get('input')!r}"
    return f"{name}{shown}: {error['msg'][:1].lower()}{error['msg'][1:]}"


def _did_you_mean(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else "; `firstword serve --help` lists them"
