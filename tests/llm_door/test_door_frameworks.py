"""Frameworks whose OpenAI clients people already have, with a grant as their key. `tests/clients/setup.sh`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from door_house import WORDS, house, until
from test_door_strangers import CLIENTS, run

PYTHON = Path(__file__).parents[2] / ".venv-clients" / "bin" / "python"
ANSWER = "".join(WORDS)
pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not PYTHON.exists(), reason="the frameworks are not installed: tests/clients/setup.sh does it"),
]


async def told_by(script: str) -> Any:
    async with house() as at:
        code, out, error = await run(PYTHON, CLIENTS / script, at.base_url, at.grant(), deadline_s=200)
        assert code == 0, error[-2_000:]
        await until(at.core, lambda: not at.core.running)
    return json.loads(out.strip().splitlines()[-1])


async def test_k9_langchains_chat_model() -> None:
    assert await told_by("langchain_chat.py") == {
        "plain": ANSWER,
        "streamed": ANSWER,
        "usage": 16,
        "with_tools": ANSWER,
        "refused": "OpenAIAuthenticationError",
    }


async def test_k9_livekit_agents_model() -> None:
    assert await told_by("livekit_llm.py") == {"streamed": ANSWER, "usage": 16}


async def test_k9_pipecats_service() -> None:
    assert await told_by("pipecat_llm.py") == {"plain": ANSWER, "streamed": ANSWER}
