"""Which tests are run again: those with a browser or a LiveKit server, once, and it is said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import once_more
import pytest

# Each fails as often as its name says.
TESTS = """
import pytest

times = {}

def fails(name, often):
    times[name] = times.get(name, 0) + 1
    assert times[name] > often, f"{name} failed"

@pytest.fixture
def livekit_server():
    return None

@pytest.mark.browser
def test_browser_once():
    fails("browser", 1)

@pytest.mark.browser
def test_browser_twice():
    fails("broken", 2)

def test_rooms_once(livekit_server):
    fails("rooms", 1)

def test_plain_once():
    fails("plain", 1)
"""


def test_only_browsers_and_media_servers_are_tried_again_once_and_named(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    if not pytestconfig.pluginmanager.hasplugin(once_more.PLUGIN):
        pytest.skip("pytest-rerunfailures is not installed")
    (tmp_path / "test_them.py").write_text(TESTS, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = browser: one\naddopts = --strict-markers -raR\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "once_more", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{Path(__file__).parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert "2 failed, 2 passed, 3 rerun" in done.stdout.splitlines()[-1], done.stdout + done.stderr
    said = [line.split(" - ")[0] for line in done.stdout.splitlines()]
    assert said.count("RERUN test_them.py::test_browser_once") == 1
    assert said.count("RERUN test_them.py::test_browser_twice") == 1
    assert said.count("RERUN test_them.py::test_rooms_once") == 1
    assert {"FAILED test_them.py::test_browser_twice", "FAILED test_them.py::test_plain_once"} <= set(said)
    # How the first try failed is there to be read, though the second was well.
    assert "rooms failed" in done.stdout
