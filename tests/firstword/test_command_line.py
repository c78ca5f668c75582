"""The command line: it answers at once, and what goes wrong is a sentence and exit code 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commanded import firstword

from firstword.__main__ import COMMANDS


def _run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "FIRSTWORD_SINGLE_USER": "true", **environment}
    return subprocess.run(
        [sys.executable, "-m", "firstword", *words], capture_output=True, text=True, timeout=60, env=env, check=False
    )


def test_help_imports_nothing_heavy() -> None:
    heavy = {"numpy", "fastapi", "pydantic", "onnxruntime", "sqlalchemy", "httpx2"}
    probe = (
        "import sys; from click.testing import CliRunner; from firstword.__main__ import cli; "
        "assert CliRunner().invoke(cli, ['--help']).exit_code == 0; print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert not heavy & set(loaded.split())


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_explains_itself(command: str) -> None:
    done = firstword(command, "--help")
    assert done.returncode == 0, done.stderr
    assert "Usage: " in done.stdout


def test_the_help_of_serve_lists_every_setting() -> None:
    from firstword.settings import Settings, variable

    shown = firstword("serve", "--help").stdout
    assert [name for name in Settings.model_fields if variable(name) not in shown] == []


@pytest.mark.parametrize("command", [("hear",), ("talk",)])
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        pytest.param("missing.wav", None, "there is no such file", id="missing"),
        pytest.param("empty.wav", b"", "the file is empty", id="empty"),
        pytest.param("notes.wav", b"these are words, not sound", "not a recording", id="not a recording"),
        pytest.param("short.wav", b"RIFF\x24\x00\x00\x00WAVE", "not a recording", id="half a header"),
    ],
)
def test_a_bad_recording_is_a_sentence(
    tmp_path: Path, command: tuple[str, ...], name: str, content: bytes | None, words: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    done = firstword(*command, str(path))
    assert done.returncode == 2
    assert words in done.stderr
    assert name in done.stderr
    assert "Traceback" not in done.stderr


def test_a_bot_that_is_not_there_is_a_sentence_naming_those_that_are(tmp_path: Path) -> None:
    done = firstword("grant", "nobody")
    assert done.returncode == 2
    assert "nobody" in done.stderr
    assert "guide" in done.stderr


def test_a_misspelt_setting_is_a_sentence() -> None:
    done = _run("serve", FIRSTWORD_PROT="1")
    assert done.returncode == 2
    assert "did you mean FIRSTWORD_PORT?" in done.stderr


def test_a_taken_port_is_a_sentence() -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = _run("serve", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert "is another one running?" in done.stderr
