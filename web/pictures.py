"""The pictures of the page, taken from a running server: `python -m web.pictures URL OUT`.

It is a person with a browser: it opens the page, asks by writing, and takes the picture while the answer sounds.
The one rule: nothing in a picture is made up; what it shows is what the server said.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from web.browser import browser_page

QUESTION = "What is Firstword?"
# Under 150 KB as PNG, and still readable on a README's 800 pixels.
_SIZES: dict[str, tuple[int, int]] = {"page-light": (1040, 650), "page-dark": (1040, 650), "page-small": (360, 700)}
_SHAPES = ("aura", "bar", "grid", "radial", "wave")
_ANSWER_LIMIT_MS = 60_000


def take(url: str, out: Path, bot: str, question: str) -> list[Path]:
    """Take every picture of `bot`'s page at `url` into `out`; gives the files."""
    out.mkdir(parents=True, exist_ok=True)
    taken = []
    for name, (width, height) in _SIZES.items():
        scheme = "dark" if name.endswith(("dark", "small")) else "light"
        with browser_page(viewport={"width": width, "height": height}, color_scheme=scheme) as page:
            _ask(page, url, bot, question)
            taken.append(_shoot(page, out / f"{name}.png"))
    with browser_page(viewport={"width": 900, "height": 700}, color_scheme="dark") as page:
        _ask(page, url, bot, question)
        for shape in _SHAPES:
            page.evaluate("shape => document.querySelector('#orb').setAttribute('shape', shape)", shape)
            page.wait_for_timeout(150)
            path = out / f"shape-{shape}.png"
            page.locator("#orb").screenshot(path=path)
            taken.append(path)
    return taken


def _ask(page: Any, url: str, bot: str, question: str) -> None:
    page.set_default_timeout(_ANSWER_LIMIT_MS)
    page.goto(f"{url}/app/voice/{bot}")
    page.wait_for_selector("#start:enabled")
    page.fill("#line", question)
    page.keyboard.press("Enter")
    page.wait_for_selector("#state:has-text('Speaking')")
    deadline = time.monotonic() + 10
    while page.evaluate("document.querySelector('#orb').drawn.level") < 0.45 and time.monotonic() < deadline:
        page.wait_for_timeout(20)


def _shoot(page: Any, path: Path) -> Path:
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=path)
    return path


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m web.pictures", description=__doc__)
    parser.add_argument("url", help="a running server, as http://127.0.0.1:8765")
    parser.add_argument("out", type=Path, help="the folder for the pictures")
    parser.add_argument("--bot", default="guide")
    parser.add_argument("--ask", default=QUESTION, help="what is asked")
    given = parser.parse_args()
    for path in take(given.url.rstrip("/"), given.out, given.bot, given.ask):
        sys.stdout.write(f"{path} {path.stat().st_size // 1000} KB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
