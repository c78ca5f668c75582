"""An agent framework's own realtime client, with a grant as its key. `tests/clients/setup.sh` installs it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from voice_house import Serve

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-clients" / "bin" / "python"
pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not PYTHON.exists(), reason="the frameworks are not installed: tests/clients/setup.sh does it"),
]


async def test_the_agents_sdk_holds_a_turn(serve: Serve) -> None:
    async with serve(["Hello ", "to you."]) as house:
        client = await asyncio.create_subprocess_exec(
            PYTHON,
            ROOT / "tests" / "clients" / "agents_realtime.py",
            house.base_url,
            house.grant(),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, error = await client.communicate()
        assert client.returncode == 0, error.decode()[-2_000:]
        told = json.loads(out.decode().strip().splitlines()[-1])
        assert told["errors"] == []
        assert told["said"] == "Hello to you."
        assert told["audio_bytes"] > 0
        assert house.door.asked[0]["messages"][-1]["content"] == "hi there"
