"""Servers of tests and benchmarks: a run that is killed leaves none of them behind."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import psutil
import pytest

from firstword.testing.livekit import MISSING, find_livekit

CHILD = """
import signal, subprocess, time
from firstword.testing.orphans import ends_with_us
print(subprocess.Popen(["sleep", "600"], preexec_fn=ends_with_us(signal.SIGKILL)).pid, flush=True)
time.sleep(600)
"""
LIVEKIT = """
import sys, time
from pathlib import Path
from firstword.testing.livekit import LiveKitServer
server = LiveKitServer(Path(sys.argv[1]))
server.start()
print(server.url, flush=True)
time.sleep(600)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent is gone")


def told_and_killed(script: str, *words: str) -> str:
    """The first line of a Python that is killed after it."""
    with subprocess.Popen([sys.executable, "-c", script, *words], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        line = parent.stdout.readline()
        parent.kill()
    return line.strip()


def test_what_a_killed_process_started_ends_with_it() -> None:
    child = int(told_and_killed(CHILD))
    if psutil.pid_exists(child):
        psutil.Process(child).wait(30)


def test_a_livekit_server_serves_no_longer_than_whoever_started_it() -> None:
    program = find_livekit()
    if program is None:
        pytest.skip(MISSING)
    address = urlsplit(told_and_killed(LIVEKIT, str(program)))
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=1).close()
        except ConnectionRefusedError:
            return
        assert time.monotonic() < deadline, "it serves on"
        time.sleep(0.05)
