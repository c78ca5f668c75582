"""Servers and workers of tests and benchmarks: a run that is killed leaves none of them behind."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from pathlib import Path
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
# Of its three scenes the first is over when it tells who works, and the others would go on for minutes.
POOL = """
import multiprocessing, sys
from pathlib import Path
from benchmarks.barge_in_pool import Task, run_all
from benchmarks.barge_in_scenes import ANSWERS, GREETING, Alone, Room
from benchmarks.barge_in_speech import speak
from firstword.settings import load_settings
settings = load_settings(single_user=True, data=Path(sys.argv[1]))
room = Room("nobody", 0.0, 0.0, 0.0, 0.001, 1)
tasks = [Task(Alone(room, minutes)) for minutes in (0.01, 600.0, 600.0)]
results = run_all(settings, tasks, lambda: speak(settings, (), (GREETING, *ANSWERS)), jobs=2)
next(results)
print(*[each.pid for each in multiprocessing.active_children()], flush=True)
next(results)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent is gone")


def over(process: int) -> None:
    """Wait until that process is no more."""
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(process).wait(30)


def told_and_killed(script: str, *words: str) -> str:
    """The first line of a Python that is killed after it."""
    with subprocess.Popen([sys.executable, "-c", script, *words], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        line = parent.stdout.readline()
        parent.kill()
    return line.strip()


def test_what_a_killed_process_started_ends_with_it() -> None:
    over(int(told_and_killed(CHILD)))


@pytest.mark.models
@pytest.mark.timeout(300)
def test_the_processes_of_a_killed_benchmark_end_in_mid_scene(tmp_path: Path) -> None:
    workers = told_and_killed(POOL, str(tmp_path)).split()
    assert len(workers) == 2
    for worker in workers:
        over(int(worker))


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
