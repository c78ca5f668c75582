"""How quick the page is in this browser on this machine: `python -m web.quick URL`.

It asks by writing while each of the five shapes is drawn, and once more where there is most to draw; then it talks and
coughs over answers. It tells what a person would feel: tasks that held the page up, frames that came late, how long a
voice goes on that was talked over, what the first load weighs. Times depend on the machine and on what else it does, so
nothing here is asserted; what must hold on any machine, counts and CPU time, the tests hold to. The one rule: what the
browser reports, and no more.
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
from web.talked_over import talked_over
from web.watched import DRAW, LONG_TASK_MS, Answered, answered, crowd, longest_cpu_ms, watched_page

_FRAME_MS = 1000 / 60
_CROWDED = (("dark", 320), ("light", 1440))
_WEIGHT = """() => {
  const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  const code = all.filter(({ name }) => !name.endsWith("/readyz"));
  return { requests: code.length, bytes: code.reduce((sum, { transferSize }) => sum + transferSize, 0) };
}"""
# Nothing of the page may be wider than it is.
_WIDER = "document.documentElement.scrollWidth - innerWidth"


def first_load(url: str, bot: str) -> dict[str, Any]:
    """What a first visit fetches."""
    with browser_page() as page:
        watched_page(page, url, bot)
        weight: dict[str, Any] = page.evaluate(_WEIGHT)
        return weight


def answering(url: str, bot: str, shape: str) -> dict[str, Any]:
    """An answer while `shape` is drawn."""
    with browser_page() as page:
        watched_page(page, url, bot)
        page.evaluate(DRAW, shape)
        return in_figures(answered(page))


def crowded(url: str, bot: str, scheme: str, width: int) -> dict[str, Any]:
    """An answer under a long transcript on a page of `width`, with the drawer and its many conversations open."""
    with browser_page(color_scheme=scheme, viewport={"width": width, "height": 800}) as page:
        watched_page(page, url, bot)
        crowd(page, bot)
        told = in_figures(answered(page, drawer=True))
        return {**told, "wider_than_the_page_px": page.evaluate(_WIDER)}


def in_figures(seen: Answered) -> dict[str, Any]:
    """What was watched of an answer, in milliseconds."""
    return {
        "longest_task_of_the_press_ms": _part([task.took_ms for task in seen.pressed], 100),
        "long_tasks": sum(task.took_ms > LONG_TASK_MS for task in seen.tasks),
        "longest_task_ms": _part([task.took_ms for task in seen.tasks], 100),
        "longest_task_cpu_ms": round(longest_cpu_ms(seen.tasks), 1),
        "frames_over_50_ms_of_our_scripts": sum(ran > LONG_TASK_MS for ran in seen.scripts_ms),
        "our_scripts_p50_ms": _part(seen.scripts_ms, 50),
        "our_scripts_longest_ms": _part(seen.scripts_ms, 100),
        "drawings_in_a_frame_at_most": seen.drawings_in_a_frame_at_most,
        "frames": len(seen.frames_ms),
        "frame_p50_ms": _part(seen.frames_ms, 50),
        "frame_p95_ms": _part(seen.frames_ms, 95),
        "late_frames": sum(frame > 2 * _FRAME_MS for frame in seen.frames_ms),
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
