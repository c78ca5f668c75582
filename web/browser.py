"""Debian's Chromium with a WAV as its microphone, for the pictures and the tests.

It is not a test helper alone: `python -m web.pictures` uses it too. The one rule: an empty profile each time, and
nothing that reaches out of this machine.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

CHROMIUM = "/usr/bin/chromium"
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    # A name of this machine that is not loopback: to a browser, an address without TLS like any other.
    "--host-resolver-rules=MAP insecure.test 127.0.0.1",
)
# Whatever holds.
_TRUE = object()


@contextlib.contextmanager
def browser_page(microphone: Path | None = None, *, refuse: bool = False, **context: Any) -> Iterator[Page]:
    """A page of a fresh browser. The first two are `open_browser`'s, the rest Playwright's for a context."""
    with open_browser(microphone, refuse=refuse) as browser:
        yield browser.new_context(**context).new_page()


@contextlib.contextmanager
def open_browser(microphone: Path | None = None, *, refuse: bool = False) -> Iterator[Browser]:
    """A fresh browser. `microphone` is a WAV played once from the moment a page asks for one.

    `refuse` makes the browser refuse the microphone.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, launched(playwright, microphone, refuse=refuse) as browser:
        yield browser


@contextlib.contextmanager
def launched(playwright: Playwright, microphone: Path | None = None, *, refuse: bool = False) -> Iterator[Browser]:
    """The same from a `playwright` that runs already; a thread can have one."""
    flags = [*_FLAGS, "--use-fake-device-for-media-stream"]
    if not refuse:
        flags.append("--use-fake-ui-for-media-stream")
    if microphone is not None:
        flags.append(f"--use-file-for-fake-audio-capture={microphone}%noloop")
    browser = playwright.chromium.launch(
        executable_path=CHROMIUM, args=flags, ignore_default_args=["--headless", "--mute-audio"]
    )
    try:
        yield browser
    finally:
        browser.close()


def until(page: Page, expression: str, limit_s: float = 30.0, *, gives: object = _TRUE) -> None:
    """Wait until `expression` holds in the page, or gives the value `gives`.

    Playwright's own way needs eval, which the page's policy forbids. In a page that is only just loading nothing is
    there, and what cannot be asked yet does not hold yet. Raises `AssertionError`, with what the page shows instead,
    where it does not come true within `limit_s`.
    """
    from playwright.sync_api import Error

    deadline = time.monotonic() + limit_s
    while True:
        told: object = None
        try:
            told = page.evaluate(expression)
            if told == gives or (gives is _TRUE and told):
                return
        except Error as error:
            told = str(error)
        if time.monotonic() >= deadline:
            wanted = "never came true" if gives is _TRUE else f"never gave {gives!r}"
            shown = page.inner_text("body")
            raise AssertionError(f"{expression} {wanted}, but {told!r} at last; the page shows {shown}")
        page.wait_for_timeout(20)
