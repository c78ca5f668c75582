"""`firstword worker` as a process of its own, with a real LiveKit server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from firstword.serving import serving
from firstword.testing.doors import ScriptedDoor
from firstword.testing.guest import joined
from firstword.testing.livekit import KEY, SECRET, LiveKitServer
from grant import Signer
from voice.livekit import LiveKit, room_pass

pytestmark = pytest.mark.timeout(180)
OURS = "a secret that the server and the worker share"


@contextlib.asynccontextmanager
async def worker(server: LiveKitServer, door_url: str, tmp_path: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """The command, once it waits for rooms."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("FIRSTWORD_", "LIVEKIT_"))}
    env |= {"LIVEKIT_URL": server.url, "LIVEKIT_API_KEY": KEY, "LIVEKIT_API_SECRET": SECRET}
    env |= {"FIRSTWORD_SECRET": OURS, "FIRSTWORD_DOOR_URL": door_url, "FIRSTWORD_DATA": str(tmp_path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "firstword", "worker", "--drain", "20", env=env, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            line = await process.stdout.readline()
        assert line.decode().startswith(f"waiting for rooms of {server.url}, with text")
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


def pass_for(server: LiveKitServer) -> dict[str, object]:
    room = f"room-{uuid.uuid4().hex}"
    grant = Signer(OURS).mint(bot="guide", subject="ada", room=room)
    return room_pass(LiveKit(server.url, KEY, SECRET), grant, room)


# It is noticed when the server misses its pings: 15 s or so.
async def test_a_worker_told_to_stop_finishes_and_one_that_is_killed_is_noticed(
    livekit_server: LiveKitServer, tmp_path: Path
) -> None:
    door = ScriptedDoor(["Nearly", "...", " done."], ["Never", "..."])
    async with serving(lambda _url: door.app) as url:
        async with worker(livekit_server, url, tmp_path) as process, joined(pass_for(livekit_server)) as guest:
            reply = await guest.ask("Finish this.")
            await asyncio.wait_for(reply.begun.wait(), 30)
            process.send_signal(signal.SIGTERM)
            door.go.set()
            await asyncio.wait_for(reply.over.wait(), 30)
            assert (reply.text, reply.status) == ("Nearly done.", "completed")
            assert await asyncio.wait_for(process.wait(), 60) == 0
            assert "this worker is being stopped" in guest.goodbye
        door.go.clear()
        async with worker(livekit_server, url, tmp_path) as process, joined(pass_for(livekit_server)) as guest:
            reply = await guest.ask("And this?")
            async with asyncio.timeout(30):
                while not reply.deltas:
                    await asyncio.sleep(0.05)
            process.kill()
            await asyncio.wait_for(guest.agent_gone.wait(), 60)
            await asyncio.wait_for(reply.over.wait(), 10)
            assert (reply.text, reply.status) == ("Never", "broken")
        # Whoever dies leaves the door, which is how the run is cancelled.
        async with asyncio.timeout(20):
            while door.left < 1:
                await asyncio.sleep(0.05)


def test_without_a_livekit_server_it_says_what_to_set(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("FIRSTWORD_", "LIVEKIT_"))}
    told = subprocess.run(
        [sys.executable, "-m", "firstword", "worker"], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert told.returncode == 2
    assert told.stderr == (
        "firstword: there is no LiveKit server in these settings: set LIVEKIT_URL, LIVEKIT_API_KEY and "
        "LIVEKIT_API_SECRET\n"
    )
