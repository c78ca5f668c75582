"""How quick the page is in this browser on this machine: `python -m web.quick URL`.

It asks by writing, three times, and tells what a person would feel: tasks that held the page up while the answer came,
frames that came late, what the first load weighs. Times depend on the machine and on what else it does, so nothing here
is asserted; what must hold on any machine is counted in the tests. The one rule: what the browser reports, and no more.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from web.browser import browser_page

_QUESTIONS = ("What is Firstword?", "Where are the models kept?", "What can you do?")
_LIMIT_MS = 90_000
_FRAME_MS = 1000 / 60
_WATCH = """
window.long = [];
window.frames = [];
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) window.long.push([startTime, duration]);
}).observe({ type: "longtask", buffered: true });
let last = 0;
const tick = (at) => {
  if (last) window.frames.push(at - last);
  last = at;
  requestAnimationFrame(tick);
};
requestAnimationFrame(tick);
"""
_WEIGHT = """() => {
  const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  const code = all.filter(({ name }) => !name.endsWith("/readyz"));
  return { requests: code.length, bytes: code.reduce((sum, { transferSize }) => sum + transferSize, 0) };
}"""


def measure(url: str, bot: str) -> dict[str, Any]:
    """Ask `bot` at `url`; gives the first load, and the long tasks and late frames while answers came."""
    with browser_page() as page:
        page.set_default_timeout(_LIMIT_MS)
        page.add_init_script(_WATCH)
        page.goto(f"{url}/app/voice/{bot}")
        page.wait_for_selector("body[data-ready=yes]")
        load = page.evaluate(_WEIGHT)
        page.evaluate("long.length = frames.length = 0")
        for asked, question in enumerate(_QUESTIONS, 1):
            page.fill("#line", question)
            page.keyboard.press("Enter")
            page.wait_for_selector(f".receipt >> nth={asked - 1}")
        long = [duration for _, duration in page.evaluate("long")]
        frames = sorted(page.evaluate("frames"))
    return {
        "first_load": load,
        "answers": len(_QUESTIONS),
        "long_tasks": len(long),
        "longest_task_ms": round(max(long, default=0.0)),
        "frames": len(frames),
        "frame_p50_ms": round(frames[len(frames) // 2], 1),
        "frame_p95_ms": round(frames[len(frames) * 95 // 100], 1),
        "late_frames": sum(frame > 2 * _FRAME_MS for frame in frames),
    }


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m web.quick", description=__doc__)
    parser.add_argument("url", help="a running server, as http://127.0.0.1:8765")
    parser.add_argument("--bot", default="guide", help="whose page")
    given = parser.parse_args()
    sys.stdout.write(json.dumps(measure(given.url.rstrip("/"), given.bot), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
