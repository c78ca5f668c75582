"""The model beside the server: the real one, in a real child process."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import httpx2
import psutil
import pytest
from core_house import ask, told

from agents_core import Core, Delta, Done, LocalProvider, Patience, Question, Started, Trace, Whole, Words
from agents_core.errors import ProviderFault
from agents_core.prompt import question

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "firstword" / "models"
WEIGHTS = Path(os.environ.get("FIRSTWORD_MODELS") or _CACHE) / "smollm2-135m" / "model.gguf"
CONTENT = Path(__file__).parents[2] / "content"
pytestmark = pytest.mark.models
# Cores may be busy with other tests; these are about what is answered, not how soon.
PATIENT = Patience(60, 60, 60, 120)


@pytest.fixture
async def local() -> AsyncIterator[LocalProvider]:
    provider = LocalProvider(WEIGHTS, slots=2)
    yield provider
    await provider.close()


async def words(provider: LocalProvider, text: str) -> str:
    given = [said async for said in provider.ask(Question(({"role": "user", "content": text},)))]
    assert isinstance(given[-1], Whole)
    return "".join(said.text for said in given if isinstance(said, Words))


async def unread_tokens(local: LocalProvider, core: Core) -> dict[str, int]:
    """For each question that the guide is shown an answer to, how many tokens of it had not been read before."""
    (port,) = (each.laddr.port for each in psutil.Process(local.pid).net_connections("tcp") if each.status == "LISTEN")
    guide = core.bots["guide"]
    unread: dict[str, int] = {}
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        for exchange in guide.exchanges:
            asked = ask(f"{exchange.questions[0]} Please.")
            given = question(guide, core.bots.house, asked, (), local.profile)
            said = [*given.messages, {"role": "assistant", "content": given.lead}]
            body = {"messages": said, "max_tokens": 1, "cache_prompt": True}
            reply = await client.post("/v1/chat/completions", json=body)
            unread[asked.text] = reply.json()["timings"]["prompt_n"]
    return unread


@pytest.mark.timeout(240)
async def test_the_guide_answers_from_what_it_knows(local: LocalProvider, tmp_path: Path) -> None:
    core = await Core.open(
        content=CONTENT, database_url=f"sqlite+aiosqlite:///{tmp_path / 'c.db'}", providers=[local], patience=PATIENT
    )
    await core.warm()
    unread = await unread_tokens(local, core)
    # A question has about ten words; each of the twenty beginnings before it has fifty tokens.
    assert max(unread.values()) <= 30, unread
    events = await told(core, ask("What is a bot?"))
    said = "".join(event.text for event in events if isinstance(event, Delta))
    assert "text file" in said
    trace = next(event for event in events if isinstance(event, Trace))
    assert (trace.provider, trace.model) == ("local", "local")
    assert trace.usage.completion_tokens > 0
    assert isinstance(events[-1], Done)
    # Two at once, each its own answer.
    both = await asyncio.gather(told(core, ask("What is a bot?")), told(core, ask("Who are you?")))
    first, second = ("".join(e.text for e in events if isinstance(e, Delta)) for events in both)
    assert "text file" in first
    assert second != first
    # Leaving in the middle frees the model for the next.
    async with aclosing(core.run_turn(ask("Who are you?"))) as turn:
        started = await anext(turn)
        await anext(turn)
    assert isinstance(started, Started)
    assert (await core.record(started.run)).state == "cancelled"
    assert "text file" in "".join(e.text for e in await told(core, ask("What is a bot?")) if isinstance(e, Delta))
    await core.close()
    assert local.pid is None


async def test_a_child_that_died_is_started_again(local: LocalProvider) -> None:
    assert await words(local, "Say hello.")
    first = local.pid
    assert first is not None
    child = psutil.Process(first)
    child.kill()
    child.wait(30)
    assert await words(local, "Say hello.")
    assert local.pid not in (None, first)


async def test_weights_that_are_none_are_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"no weights")
    provider = LocalProvider(tmp_path / "model.gguf")
    with pytest.raises(ProviderFault, match="models doctor"):
        await words(provider, "Hello?")
    await provider.close()


def test_the_child_dies_with_its_parent() -> None:
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from agents_core import LocalProvider\n"
        "async def main():\n"
        "    provider = LocalProvider(Path(sys.argv[1]))\n"
        "    await provider.warm([])\n"
        "    print(provider.pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(WEIGHTS)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        parent.wait(30)
        try:
            child.wait(30)
        except psutil.TimeoutExpired:
            child.kill()
            raise
