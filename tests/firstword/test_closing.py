"""A whole house that is closed leaves nothing of itself: no models, no threads, no memory."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import threading
from pathlib import Path

import httpx2
import pytest
from alone import alone, resident_bytes
from typed_line import answered, until
from websockets.asyncio.client import connect
from whole_house import warm_house

from asr import Ear
from firstword.house import House
from firstword.settings import Settings, load_settings

TIMES = 4


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


def trim() -> None:
    """Give back what is free: what is left in between would come and go."""
    give = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if give is not None:
        give(0)


def opened_and_closed(data: Path) -> tuple[int, list[str], list[int]]:
    """How many houses are left, the names of lanes' threads that are, and memory after each house."""
    settings = load_settings(single_user=True, script_only=True, data=data)
    resident = []
    for _ in range(TIMES):
        asyncio.run(one_house(settings))
        gc.collect()
        trim()
        resident.append(resident_bytes())
    left = sum(isinstance(one, House | Ear) for one in gc.get_objects())
    return left, [each.name for each in threading.enumerate() if each.name.startswith("lane")], resident


@pytest.mark.models
@pytest.mark.timeout(600)
def test_houses_one_after_the_other_take_the_memory_of_one(tmp_path: Path) -> None:
    left, lanes, resident = alone(opened_and_closed, tmp_path)
    assert (left, lanes) == (0, [])
    # Each house that is left holds 220 MB; what the libraries keep for the next call is a part of that.
    assert resident[-1] - resident[0] < (TIMES - 1) * 110_000_000, resident
