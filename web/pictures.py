"""The pictures of the page: `python -m web.pictures` draws the shapes, `python -m web.pictures URL OUT` a conversation.

The strips of the shapes need no server, only a voice: the local one, or a recording. The pictures of the page are taken
from a running server: it is a person with a browser, who asks by writing while the answer sounds. The one rule: nothing
in a picture is made up; what it shows is what the page drew.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from models import Store, default_folder
from sound import Pcm, read_recording
from tts import PiperEngine
from web.browser import browser_page, open_browser
from web.strips import levels_of, write_strips

QUESTION = "What is Firstword?"
# Under 150 KB as PNG, and still readable on a README's 800 pixels.
_SIZES: dict[str, tuple[int, int]] = {"page-light": (1040, 650), "page-dark": (1040, 650), "page-small": (360, 700)}
_STRIPS = Path(__file__).parent / "pictures"
# Said for the strips, where no recording is given.
_SENTENCE = "The first word is the only one that anybody waits for."
_ANSWER_LIMIT_MS = 60_000
# A voice is seen from this level on. A short answer may be over before it was seen: then it is asked again.
_SEEN_LEVEL = 0.45
_TRIES = 5


class AnswerTooShort(Exception):
    """No picture could be taken while an answer sounded."""


def take(url: str, out: Path, bot: str, question: str) -> list[Path]:
    """Take every picture of `bot`'s page at `url` into `out`; gives the files. Raises `AnswerTooShort`."""
    out.mkdir(parents=True, exist_ok=True)
    taken = []
    for name, (width, height) in _SIZES.items():
        scheme = "dark" if name.endswith(("dark", "small")) else "light"
        with browser_page(viewport={"width": width, "height": height}, color_scheme=scheme) as page:
            page.set_default_timeout(_ANSWER_LIMIT_MS)
            page.goto(f"{url}/app/voice/{bot}")
            page.wait_for_selector("#start:enabled")
            shoot_speaking(page, question, out / f"{name}.png")
            taken.append(out / f"{name}.png")
    return taken


def shoot_speaking(page: Any, question: str, path: Path) -> None:
    """Ask, and take a picture while the answer sounds. Raises `AnswerTooShort`."""
    for asked in range(_TRIES):
        if asked:
            page.reload()
            page.wait_for_selector("#start:enabled")
        page.fill("#line", question)
        page.keyboard.press("Enter")
        page.evaluate("document.activeElement.blur()")
        # Spoken, or over already.
        page.wait_for_selector("body[data-state=speaking], .receipt")
        while _speaks(page) and page.evaluate("document.querySelector('#orb').drawn.level") < _SEEN_LEVEL:
            page.wait_for_timeout(20)
        page.screenshot(path=path)
        if _speaks(page):
            return
    raise AnswerTooShort(f"the answer to “{question}” is over before a picture is taken; ask for more by --ask")


def _speaks(page: Any) -> bool:
    told: str = page.evaluate("document.body.dataset.state")
    return told == "speaking"


def spoken(recording: Path | None) -> Pcm:
    """The voice of the strips: `recording`, or a sentence in the local voice. Raises `WeightsMissing`, `NotSound`."""
    if recording is not None:
        return read_recording(recording)
    store = Store(default_folder())
    name = next(weights.name for weights in store.catalog if weights.kind == "piper" and weights.default)
    return Pcm.join(list(PiperEngine(store.path(name)).speak(_SENTENCE)))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m web.pictures", description=__doc__)
    parser.add_argument("url", nargs="?", help="a running server; without it the shapes are drawn")
    parser.add_argument("out", nargs="?", type=Path, default=_STRIPS, help="the folder for the pictures")
    parser.add_argument("--voice", type=Path, help="a recording for the shapes, instead of the local voice")
    parser.add_argument("--bot", default="guide", help="whose page")
    parser.add_argument("--ask", default=QUESTION, help="what is asked there")
    given = parser.parse_args()
    if given.url:
        try:
            taken = take(given.url.rstrip("/"), given.out, given.bot, given.ask)
        except AnswerTooShort as fault:
            parser.error(str(fault))
    else:
        with open_browser() as browser:
            taken = write_strips(browser, given.out, levels_of(spoken(given.voice)))
    for path in taken:
        sys.stdout.write(f"{path} {path.stat().st_size // 1000} KB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
