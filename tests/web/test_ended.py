"""The page when a conversation ends or may not begin: the server's own sentence, and the way back in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from kept_house import Opened
from scripted import wait_for

from voice import Limits
from web.browser import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


def write(page: Any, text: str) -> None:
    receipts = page.locator(".receipt").count()
    page.fill("#line", text)
    page.keyboard.press("Enter")
    until(page, f"document.querySelectorAll('.receipt').length > {receipts}")


def test_a_conversation_without_a_word_ends_in_words_and_goes_on_where_it_was(
    visit: Callable[..., Any], house: Opened
) -> None:
    here = house(["One."], ["Two."], limits=Limits(idle_s=0.1))
    page = visit(base=here.url)
    write(page, "First?")
    page.wait_for_selector("#notice:has-text('Nobody has said a word for a while')")
    page.wait_for_selector("#start")
    write(page, "Second?")
    assert [line["content"] for line in here.door.asked[1]["messages"]] == ["First?", "One.", "Second?"]
    wait_for(page, here.threads, gives=["First?"])


def test_one_more_than_a_person_may_have_is_refused_once_and_in_words(visit: Callable[..., Any], house: Opened) -> None:
    here = house(["One."], limits=Limits(per_person=1))
    first, second = visit(base=here.url), visit(base=here.url)
    write(first, "First?")
    started: list[str] = []
    second.on("request", lambda asked: started.append(asked.url) if asked.url.endswith("/start") else None)
    second.click("#start:enabled")
    second.wait_for_selector("#notice:has-text('You already have 1 conversation(s) open')")
    second.wait_for_selector("#start:visible")
    # Long enough for a second try, if there were one.
    second.wait_for_timeout(1_000)
    assert len(started) == 1


def test_a_full_house_is_said_and_tried_again_until_there_is_a_place(visit: Callable[..., Any], house: Opened) -> None:
    here = house(["One."], ["Two."], limits=Limits(sessions=1))
    first, second = visit(base=here.url), visit(base=here.url)
    write(first, "First?")
    second.fill("#line", "Is there a place?")
    second.keyboard.press("Enter")
    second.wait_for_selector("#notice:has-text('Every place is taken')")
    first.goto("about:blank")
    second.wait_for_selector(".receipt")
    wait_for(second, here.threads, gives=["Is there a place?", "First?"])
