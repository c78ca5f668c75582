"""A long list in the drawer comes so many rows a frame; frames come here when a test says so, and the list is real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from kept_house import KeptHouse, Opened

from web.browser import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

# While `holding`, nothing that waits for a frame goes on before `frame()`.
FRAMES = """
window.holding = false;
window.held = [];
{
  const ask = requestAnimationFrame;
  window.requestAnimationFrame = (work) => (holding ? held.push(work) : ask(work));
  window.frame = () => { for (const work of held.splice(0)) work(performance.now()); };
}
"""
A_FRAME, A_PAGE = 40, 200
TITLES = "[...document.querySelectorAll('#threads b')].map((title) => title.textContent)"
# The conversation whose row the keyboard is on, and what is pressed there.
AT = "((at) => [at.closest('li')?.querySelector('b')?.textContent, at.dataset.does])(document.activeElement)"


def questions(here: KeptHouse, since: int, until: int) -> list[str]:
    """Conversations that were had before, and their titles as the drawer lists them."""
    titles = [f"Question {n}?" for n in range(since, until)]
    here.keep_all([title] for title in titles)
    return titles[::-1]


def opened(page: Any) -> None:
    """Open the drawer with frames held back."""
    page.evaluate("holding = true")
    page.click("#kept")


def shut(page: Any) -> None:
    page.keyboard.press("Escape")
    page.wait_for_selector("#drawer", state="hidden")


def whole(page: Any) -> None:
    """Let frames come again."""
    page.evaluate("holding = false, frame()")


def test_rows_come_in_order_so_many_a_frame_and_the_keyboard_stays_where_it_is(
    visit: Callable[..., Any], house: Opened
) -> None:
    here = house()
    all_there = questions(here, 0, A_PAGE + 1)
    page = visit(base=here.url, before=FRAMES)
    opened(page)
    until(page, TITLES, gives=all_there[:A_FRAME])
    assert page.inner_text("#kept-said") == ""
    page.focus("#threads li:nth-child(40) [data-does=ask]")
    for count in range(2 * A_FRAME, A_PAGE + 1, A_FRAME):
        # What is older than these is asked for once they are all there.
        assert not page.is_visible("#older")
        page.evaluate("frame()")
        until(page, TITLES, gives=all_there[:count])
    page.wait_for_selector("#older")
    until(page, AT, gives=[all_there[A_FRAME - 1], "ask"])


def test_what_is_forgotten_before_all_rows_are_there_does_not_come_back(
    visit: Callable[..., Any], house: Opened
) -> None:
    here = house()
    all_there = questions(here, 0, 100)
    page = visit(base=here.url, before=FRAMES)
    opened(page)
    until(page, TITLES, gives=all_there[:A_FRAME])
    page.click("#threads li:nth-child(2) [data-does=ask]")
    page.click("#threads [data-does=forget]")
    left = [title for title in all_there if title != all_there[1]]
    page.wait_for_selector("#kept-said:has-text('Forgotten.')")
    assert page.evaluate(TITLES) == left[: A_FRAME - 1]
    whole(page)
    until(page, TITLES, gives=left)
    assert page.inner_text("#kept-said") == "Forgotten."
    until(page, AT, gives=[left[1], "choose"])


def test_a_drawer_that_is_opened_again_before_all_rows_are_there_has_each_once(
    visit: Callable[..., Any], house: Opened
) -> None:
    here = house()
    all_there = questions(here, 0, 100)
    page = visit(base=here.url, before=FRAMES)
    opened(page)
    until(page, TITLES, gives=all_there[:A_FRAME])
    shut(page)
    newest = questions(here, 100, 101)
    opened(page)
    until(page, TITLES, gives=(newest + all_there)[: 2 * A_FRAME])
    whole(page)
    until(page, TITLES, gives=newest + all_there)


def test_rows_that_are_there_stay_when_the_drawer_is_opened_again(visit: Callable[..., Any], house: Opened) -> None:
    here = house()
    all_there = questions(here, 0, 100)
    page = visit(base=here.url, before=FRAMES)
    page.click("#kept")
    until(page, TITLES, gives=all_there)
    shut(page)
    newest = questions(here, 100, 101)
    page.evaluate("""() => {
      window.moved = { added: 0, removed: 0 };
      new MutationObserver((all) => {
        for (const { addedNodes, removedNodes } of all) {
          moved.added += addedNodes.length;
          moved.removed += removedNodes.length;
        }
      }).observe(document.querySelector("#threads"), { childList: true });
    }""")
    opened(page)
    # At once: no frame has come meanwhile.
    until(page, TITLES, gives=newest + all_there)
    assert page.evaluate("moved") == {"added": 1, "removed": 0}


def test_older_ones_asked_for_before_all_rows_are_there_come_after_them(
    visit: Callable[..., Any], house: Opened
) -> None:
    here = house()
    earlier = questions(here, 0, A_PAGE + 1)
    page = visit(base=here.url, before=FRAMES)
    page.click("#kept")
    page.wait_for_selector("#older")
    shut(page)
    all_there = questions(here, A_PAGE + 1, A_PAGE + 101) + earlier
    opened(page)
    # Those of before are there; of the hundred since then, as many as come at once.
    until(page, TITLES, gives=all_there[:A_FRAME] + earlier[: A_PAGE - 100])
    page.focus("#older")
    page.keyboard.press("Enter")
    until(page, TITLES, gives=all_there[: 2 * A_FRAME] + earlier[: A_PAGE - 100])
    whole(page)
    until(page, TITLES, gives=all_there)
    page.wait_for_selector("#older", state="hidden")
    until(page, AT, gives=[all_there[A_PAGE], "choose"])
