"""A whole house that is closed leaves nothing of itself: neither memory, nor threads, nor files."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from pathlib import Path

import httpx2
import psutil
import pytest
from alone import alone, resident_bytes
from typed_line import answered, until
from websockets.asyncio.client import connect
from whole_house import warm_house

from firstword.settings import Settings, load_settings

TIMES = 6


async def one_house(settings: Settings) -> None:
    """Its models are loaded, a line is answered aloud, and it is closed."""
    async with warm_house(settings) as base_url:
        async with httpx2.AsyncClient(trust_env=False, base_url=base_url) as client:
            grant = (await client.post("/app/voice/guide/start")).json()["grant"]
        url, headers = f"{base_url.replace('http', 'ws')}/v1/realtime", {"Authorization": f"Bearer {grant}"}
        async with connect(url, additional_headers=headers, proxy=None) as socket:
            await socket.send(json.dumps({"type": "session.update", "session": {"firstword": {"events": True}}}))
            await until(socket, "session.updated")
            await answered(socket, "Hello?")


def opened_and_closed(data: Path) -> tuple[list[int], list[tuple[int, int]]]:
    """Memory, and threads and open files, after each house."""
    settings = load_settings(single_user=True, script_only=True, data=data)
    resident, held = [], []
    for _ in range(TIMES):
        asyncio.run(one_house(settings))
        gc.collect()
        resident.append(resident_bytes())
        held.append((threading.active_count(), psutil.Process().num_fds()))
    return resident, held


@pytest.mark.models
@pytest.mark.timeout(600)
def test_six_houses_one_after_the_other_take_the_memory_of_one(tmp_path: Path) -> None:
    resident, held = alone(opened_and_closed, tmp_path)
    # The models of one house are 300 MB; what the first ones warm in the libraries stays.
    assert resident[-1] - resident[TIMES // 2 - 1] < 60_000_000, [each // 2**20 for each in resident]
    assert held[-1] == held[TIMES // 2 - 1], held
