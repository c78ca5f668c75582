"""The drawer in Chromium, over real kept conversations: listed, reopened, gone on with, forgotten, and quick."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from kept_house import KeptHouse, Opened
from scripted import tabbed, wait_for

from web.browser import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

SHOWN = "[...document.querySelectorAll('#transcript li .words')].map((words) => words.textContent)"
FOCUSED = "(({ id, dataset, tagName }) => id || dataset.does || tagName)(document.activeElement)"
# The conversation whose row the keyboard is on, and what is pressed there.
AT = "((at) => [at.closest('li')?.querySelector('b')?.textContent, at.dataset.does])(document.activeElement)"
# How far from its end the transcript is scrolled.
TO_END = """(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(
  document.querySelector("#transcript"))"""


def write(page: Any, text: str) -> None:
    """Write a line and wait until its answer is over."""
    receipts = page.locator(".receipt").count()
    page.fill("#line", text)
    page.keyboard.press("Enter")
    until(page, f"document.querySelectorAll('.receipt').length > {receipts}")
    until(page, "document.body.dataset.state === 'listening'")


def test_what_was_said_is_listed_reopened_and_gone_on_with(visit: Callable[..., Any], house: Opened) -> None:
    here = house(["You are Ada."], ["You said that you are Ada."])
    page = visit(base=here.url)
    write(page, "I am Ada.")
    page.reload()
    until(page, SHOWN, gives=[])
    page.click("#kept")
    page.click("#drawer .thread:has-text('I am Ada.')")
    page.wait_for_selector("#drawer", state="hidden")
    until(page, SHOWN, gives=["I am Ada.", "You are Ada."])
    page.wait_for_selector("#start:has-text('Go on talking')")
    write(page, "Who am I?")
    assert [line["content"] for line in here.door.asked[1]["messages"]] == ["I am Ada.", "You are Ada.", "Who am I?"]
    assert here.threads() == ["I am Ada."]
    all_said = ["I am Ada.", "You are Ada.", "Who am I?", "You said that you are Ada."]
    wait_for(page, lambda: [text for _, text in here.lines("I am Ada.")], gives=all_said)


def test_another_conversation_is_taken_up_while_talking(visit: Callable[..., Any], house: Opened) -> None:
    here = house(["One."], ["Two."])
    here.keep("An old question?", "An old answer.")
    page = visit(base=here.url)
    write(page, "A question of today?")
    page.click("#kept")
    page.click("#drawer .thread:has-text('An old question?')")
    until(page, f"{SHOWN}[0] === 'An old question?'")
    until(page, "document.body.dataset.state === 'listening'")
    write(page, "And now?")
    assert [line["content"] for line in here.door.asked[1]["messages"]] == [
        "An old question?", "An old answer.", "And now?",
    ]  # fmt: skip
    wait_for(
        page, lambda: [text for _, text in here.lines("A question of today?")], gives=["A question of today?", "One."]
    )


def test_l11_who_leaves_while_it_connects_leaves_no_ghost(visit: Callable[..., Any], house: Opened) -> None:
    here = house(["One."])
    page = visit(base=here.url)
    held: list[Any] = []
    page.route("**/start", lambda route: held.append(route))
    sockets: list[str] = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    page.fill("#line", "To nobody?")
    page.keyboard.press("Enter")
    wait_for(page, lambda: len(held) == 1)
    page.click("#kept")
    page.click("#drawer [data-does=fresh]")
    wait_for(page, lambda: len(held) == 2)
    for route in held:
        route.continue_()
    until(page, "document.body.dataset.state === 'listening'")
    write(page, "To somebody?")
    assert len(sockets) == 1
    wait_for(page, here.threads, gives=["To somebody?"])


def test_a_new_conversation_begins_empty(visit: Callable[..., Any], house: Opened) -> None:
    here = house(["One."], ["Two."])
    page = visit(base=here.url)
    write(page, "First?")
    page.click("#kept")
    page.click("#drawer [data-does=fresh]")
    until(page, SHOWN, gives=[])
    page.wait_for_selector("#live:has-text('Ask me anything about Firstword.')")
    until(page, "document.body.dataset.state === 'listening'")
    write(page, "Second?")
    assert here.door.asked[1]["messages"] == [{"role": "user", "content": "Second?"}]
    wait_for(page, here.threads, gives=["Second?", "First?"])


def test_forgetting_is_asked_once_and_then_done(visit: Callable[..., Any], house: Opened) -> None:
    here = house()
    here.keep("To be kept.")
    here.keep("To be forgotten.")
    page = visit(base=here.url)
    page.click("#kept")
    row = page.locator("#drawer li", has_text="To be forgotten.")
    row.locator("[data-does=ask]").click()
    row.locator("[data-does=keep]").click()
    row.locator("[data-does=ask]").wait_for()
    assert here.threads() == ["To be forgotten.", "To be kept."]
    # One question at a time.
    page.locator("#drawer li", has_text="To be kept.").locator("[data-does=ask]").click()
    row.locator("[data-does=ask]").click()
    until(page, "[...document.querySelectorAll('#drawer .asked')].length", gives=1)
    row.locator("[data-does=forget]").click()
    page.wait_for_selector("#drawer [role=status]:has-text('Forgotten.')")
    assert here.threads() == ["To be kept."]
    until(page, "document.querySelectorAll('#drawer #threads li').length", gives=1)


def test_forgetting_what_is_being_said_begins_afresh(visit: Callable[..., Any], house: Opened) -> None:
    here = house(["One."], ["Two."])
    page = visit(base=here.url)
    write(page, "Forget me.")
    page.click("#kept")
    page.wait_for_selector("#drawer .thread[aria-current=true]")
    page.click("#drawer [data-does=ask]")
    page.click("#drawer [data-does=forget]")
    until(page, f"{SHOWN}.length === 0")
    page.click("#drawer [data-does=close]")
    until(page, "document.body.dataset.state === 'listening'")
    write(page, "Who am I?")
    assert here.door.asked[1]["messages"] == [{"role": "user", "content": "Who am I?"}]
    wait_for(page, here.threads, gives=["Who am I?"])


def test_the_drawer_is_worked_by_keyboard_and_gives_the_focus_back(visit: Callable[..., Any], house: Opened) -> None:
    here = house()
    here.keep("Older.")
    here.keep("Newer.")
    page = visit(base=here.url)
    page.focus("#kept")
    page.keyboard.press("Enter")
    page.wait_for_selector("#drawer .thread >> nth=1")
    # Nothing behind the drawer is reached while it is open.
    assert tabbed(page, FOCUSED, 8) - {"BODY"} == {"close", "fresh", "SUMMARY", "choose", "ask"}
    page.keyboard.press("Escape")
    page.wait_for_selector("#drawer", state="hidden")
    until(page, FOCUSED, gives="kept")
    page.keyboard.press("Enter")
    page.wait_for_selector("#drawer .thread >> nth=1")
    page.focus("#drawer li:nth-child(2) .thread")
    page.keyboard.press("Enter")
    until(page, SHOWN, gives=["Older."])
    until(page, FOCUSED, gives="kept")
    page.keyboard.press("Enter")
    page.focus("#drawer li:nth-child(1) [data-does=ask]")
    page.keyboard.press("Enter")
    until(page, FOCUSED, gives="keep")
    page.keyboard.press("Shift+Tab")
    until(page, FOCUSED, gives="forget")
    page.keyboard.press("Enter")
    wait_for(page, here.threads, gives=["Older."])
    until(page, FOCUSED, gives="choose")


def test_a_list_that_is_looked_up_again_leaves_the_keyboard_and_the_question_where_they_are(
    visit: Callable[..., Any], house: Opened
) -> None:
    here = house()
    _, gone, stays = (here.keep(title) for title in ("Oldest.", "Gone elsewhere.", "Stays."))
    page = visit(base=here.url)
    page.click("#kept")
    page.wait_for_selector("#drawer .thread >> nth=2")
    answers: list[Any] = []
    page.route("**/app/threads?*", lambda route: answers.append(route))

    def opened_again() -> None:
        """Open the drawer once more; what the server says of it is held back until `answered`."""
        page.keyboard.press("Escape")
        page.wait_for_selector("#drawer", state="hidden")
        page.click("#kept")
        wait_for(page, lambda: len(answers), gives=1)

    def answered() -> None:
        answers.pop().continue_()

    row = page.locator("#drawer li", has_text="Stays.")
    # A conversation more; this one is said on in, and so moves; and the question about it is still asked.
    opened_again()
    page.focus("#drawer li:has-text('Oldest.') [data-does=ask]")
    here.keep("Newest.")
    answered()
    page.wait_for_selector("#drawer li:first-child:has-text('Newest.')")
    until(page, AT, gives=["Oldest.", "ask"])
    opened_again()
    row.locator("[data-does=ask]").focus()
    page.keyboard.press("Enter")
    until(page, FOCUSED, gives="keep")
    here.say_on(stays, "And one thing more.")
    answered()
    page.wait_for_selector("#drawer li:first-child:has-text('Stays.')")
    until(page, FOCUSED, gives="keep")
    page.keyboard.press("Enter")
    until(page, AT, gives=["Stays.", "ask"])
    # One that was forgotten elsewhere leaves the keyboard on its neighbour.
    opened_again()
    page.focus("#drawer li:has-text('Gone elsewhere.') .thread")
    here.do(here.kept.forget("owner", gone))
    answered()
    page.wait_for_selector("#drawer li:has-text('Gone elsewhere.')", state="detached")
    until(page, AT, gives=["Oldest.", "choose"])


def test_what_is_remembered_is_read_and_forgotten_by_whose_it_is(visit: Callable[..., Any], house: Opened) -> None:
    here = house()
    here.remember("I have two dogs.", "I live in Lisbon.", "<b>bold</b>")
    here.remember("I am somebody else.", subject="bo")
    page = visit(base=here.url)
    page.click("#kept")
    page.focus("#memories summary")
    page.keyboard.press("Enter")
    memories = "[...document.querySelectorAll('#memories li span')].map((each) => each.textContent)"
    until(page, memories, gives=["<b>bold</b>", "I live in Lisbon.", "I have two dogs."])
    page.focus("[aria-label='Forget “I live in Lisbon.”']")
    page.keyboard.press("Enter")
    page.wait_for_selector("#memories [role=status]:has-text('Forgotten.')")
    assert here.remembered() == ["<b>bold</b>", "I have two dogs."]
    until(page, "document.activeElement.ariaLabel", gives="Forget “I have two dogs.”")
    # Looked up again, it leaves the keyboard where it is.
    answers: list[Any] = []
    page.route("**/app/memories?*", lambda route: answers.append(route))
    page.click("#memories summary")
    page.click("#memories summary")
    wait_for(page, lambda: len(answers), gives=1)
    page.focus("[aria-label='Forget “I have two dogs.”']")
    here.remember("I have a cat.")
    answers.pop().continue_()
    until(page, memories, gives=["I have a cat.", "<b>bold</b>", "I have two dogs."])
    until(page, "document.activeElement.ariaLabel", gives="Forget “I have two dogs.”")
    assert here.remembered("bo") == ["I am somebody else."]


def test_a_bot_that_remembers_nothing_says_nothing_of_it(visit: Callable[..., Any]) -> None:
    page = visit()
    page.click("#kept")
    page.wait_for_selector("#drawer")
    assert not page.is_visible("#memories")


def test_nothing_kept_and_nobody_there_are_said_in_words(visit: Callable[..., Any], house: Opened) -> None:
    here = house()
    page = visit(base=here.url)
    page.click("#kept")
    page.wait_for_selector("#drawer [role=status]:has-text('Nothing is kept yet')")
    page.keyboard.press("Escape")
    page.wait_for_selector("#drawer", state="hidden")
    page.context.set_offline(True)
    page.click("#kept")
    page.wait_for_selector("#drawer [role=status]:has-text('no connection')")


def test_what_is_in_a_title_is_text(visit: Callable[..., Any], house: Opened) -> None:
    here = house()
    here.keep("<img src=x onerror='window.hit=1'>")
    page = visit(base=here.url)
    page.click("#kept")
    page.wait_for_selector("#drawer .thread")
    assert page.inner_text("#drawer .thread b") == "<img src=x onerror='window.hit=1'>"
    assert page.query_selector("#drawer img") is None


def test_a_server_restarted_in_mid_conversation_is_the_same_conversation(
    visit: Callable[..., Any], house: Opened
) -> None:
    here = house(["One."], ["Two."])
    page = visit(base=here.url)
    write(page, "First?")
    here.stop()
    page.wait_for_selector("#notice:has-text('connection was lost')")
    here.start()
    page.wait_for_selector("#notice:has-text('is back')")
    write(page, "Second?")
    assert [line["content"] for line in here.door.asked[1]["messages"]] == ["First?", "One.", "Second?"]
    assert here.threads() == ["First?"]
    wait_for(page, lambda: [text for _, text in here.lines("First?")], gives=["First?", "One.", "Second?", "Two."])


def crowd(here: KeptHouse) -> None:
    here.keep_all([f"Question {n}, which is about as long as such a question is?"] for n in range(200))
    here.keep(*[f"Line {n} of a long conversation, with a few words in it." for n in range(500)])


def test_two_hundred_threads_and_five_hundred_lines_are_shown_whole_and_at_their_end(
    visit: Callable[..., Any], house: Opened
) -> None:
    here = house(["Still here."])
    crowd(here)
    page = visit(base=here.url)
    page.click("#kept")
    page.wait_for_selector("#drawer li >> nth=199")
    page.click("#drawer [data-does=older]")
    page.wait_for_selector("#drawer li >> nth=200")
    page.wait_for_selector("#drawer #older", state="hidden")
    # Whoever pressed what is gone goes on at the first of what it brought.
    until(page, "document.activeElement === document.querySelectorAll('#threads li')[200].querySelector('button')")
    page.click("#drawer .thread >> nth=0")
    until(page, f"{SHOWN}.length === 500")
    until(page, f"{TO_END} < 2")
    write(page, "Are you there?")
    until(page, f"{SHOWN}.slice(-2)", gives=["Are you there?", "Still here."])
    until(page, f"{TO_END} < 2")
