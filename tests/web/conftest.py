"""The scripted partner, served; a spoken WAV; a browser page that fails a test on any error in its console."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted import Script, scripted_app, serving

from sound import Pcm, write_wav
from web.browser import browser_page

MIC_HZ = 48_000


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def url(script: Script) -> Iterator[str]:
    with serving(scripted_app(script)) as base:
        yield base


@pytest.fixture
def wav(tmp_path: Path) -> Callable[..., Path]:
    """Makes a WAV of bursts: `wav((1.0, 1.8), (3.0, 3.2))` is loud from 1.0 to 1.8 s and from 3.0 to 3.2 s."""

    def make(*bursts: tuple[float, float], length_s: float = 14.0) -> Path:
        at = np.arange(round(length_s * MIC_HZ)) / MIC_HZ
        loud = np.zeros_like(at)
        for begin, end in bursts:
            loud[(at >= begin) & (at < end)] = 0.5
        samples = (loud * np.sin(2 * np.pi * 220 * at)).astype(np.float32)
        path = tmp_path / "microphone.wav"
        write_wav(path, Pcm(samples, MIC_HZ))
        return path

    return make


@pytest.fixture
def visit(url: str) -> Iterator[Callable[..., Any]]:
    """Opens the page of a bot; whatever its console complains of fails the test."""
    complaints: list[str] = []
    with contextlib.ExitStack() as stack:

        def open_page(microphone: Path | None = None, *, at: str = "/app/voice/guide", **options: Any) -> Any:
            before = options.pop("before", None)
            page = stack.enter_context(browser_page(microphone, **options))
            page.set_default_timeout(8_000)
            page.on("pageerror", lambda fault: complaints.append(str(fault)))
            page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
            if before:
                page.add_init_script(before)
            page.goto(url + at)
            return page

        yield open_page
    assert [line for line in complaints if "Failed to load resource" not in line and "WebSocket" not in line] == []
