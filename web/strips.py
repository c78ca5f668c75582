"""The five shapes as strips of pictures: at rest, then in the middle of a sentence, one file a shape and scheme.

A shape is drawn by the page's own script in a real browser, on a clock that this file moves: no machine is too slow for
it, and the same sound makes the same strip. The one rule: a strip shows what the page would draw, and nothing else.
"""

from __future__ import annotations

import base64
import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sound import Pcm
from web.bots import VISUALS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SCHEMES = ("light", "dark")
# As often as the page's player tells how loud it is.
LEVEL_S = 0.02
CELL_PX = 150
AT_REST = 3
IN_VOICE = 6
_REST_S = 1.2
_VOICE_S = 0.34
_STATIC = Path(__file__).parent / "static"
_AT = "http://pictures.localhost"
_PAGE = """<!doctype html><html><head><link rel="stylesheet" href="/style.css">
<script type="module" src="/orb.js"></script></head>
<body><fw-orb id="orb" style="inline-size:{px}px"></fw-orb></body></html>"""
# A clock that stands still until it is moved, and the frames that wait for it.
_CLOCK = """
window.clock = { now: 0, waiting: new Map(), last: 0 };
performance.now = () => clock.now;
window.requestAnimationFrame = (work) => (clock.waiting.set(++clock.last, work), clock.last);
window.cancelAnimationFrame = (id) => void clock.waiting.delete(id);
window.frame = () => {
  clock.now += 1000 / 60;
  const due = [...clock.waiting.values()];
  clock.waiting.clear();
  for (const work of due) work(clock.now);
};
"""
# Plays sound to the orb, frame after frame. `shots` are moments in seconds; gives the strip as WebP.
_STRIP = """({ assistant, microphone, levelS, shots, px }) => {
  const orb = document.querySelector("#orb");
  const strip = document.createElement("canvas");
  [strip.width, strip.height] = [px * shots.length, px];
  const pen = strip.getContext("2d");
  pen.fillStyle = getComputedStyle(document.body).backgroundColor;
  pen.fillRect(0, 0, strip.width, px);
  const began = clock.now;
  const drawn = [];
  shots.forEach((shot, at) => {
    while (clock.now - began < shot * 1000) {
      const told = Math.floor((clock.now - began) / 1000 / levelS);
      if (microphone[told] !== undefined) orb.microphone(microphone[told]);
      if (assistant[told] !== undefined) orb.assistant(assistant[told] ?? 0, assistant[told] !== null);
      frame();
    }
    drawn.push(orb.drawn);
    pen.drawImage(orb.querySelector("canvas"), at * px, 0, px, px);
  });
  return { drawn, picture: strip.toDataURL("image/webp", 0.9) };
}"""


def levels_of(pcm: Pcm) -> list[float]:
    """How far the wave swings from its centre in each `LEVEL_S`, 0 to 1, as the page's player measures it."""
    step = round(LEVEL_S * pcm.rate_hz)
    whole = np.abs(pcm.samples[: len(pcm.samples) // step * step]).reshape(-1, step)
    return [float(peak) for peak in whole.max(axis=1)]


@contextlib.contextmanager
def orb_page(browser: Browser, scheme: str = "light", **context: Any) -> Iterator[Any]:
    """A page with nothing on it but the orb, whose clock stands still."""
    opened = browser.new_context(color_scheme=scheme, **context)  # type: ignore[arg-type]
    page = opened.new_page()
    page.add_init_script(_CLOCK)
    page.route(f"{_AT}/**", lambda route: route.fulfill(**_served(route.request.url)))
    page.goto(f"{_AT}/")
    page.wait_for_selector("#orb canvas")
    yield page
    opened.close()


def drawn(
    page: Any,
    shape: str,
    shots: Sequence[float],
    *,
    assistant: Sequence[float | None] = (),
    microphone: Sequence[float] = (),
) -> tuple[list[dict[str, Any]], bytes]:
    """What `shape` shows at each moment of `shots` (s), and those pictures side by side as WebP.

    `assistant` and `microphone` are levels every `LEVEL_S`; None is an assistant that is not audible.
    """
    page.evaluate("shape => document.querySelector('#orb').setAttribute('shape', shape)", shape)
    told = {"assistant": list(assistant), "microphone": list(microphone), "levelS": LEVEL_S, "px": CELL_PX}
    made = page.evaluate(_STRIP, {**told, "shots": list(shots)})
    return made["drawn"], base64.b64decode(made["picture"].partition(",")[2])


def strip(page: Any, shape: str, voice: Sequence[float]) -> bytes:
    """One strip: `AT_REST` pictures in silence, then `IN_VOICE` of `voice` (levels every `LEVEL_S`)."""
    rest_s = AT_REST * _REST_S
    silence = [None] * math.ceil(rest_s / LEVEL_S)
    shots = [_REST_S * (at + 1) for at in range(AT_REST)] + [rest_s + _VOICE_S * (at + 1) for at in range(IN_VOICE)]
    return drawn(page, shape, shots, assistant=[*silence, *voice])[1]


def write_strips(browser: Browser, folder: Path, voice: Sequence[float]) -> list[Path]:
    """Every shape in every scheme into `folder`, as `aura-light.webp`; gives the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for scheme in SCHEMES:
        for shape in VISUALS:
            with orb_page(browser, scheme, device_scale_factor=2) as page:
                path = folder / f"{shape}-{scheme}.webp"
                path.write_bytes(strip(page, shape, voice))
                written.append(path)
    return written


def _served(url: str) -> dict[str, Any]:
    name = url.removeprefix(f"{_AT}/")
    if not name:
        return {"body": _PAGE.format(px=CELL_PX), "content_type": "text/html"}
    return {"path": _STATIC / name}
