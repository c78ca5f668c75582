"""What the page does while it answers, as the browser tells it: its main thread's tasks, frames, the orb's drawings.

A task's CPU time is what the page asked of the machine; how long it took is that and whatever else the machine did
meanwhile. So a test can hold the page to the first on any machine, and `python -m web.quick` tells both. The one rule:
what the browser reports, and no more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from web.talked_over import ANSWERS

# From here on somebody feels it: what browsers call a long task.
LONG_TASK_MS = 50.0
# A long conversation, and somebody who looks at the kept ones meanwhile.
LINES, THREADS = 500, 200
_QUESTION = "What is Firstword?"
_LIMIT_MS = 90_000
# Every task of every thread, and the marks that say which thread is the page's and when the answer was asked for.
_TRACED = ("toplevel", "blink.user_timing")
_TASK = "ThreadControllerImpl::RunTask"
_ASKED, _BEGUN, _ENDED = "answer asked for", "answer begun", "answer ended"
# How long each frame's scripts of ours ran; drawings of the orb in one frame; frames in which an answer was audible.
_WATCH = """
window.watched = {};
{
  const ask = requestAnimationFrame;
  const clear = CanvasRenderingContext2D.prototype.clearRect;
  let last = 0;
  let ran = 0;
  let drawn = 0;
  window.watchAgain = () => Object.assign(watched, { frames: [], scripts: [], most: 0, audible: 0 });
  watchAgain();
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
    watched.audible += document.body?.dataset.state === "speaking";
    last = at;
    ran = drawn = 0;
    ask(tick);
  };
  ask(tick);
}
"""
# Another shape of the orb.
DRAW = "shape => document.querySelector('#orb').setAttribute('shape', shape)"
_FILL = """count => document.querySelector("#transcript").fill(Array.from({ length: count }, (_, n) => ({
  role: n % 2 ? "assistant" : "user",
  text: `Line ${n} of a long conversation, with a few words in it.`,
})))"""


@dataclass(frozen=True)
class Task:
    """One task of the page's main thread."""

    took_ms: float
    cpu_ms: float


@dataclass(frozen=True)
class Answered:
    """What was watched of one answer."""

    # From the press to the first word. A page's first press opens the browser's sound: 50 ms and more of its own,
    # before there is anything to hear.
    pressed: Sequence[Task]
    # From the first word to the last that was heard.
    tasks: Sequence[Task]
    frames_ms: Sequence[float]
    # How long scripts of ours ran in each frame.
    scripts_ms: Sequence[float]
    drawings_in_a_frame_at_most: int
    audible_frames: int


def watched_page(page: Any, url: str, bot: str) -> None:
    """Open the page of `bot` at `url` in `page`, to be watched."""
    page.set_default_timeout(_LIMIT_MS)
    page.add_init_script(_WATCH)
    page.goto(f"{url}/app/voice/{bot}")
    page.wait_for_selector("body[data-ready=yes]")


def crowd(page: Any, bot: str) -> None:
    """Many kept conversations in the drawer of a page that is open, and a long one in its transcript."""
    rows = [
        {"id": f"thread-{n}", "bot": bot, "title": f"Question {n}?", "began_s": n, "said_s": n} for n in range(THREADS)
    ]
    page.route("**/app/threads*", lambda route: route.fulfill(json={"threads": rows, "next": None}))
    page.evaluate(_FILL, LINES)


def answered(page: Any, *, drawer: bool = False) -> Answered:
    """Ask by writing, and watch until all of the answer was heard; with `drawer` it is opened in the middle."""
    answers, receipts = (page.locator(which).count() for which in (ANSWERS, ".receipt"))
    browser = page.context.browser
    page.fill("#line", _QUESTION)
    browser.start_tracing(categories=list(_TRACED))
    _mark(page, _ASKED)
    page.keyboard.press("Enter")
    page.locator(f"{ANSWERS} .words:not(:empty)").nth(answers).wait_for(state="attached")
    page.evaluate("watchAgain()")
    _mark(page, _BEGUN)
    if drawer:
        page.click("#kept")
    page.locator(".receipt").nth(receipts).wait_for(state="attached")
    page.wait_for_selector("body[data-state=listening]")
    _mark(page, _ENDED)
    told = page.evaluate("watched")
    events = json.loads(browser.stop_tracing())["traceEvents"]
    return Answered(
        tasks_between(events, _ASKED, _BEGUN),
        tasks_between(events, _BEGUN, _ENDED),
        told["frames"],
        told["scripts"],
        told["most"],
        told["audible"],
    )


def tasks_between(events: Sequence[dict[str, Any]], since: str, until: str) -> list[Task]:
    """The tasks of the thread that made these marks, from one mark to the other, out of a browser's trace."""
    first, last = (next(event for event in events if event["name"] == mark) for mark in (since, until))
    # A task that took no time to speak of is told without it.
    return [
        Task(event.get("dur", 0) / 1000, event.get("tdur", 0) / 1000)
        for event in events
        if event["name"] == _TASK
        and (event["pid"], event["tid"]) == (first["pid"], first["tid"])
        and event["ts"] + event.get("dur", 0) > first["ts"]
        and event["ts"] < last["ts"]
    ]


def longest_cpu_ms(tasks: Iterable[Task]) -> float:
    """The most CPU time that one of the tasks used."""
    return max((task.cpu_ms for task in tasks), default=0.0)


def _mark(page: Any, name: str) -> None:
    page.evaluate("name => void performance.mark(name)", name)
