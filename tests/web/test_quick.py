"""How much the page does while an answer streams: work is counted, not timed, so that it is the same on any machine.

What it costs on the real server, in CPU time: `tests/firstword/test_page_quick.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from kept_house import Opened
from scripted import Script

from web.browser import until
from web.quick import in_figures
from web.watched import LONG_TASK_MS, Answered, Task, answered, longest_cpu_ms, tasks_between, watched_page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

# Counts what makes a page slow: changes of the document, layout that is asked for in the middle of a script, drawings.
COUNT = """
window.counted = { changes: 0, nodes: 0, elsewhere: 0, layouts: 0, drawings: 0, frames: 0, most: 0 };
for (const [owner, name] of [
  [Element, "scrollHeight"], [Element, "scrollTop"], [Element, "clientHeight"], [Element, "clientWidth"],
  [HTMLElement, "offsetHeight"], [HTMLElement, "offsetWidth"],
]) {
  const { get, set } = Object.getOwnPropertyDescriptor(owner.prototype, name);
  const counting = function () { counted.layouts++; return get.call(this); };
  Object.defineProperty(owner.prototype, name, { get: counting, set });
}
const bounds = Element.prototype.getBoundingClientRect;
Element.prototype.getBoundingClientRect = function () { counted.layouts++; return bounds.call(this); };
const clear = CanvasRenderingContext2D.prototype.clearRect;
let drawn = 0;
CanvasRenderingContext2D.prototype.clearRect = function (...all) { drawn++; return clear.apply(this, all); };
window.beginCounting = () => {
  Object.assign(counted, { changes: 0, nodes: 0, elsewhere: 0, layouts: 0, drawings: 0, frames: 0, most: 0 });
  window.watching?.disconnect();
  window.watching = new MutationObserver((all) => {
    for (const { type, addedNodes, removedNodes, target } of all) {
      if (type === "attributes") continue;
      counted.changes++;
      counted.nodes += addedNodes.length + removedNodes.length;
      const element = target.nodeType === 1 ? target : target.parentElement;
      if (!element.closest("li, ol, #spoken, #state, #live, #start")) counted.elsewhere++;
    }
  });
  watching.observe(document.body, { subtree: true, childList: true, characterData: true });
};
const tick = () => {
  counted.frames++;
  counted.most = Math.max(counted.most, drawn);
  counted.drawings += drawn;
  drawn = 0;
  requestAnimationFrame(tick);
};
requestAnimationFrame(tick);
"""
WORDS = 300
LONG = 500


def answer(page: Any) -> dict[str, int]:
    """Ask, wait until all of the answer is there, and give what was counted."""
    page.fill("#line", "Tell me everything.")
    page.evaluate("beginCounting()")
    page.keyboard.press("Enter")
    until(page, "document.querySelectorAll('.receipt').length > 0")
    counted: dict[str, int] = page.evaluate("counted")
    return counted


def test_an_answer_costs_one_change_a_word_and_no_layout(visit: Callable[..., Any], script: Script) -> None:
    script.answer = " ".join(f"word{n}" for n in range(WORDS))
    page = visit(before=COUNT)
    page.wait_for_selector("#start:enabled")
    counted = answer(page)
    # A change a word, and a few dozen for the state, the live line, the two bubbles and the receipt.
    assert WORDS * 0.9 < counted["changes"] < WORDS + 60
    assert counted["nodes"] < 60
    assert counted["elsewhere"] == 0
    # Layout is asked for once a frame at most, where the transcript has grown.
    assert counted["layouts"] <= 5 * counted["frames"] + 20
    assert counted["layouts"] < WORDS
    assert counted["most"] <= 1


def test_a_conversation_of_five_hundred_lines_costs_what_an_empty_one_does(
    visit: Callable[..., Any], house: Opened
) -> None:
    words = [f"word{n} " for n in range(60)]
    here = house(words, words)
    page = visit(base=here.url, before=COUNT)
    empty = answer(page)
    here.keep(*[f"Line {n} of a long conversation, with a few words in it." for n in range(LONG)])
    here.keep_all([f"Question {n}, about as long as such a question is?"] for n in range(199))
    page.evaluate("beginCounting()")
    page.click("#kept")
    page.wait_for_selector("#drawer li >> nth=199")
    listed = page.evaluate("counted")
    # Rows in a few portions, of five elements each; those out of sight are not laid out.
    assert listed["changes"] < 20
    assert page.evaluate("document.querySelectorAll('#drawer li *').length") <= 5 * 200
    assert page.evaluate("getComputedStyle(document.querySelector('#drawer li')).contentVisibility") == "auto"
    page.click("#drawer [data-does=older]")
    page.click("#drawer .thread:has-text('Line 0')")
    until(page, f"document.querySelectorAll('#transcript li').length === {LONG}")
    long = answer(page)
    assert page.evaluate("document.querySelectorAll('#transcript li .words').length") == LONG + 2
    assert abs(long["changes"] - empty["changes"]) <= 20
    assert abs(long["nodes"] - empty["nodes"]) <= 20
    assert long["layouts"] <= 5 * long["frames"] + 20
    assert long["elsewhere"] == empty["elsewhere"] == 0


# Some 200 ms of work again and again, however long it takes; and every frame is drawn once more.
HELD_UP = """() => {
  setInterval(() => { for (let n = 0, sum = 0; n < 1e8; n++) sum += Math.sqrt(n); }, 500);
  const pen = document.querySelector("#orb canvas").getContext("2d");
  const again = () => { pen.clearRect(0, 0, 0, 0); requestAnimationFrame(again); };
  again();
}"""


def test_a_task_that_holds_the_page_up_is_seen_and_so_is_a_second_drawing(visit: Callable[..., Any], url: str) -> None:
    page = visit(at="/")
    watched_page(page, url, "guide")
    before = answered(page)
    assert before.drawings_in_a_frame_at_most == 1
    page.evaluate(HELD_UP)
    held_up = answered(page)
    assert longest_cpu_ms([*held_up.pressed, *held_up.tasks]) > LONG_TASK_MS
    assert held_up.drawings_in_a_frame_at_most == 2


def test_tasks_are_those_of_the_marks_thread_between_them() -> None:
    page, spare = {"pid": 2, "tid": 1}, {"pid": 3, "tid": 1}
    task = {"name": "ThreadControllerImpl::RunTask", "ph": "X"}
    events = [
        {**task, **page, "ts": 50, "dur": 40, "tdur": 40},
        {"name": "first", **page, "ts": 100},
        {**task, **page, "ts": 90, "dur": 70_000, "tdur": 30_000},
        {**task, **spare, "ts": 110, "dur": 90_000, "tdur": 90_000},
        {"name": "FunctionCall", **page, "ts": 120, "dur": 9_000, "tdur": 9_000},
        # A browser tells nothing of what took no time.
        {**task, **page, "ts": 80_000},
        {"name": "last", **page, "ts": 90_000},
        {**task, **page, "ts": 90_001, "dur": 80_000, "tdur": 80_000},
    ]
    assert tasks_between(events, "first", "last") == [Task(70.0, 30.0), Task(0.0, 0.0)]


def test_what_was_watched_is_told_in_figures() -> None:
    frames = [16.7] * 98 + [40.0, 70.0]
    tasks = [Task(61.2, 30.0), Task(55.0, 31.24), Task(1.0, 1.0)]
    told = in_figures(Answered([Task(80.0, 60.0)], tasks, frames, [2.0] * 99 + [51.0], 1, 40))
    assert (told["long_tasks"], told["longest_task_ms"], told["late_frames"]) == (2, 61.2, 2)
    assert (told["longest_task_cpu_ms"], told["longest_task_of_the_press_ms"]) == (31.2, 80.0)
    assert (told["frame_p50_ms"], told["frame_p95_ms"], told["frames"]) == (16.7, 16.7, 100)
    assert (told["our_scripts_p50_ms"], told["our_scripts_longest_ms"]) == (2.0, 51.0)
    assert (told["frames_over_50_ms_of_our_scripts"], told["drawings_in_a_frame_at_most"]) == (1, 1)
    nothing = in_figures(Answered([], [], [], [], 0, 0))
    assert (nothing["longest_task_cpu_ms"], nothing["frame_p50_ms"]) == (0, None)
