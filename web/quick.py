"""How quick the page is in this browser on this machine: `python -m web.quick URL`.

It asks by writing while each of the five shapes is drawn, and once more where there is most to draw; then it talks and
coughs over answers. It tells what a person would feel: tasks that held the page up, frames that came late, how long a
voice goes on that was talked over, what the first load weighs. Times depend on the machine and on what else it does, so
nothing here is asserted; what must hold on any machine is counted in the tests. The one rule: what the browser reports,
and no more.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from models import Store, default_folder
from tts import PiperEngine
from web.bots import VISUALS
from web.browser import browser_page
from web.talked_over import ANSWERS, talked_over

_QUESTION = "What is Firstword?"
_LIMIT_MS = 90_000
_FRAME_MS = 1000 / 60
_LONG_TASK_MS = 50
# A long conversation, and somebody who looks at the kept ones meanwhile.
_LINES, _THREADS = 500, 200
_CROWDED = (("dark", 320), ("light", 1440))
# Long tasks as the browser tells them; how long each frame's scripts of ours ran; drawings of the orb in one frame.
_WATCH = """
window.watched = { long: [], frames: [], scripts: [], most: 0 };
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) watched.long.push(duration);
}).observe({ type: "longtask", buffered: true });
{
  const ask = requestAnimationFrame;
  const clear = CanvasRenderingContext2D.prototype.clearRect;
  let last = 0;
  let ran = 0;
  let drawn = 0;
  window.requestAnimationFrame = (work) => ask((at) => {
    const began = performance.now();
    work(at);
    ran += performance.now() - began;
  });
  CanvasRenderingContext2D.prototype.clearRect = function (...all) {
    if (this.canvas.parentElement?.id === "orb") drawn++;
    return clear.apply(this, all);
  };
  const tick = (at) => {
    if (last) watched.frames.push(at - last);
    watched.scripts.push(ran);
    watched.most = Math.max(watched.most, drawn);
    last = at;
    ran = drawn = 0;
    ask(tick);
  };
  ask(tick);
}
"""
_FRESH = "Object.assign(watched, { long: [], frames: [], scripts: [], most: 0 })"
_WEIGHT = """() => {
  const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  const code = all.filter(({ name }) => !name.endsWith("/readyz"));
  return { requests: code.length, bytes: code.reduce((sum, { transferSize }) => sum + transferSize, 0) };
}"""
_FILL = """count => document.querySelector("#transcript").fill(Array.from({ length: count }, (_, n) => ({
  role: n % 2 ? "assistant" : "user",
  text: `Line ${n} of a long conversation, with a few words in it.`,
})))"""
# Nothing of the page may be wider than it is.
_WIDER = "document.documentElement.scrollWidth - innerWidth"


def first_load(url: str, bot: str) -> dict[str, Any]:
    """What a first visit fetches."""
    with browser_page() as page:
        _open(page, url, bot)
        weight: dict[str, Any] = page.evaluate(_WEIGHT)
        return weight


def answering(url: str, bot: str, shape: str) -> dict[str, Any]:
    """An answer while `shape` is drawn."""
    with browser_page() as page:
        _open(page, url, bot)
        page.evaluate("shape => document.querySelector('#orb').setAttribute('shape', shape)", shape)
        return _answered(page)


def crowded(url: str, bot: str, scheme: str, width: int) -> dict[str, Any]:
    """An answer under a long transcript on a page of `width`, with the drawer and its many conversations open."""
    rows = [
        {"id": f"thread-{n}", "bot": bot, "title": f"Question {n}?", "began_s": n, "said_s": n} for n in range(_THREADS)
    ]
    with browser_page(color_scheme=scheme, viewport={"width": width, "height": 800}) as page:
        page.route("**/app/threads*", lambda route: route.fulfill(json={"threads": rows, "next": None}))
        _open(page, url, bot)
        page.evaluate(_FILL, _LINES)
        told = _answered(page, drawer=True)
        return {**told, "wider_than_the_page_px": page.evaluate(_WIDER)}


def _open(page: Any, url: str, bot: str) -> None:
    page.set_default_timeout(_LIMIT_MS)
    page.add_init_script(_WATCH)
    page.goto(f"{url}/app/voice/{bot}")
    page.wait_for_selector("body[data-ready=yes]")


def _answered(page: Any, *, drawer: bool = False) -> dict[str, Any]:
    page.fill("#line", _QUESTION)
    page.evaluate(_FRESH)
    # The first press opens the browser's sound, some 50 ms of its own, before there is anything to hear.
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{ANSWERS} .words:not(:empty)")
    pressed = page.evaluate("watched.long")
    page.evaluate(_FRESH)
    if drawer:
        page.click("#kept")
    page.wait_for_selector(".receipt", state="attached")
    page.wait_for_selector("body[data-state=listening]")
    told = page.evaluate("watched")
    figures = in_figures(told["long"], told["frames"], told["scripts"], told["most"])
    return {"longest_task_of_the_press_ms": round(max(pressed, default=0.0)), **figures}


def in_figures(long: Sequence[float], frames: Sequence[float], scripts: Sequence[float], most: int) -> dict[str, Any]:
    """What was watched, in milliseconds. `scripts` is how long ours ran in each frame, and `most` drawings in one."""
    return {
        "long_tasks": len(long),
        "longest_task_ms": round(max(long, default=0.0)),
        "frames_over_50_ms_of_our_scripts": sum(ran > _LONG_TASK_MS for ran in scripts),
        "our_scripts_p50_ms": _part(scripts, 50),
        "our_scripts_longest_ms": _part(scripts, 100),
        "drawings_in_a_frame_at_most": most,
        "frames": len(frames),
        "frame_p50_ms": _part(frames, 50),
        "frame_p95_ms": _part(frames, 95),
        "late_frames": sum(frame > 2 * _FRAME_MS for frame in frames),
    }


def _part(values: Sequence[float], percent: int) -> float | None:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, len(ordered) * percent // 100)], 1) if ordered else None


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m web.quick", description=__doc__)
    parser.add_argument("url", help="a running server, as http://127.0.0.1:8765")
    parser.add_argument("--bot", default="guide", help="whose page")
    given = parser.parse_args()
    url, bot = given.url.rstrip("/"), given.bot
    store = Store(default_folder())
    name = next(weights.name for weights in store.catalog if weights.kind == "piper" and weights.default)
    told = {
        "first_load": first_load(url, bot),
        "answering": {shape: answering(url, bot, shape) for shape in VISUALS},
        "crowded": {f"{width} px, {scheme}": crowded(url, bot, scheme, width) for scheme, width in _CROWDED},
        "talked_over": talked_over(url, bot, PiperEngine(store.path(name))),
    }
    sys.stdout.write(json.dumps(told, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
