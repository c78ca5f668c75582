"""What a typed question and its spoken answer cost the page: the real server and voice, in Chromium.

It is the CPU time of the page's main thread that is held to, as the browser's own trace tells it: a busy machine makes
a task longer, but hardly dearer. What the machine does meanwhile may still cost a task something, so of three answers
the cheapest counts. `python -m web.quick` tells how long the tasks took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from web.bots import VISUALS
from web.browser import open_browser
from web.watched import DRAW, LONG_TASK_MS, THREADS, Answered, answered, crowd, longest_cpu_ms, watched_page

pytestmark = [pytest.mark.models, pytest.mark.browser, pytest.mark.timeout(180)]

BOT = "guide"
TIMES = 3
ROWS = "#drawer #threads li"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def begun(browser: Any, scripted_url: str) -> Callable[[], Any]:
    """Opens a page that has answered once: the first press opens the browser's sound, which is dear by itself."""

    def open_page() -> Any:
        page = browser.new_context().new_page()
        watched_page(page, scripted_url, BOT)
        answered(page)
        return page

    return open_page


@pytest.fixture(scope="module")
def page(begun: Callable[[], Any]) -> Any:
    return begun()


def dearest_ms(answer: Callable[[], Answered]) -> list[float]:
    """The CPU time of the dearest task of each answer, until one has none that is too dear. Each was seen and heard."""
    dearest: list[float] = []
    while len(dearest) < TIMES and (not dearest or dearest[-1] >= LONG_TASK_MS):
        seen = answer()
        assert seen.audible_frames > 0
        assert seen.drawings_in_a_frame_at_most == 1
        # From the press on, and a trace without CPU times would hold nobody to anything.
        tasks = [*seen.pressed, *seen.tasks]
        assert sum(task.cpu_ms for task in tasks) > LONG_TASK_MS
        dearest.append(longest_cpu_ms(tasks))
    return dearest


@pytest.mark.parametrize("shape", VISUALS)
def test_no_task_is_long_and_no_frame_is_drawn_twice_while_an_answer_streams(page: Any, shape: str) -> None:
    page.evaluate(DRAW, shape)
    dearest = dearest_ms(lambda: answered(page))
    assert dearest[-1] < LONG_TASK_MS, dearest


def test_two_hundred_threads_opened_in_mid_answer_over_five_hundred_lines_are_as_quick(
    begun: Callable[[], Any],
) -> None:
    def answer() -> Answered:
        # A page of its own each time: rows that are there already cost nothing.
        page = begun()
        crowd(page, BOT)
        seen = answered(page, drawer=True)
        assert page.locator(ROWS).count() == THREADS
        page.context.close()
        return seen

    dearest = dearest_ms(answer)
    assert dearest[-1] < LONG_TASK_MS, dearest
