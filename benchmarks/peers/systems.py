"""The systems: how each is started, and with which settings, at its defaults and as fast as is safe.

It measures nothing. The one rule: a setting is one that the system's own documentation offers, and every one that is
not the default is printed in the result.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmarks.child import child_server
from benchmarks.errors import BenchRefused
from benchmarks.peers.person import Person, sitting_before
from firstword.hearing import store_for
from firstword.house import signer_for
from firstword.settings import Settings
from firstword.testing.ports import free_port

PROJECT = Path(__file__).parent.parent.parent
SCRIPTS = PROJECT / "scripts" / "peers"
PYTHON = PROJECT / ".venv-peers" / "bin" / "python"
_START_S = 180.0
_BOT = "---\nname: Script\nsurfaces: [voice]\nvoice:\n  language: en\n---\nYou answer.\n"
_PACKAGES = ("pipecat-ai", "livekit-agents", "faster-whisper", "ctranslate2", "piper-tts", "onnxruntime")
# The catalog's folders hold a Piper voice under this name.
_VOICE_FILE = "voice"


@dataclass(frozen=True, slots=True)
class System:
    """A way of working of one of the three. `settings` are those that are not its defaults."""

    name: str
    kind: Literal["firstword", "pipecat", "livekit"]
    settings: Mapping[str, Any] = field(default_factory=dict)


SYSTEMS = (
    System("firstword defaults", "firstword"),
    System("pipecat defaults", "pipecat"),
    System("livekit defaults", "livekit"),
    # Waits scaled to three quarters: near the least that a fluent speaker comes to by themselves. What it cuts off is
    # for this benchmark to show.
    System("firstword fast", "firstword", {"wait": 0.75}),
    # Chunks half as long; Smart Turn's fallback after 1 s rather than 3; Markdown taken out. Its VAD warns below 0.2 s.
    System(
        "pipecat fast",
        "pipecat",
        {"transport": {"audio_out_10ms_chunks": 2}, "smart_turn_stop_s": 1.0, "filter_markdown": True},
    ),
    System(
        "livekit fast",
        "livekit",
        {
            "turn_handling": {
                "endpointing": {"min_delay": 0.2, "max_delay": 1.0},
                "preemptive_generation": {"enabled": True, "preemptive_tts": True},
            }
        },
    ),
)
# What the peers' scripts are told where a system says nothing.
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "pipecat": {"transport": {}, "smart_turn_stop_s": None, "filter_markdown": False},
    "livekit": {"turn_handling": {}},
}


def refuse_unprepared() -> None:
    """Raises `BenchRefused` where the peers are not installed."""
    if not SCRIPTS.is_dir():
        raise BenchRefused("the peers' scripts are in the repository, not in the package; run this from a checkout")
    if not PYTHON.exists():
        raise BenchRefused(f"the peers are not installed; run {SCRIPTS.relative_to(PROJECT)}/setup.sh (about 1 GB)")


def versions() -> dict[str, str]:
    """What the peers run with."""
    listed = subprocess.run(  # noqa: S603 - the peers' own Python
        [str(PYTHON), "-m", "pip", "list", "--format", "json"], capture_output=True, check=True, text=True
    )
    found = {one["name"]: one["version"] for one in json.loads(listed.stdout)}
    return {name: found[name] for name in _PACKAGES if name in found}


@contextlib.asynccontextmanager
async def started(system: System, settings: Settings, brain_url: str) -> AsyncIterator[Person]:
    """A person before the started system."""
    if system.kind == "firstword":
        async with _ours(system, settings, brain_url) as person:
            yield person
    else:
        async with _peer(system, settings, brain_url) as person:
            yield person


@contextlib.asynccontextmanager
async def _ours(system: System, settings: Settings, brain_url: str) -> AsyncIterator[Person]:
    with tempfile.TemporaryDirectory(prefix="firstword-peers-") as folder:
        (Path(folder) / "bots").mkdir()
        (Path(folder) / "bots" / "script.md").write_text(_BOT, encoding="utf-8")
        told = {name: str(value) for name, value in system.settings.items()}
        told |= {"content": folder, "llm_url": brain_url, "llm_model": "script"}
        async with child_server(told) as base_url:
            grant = signer_for(settings).mint(bot="script", subject="owner", room="bench")
            async with sitting_before(base_url.replace("http", "ws", 1) + "/v1/realtime", grant=grant) as person:
                yield person


@contextlib.asynccontextmanager
async def _peer(system: System, settings: Settings, brain_url: str) -> AsyncIterator[Person]:
    store = store_for(settings)
    port = free_port()
    told = {
        **_DEFAULTS[system.kind],
        **system.settings,
        "port": port,
        "llm": brain_url,
        "voice": str(store.path(settings.voice_model)),
        "recogniser": str(store.path(settings.listen_model)),
    }
    with tempfile.TemporaryFile() as log:
        child = await asyncio.to_thread(
            subprocess.Popen,
            [str(PYTHON), str(SCRIPTS / f"{system.kind}_bot.py"), json.dumps(told)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        try:
            await _until_up(child, port, log)
            async with sitting_before(f"ws://127.0.0.1:{port}") as person:
                yield person
        finally:
            child.terminate()
            try:
                await asyncio.to_thread(child.wait, 10)
            except subprocess.TimeoutExpired:
                child.kill()
                await asyncio.to_thread(child.wait)


async def _until_up(child: subprocess.Popen[bytes], port: int, log: Any) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _START_S
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError as fault:
            if child.poll() is not None or loop.time() > deadline:
                log.seek(0)
                said = log.read().decode(errors="replace")[-2_000:]
                raise BenchRefused(f"a peer did not start: {said}") from fault
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
