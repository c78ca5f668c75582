"""The scripted partner, served; a spoken WAV; a browser page that fails a test on any error in its console."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kept_house import KeptHouse, Opened
from scripted import Script, scripted_app, serving

from sound import Pcm, write_wav
from web.browser import launched

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
def house(tmp_path: Path) -> Iterator[Opened]:
    """Opens a house whose conversations are kept: `house(["its ", "first answer"], ["its second"])`."""
    with contextlib.ExitStack() as stack:

        def open_house(*answers: list[str], **given: Any) -> KeptHouse:
            made = KeptHouse(tmp_path, *answers, **given)
            made.start()
            stack.callback(made.close)
            return made

        yield open_house


@pytest.fixture(scope="module")
def playwright() -> Iterator[Any]:
    """The one Playwright that a thread can have."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="module")
def browsers(playwright: Any) -> Iterator[Callable[[], Any]]:
    """Gives the one browser for tests without a microphone of their own; a fresh one where that has crashed."""
    with contextlib.ExitStack() as stack:
        opened: list[Any] = []

        def browser() -> Any:
            if not opened or not opened[-1].is_connected():
                opened.append(stack.enter_context(launched(playwright)))
            return opened[-1]

        yield browser


@pytest.fixture(scope="module")
def browser(browsers: Callable[[], Any]) -> Any:
    """One browser; each test has a context, and nothing of the last."""
    return browsers()


@pytest.fixture
def visit(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Opens the page of a bot; whatever its console complains of fails the test."""
    complaints: list[str] = []
    with contextlib.ExitStack() as stack:

        def open_page(
            microphone: Path | None = None, *, base: str = "", at: str = "/app/voice/guide", **options: Any
        ) -> Any:
            before = options.pop("before", None)
            refuse = options.pop("refuse", False)
            if microphone or refuse:
                own = launched(request.getfixturevalue("playwright"), microphone, refuse=refuse)
                opened = stack.enter_context(own)
            else:
                opened = request.getfixturevalue("browsers")()
            page = stack.enter_context(contextlib.closing(opened.new_context(**options))).new_page()
            page.set_default_timeout(30_000)
            page.on("pageerror", lambda fault: complaints.append(str(fault)))
            page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
            if before:
                page.add_init_script(before)
            page.goto((base or request.getfixturevalue("url")) + at)
            return page

        yield open_page
    assert [line for line in complaints if "Failed to load resource" not in line and "WebSocket" not in line] == []
