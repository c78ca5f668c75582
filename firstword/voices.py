"""Who speaks: the local engines, made from the settings by name.

It makes and refuses; it chooses nothing in a conversation. The one rule: an engine that cannot be had is refused in
words that say what to install or to fetch.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, get_args

from firstword.errors import CannotStart
from firstword.settings import Settings
from models import Store
from tts import EndpointEngine, Engine, KokoroEngine, NoVoice, PiperEngine, SupertonicEngine

EngineName = Literal["piper", "kokoro", "supertonic"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)


def engine_for(settings: Settings, name: EngineName | None = None) -> Engine:
    """The local engine `name` (FIRSTWORD_VOICE_ENGINE where it is left out). Raises `WeightsMissing` and `NoVoice`."""
    threads, chosen = settings.heavy_threads, name or settings.voice_engine
    folder = folder_of(settings, chosen)
    match chosen:
        case "piper":
            return PiperEngine(folder, threads=settings.engine_threads, streaming=settings.streaming)
        case "kokoro":
            return KokoroEngine(folder, threads=threads)
        case "supertonic":
            return SupertonicEngine(folder, threads=threads)


def folder_of(settings: Settings, name: EngineName) -> Path:
    """Where the weights of an engine are. Raises `WeightsMissing`."""
    match name:
        case "piper":
            return _folder(settings, settings.voice_model)
        case "kokoro":
            return _folder(settings, settings.kokoro_model)
        case "supertonic":
            return settings.supertonic or settings.models / "supertonic-3"


def engine_names(asked: Iterable[str]) -> tuple[EngineName, ...]:
    """The engines of these names. Raises `CannotStart` for a name that is none, with the nearest."""
    found = []
    for name in asked:
        if name not in ENGINES:
            near = difflib.get_close_matches(name, ENGINES, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(ENGINES)}"
            raise CannotStart(f"there is no engine {name!r}; {hint}")
        found.append(ENGINES[ENGINES.index(name)])
    return tuple(found)


def endpoint_for(settings: Settings) -> EndpointEngine | None:
    """The speech endpoint that was named, or None."""
    if not settings.tts_url:
        return None
    return EndpointEngine(
        settings.tts_url,
        key=settings.tts_key.get_secret_value(),
        model=settings.tts_model,
        voice=settings.tts_voice,
    )


def others_for(settings: Settings, named: set[str]) -> tuple[dict[str, Engine], dict[str, str]]:
    """The engines that bots name beside the house's own: those that can be had, and why the others cannot."""
    had: dict[str, Engine] = {}
    refused: dict[str, str] = {}
    for name in ENGINES:
        if name not in named or name == settings.voice_engine:
            continue
        try:
            had[name] = engine_for(settings, name)
        except (NoVoice, RuntimeError) as fault:
            refused[name] = str(fault)
    return had, refused


def _folder(settings: Settings, named: str) -> Path:
    """A folder where that is what was named, else the catalog's weights of that name."""
    folder = Path(named).expanduser()
    return folder if folder.is_absolute() else Store(settings.models).path(named)
