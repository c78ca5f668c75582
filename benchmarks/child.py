"""A server in a process of its own: what the benchmarks that ask over a socket ask.

Not the server and not a mock of it: `firstword serve` as people start it, with a database that is thrown away. The one
rule: it ends with the block that started it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import httpx2

from firstword.errors import CannotStart
from firstword.preparing import settled
from firstword.serving import until_ready
from firstword.settings import PREFIX
from firstword.testing.orphans import ends_with_us
from firstword.testing.ports import free_port

_START_S = 120.0
_END_S = 20.0
_LOOK_S = 0.05
_LOG_CHARS = 2_000


@contextlib.asynccontextmanager
async def child_server(settings: Mapping[str, str]) -> AsyncIterator[str]:
    """Serve with these settings (names without their prefix) beside the environment's; yields the base URL when warm.

    Raises `CannotStart` with the end of its log where it does not come up.
    """
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(prefix="firstword-bench-") as folder:
        given = {"single_user": "true", "port": str(port), "data": folder, **settings}
        environment = {f"{PREFIX}{name.upper()}": value for name, value in given.items()}
        log = Path(folder) / "server.log"
        async with child("serve", environment, log) as process:
            await _up(process, base_url, log)
            # Or a collection here, while a sound is on its way, counts as the server's being late.
            with settled():
                yield base_url


@contextlib.asynccontextmanager
async def child(command: str, environment: Mapping[str, str], log: Path) -> AsyncIterator[subprocess.Popen[bytes]]:
    """`firstword COMMAND` with these variables beside the environment's, what it says in `log`; ends with the block."""
    with log.open("wb") as lines:
        process = await asyncio.to_thread(
            subprocess.Popen,
            [sys.executable, "-m", "firstword", command],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=lines,
            stderr=lines,
            preexec_fn=ends_with_us(signal.SIGTERM),
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            await asyncio.to_thread(process.wait, _END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            await asyncio.to_thread(process.wait)


async def _up(child: subprocess.Popen[bytes], base_url: str, log: Path) -> None:
    """Wait until it answers and is warm."""
    deadline = asyncio.get_running_loop().time() + _START_S
    while True:
        try:
            await until_ready(base_url, limit_s=_START_S)
        except httpx2.TransportError as fault:
            ended = child.poll() is not None
            if ended or asyncio.get_running_loop().time() > deadline:
                state = f"ended with code {child.returncode}" if ended else f"is not up ({fault})"
                said = await asyncio.to_thread(log.read_text)
                raise CannotStart(f"the server {state}: {said[-_LOG_CHARS:]}") from fault
            await asyncio.sleep(_LOOK_S)
        else:
            return
