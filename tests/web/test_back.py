"""Coming back: a server restarted in mid-answer, and a sign-in that ended while the page stayed open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from kept_house import Opened
from scripted import bubbles, wait_for

from web.browser import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


def write(page: Any, text: str) -> None:
    page.fill("#line", text)
    page.keyboard.press("Enter")


def answered(page: Any, count: int) -> None:
    until(page, f"document.querySelectorAll('.receipt').length === {count}")


def said(page: Any, *lines: str) -> None:
    wait_for(page, lambda: [text for _, text in bubbles(page)], gives=list(lines))


def test_a_server_restarted_in_mid_answer_keeps_what_was_written_of_it_and_goes_on(
    visit: Callable[..., Any], house: Opened
) -> None:
    here = house(["The first half. ", "...", "The second half."], ["And the next."])
    page = visit(base=here.url)
    write(page, "First?")
    page.wait_for_selector("#transcript li[data-role=assistant]:has-text('The first half.')")
    here.stop()
    page.wait_for_selector("#notice:has-text('connection was lost')")
    until(page, "document.body.dataset.state === 'lost'")
    page.wait_for_selector("#state:has-text('Connecting again…')")
    said(page, "First?", "The first half.")
    here.start()
    page.wait_for_selector("#notice:has-text('is back')")
    write(page, "Second?")
    answered(page, 1)
    said(page, "First?", "The first half.", "Second?", "And the next.")
    wait_for(page, here.threads, gives=["First?"])
    # Good news goes away by itself.
    until(page, "document.querySelector('#notice').textContent === ''")


def test_whose_sign_in_ended_is_led_to_it_and_back_to_what_they_were_saying(
    visit: Callable[..., Any], house: Opened
) -> None:
    here = house(["One."], ["Two."])
    page = visit(base=here.url)
    write(page, "First?")
    answered(page, 1)
    here.stop()
    page.wait_for_selector("#notice:has-text('connection was lost')")
    write(page, "Second?")
    here.signed_in = False
    with page.expect_navigation(url="**/app/voice/guide"):
        here.start()
    until(page, "document.querySelectorAll('#transcript li').length === 2")
    assert here.signed_in
    until(page, "document.querySelector('#line').value", gives="Second?")
    page.press("#line", "Enter")
    answered(page, 1)
    said(page, "First?", "One.", "Second?", "Two.")
    wait_for(page, here.threads, gives=["First?"])
