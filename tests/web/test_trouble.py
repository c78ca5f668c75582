"""The page in Chromium when something is missing: what the person is told, once, and what still works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from scripted import Script, bubbles, wait_for

from web.browser import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


def write(page: Any, text: str) -> None:
    page.fill("#line", text)
    page.keyboard.press("Enter")


def test_a_refused_microphone_is_said_once_and_typing_goes_on(visit: Callable[..., Any], script: Script) -> None:
    page = visit(refuse=True)
    page.click("#start:enabled")
    page.wait_for_selector("#notice:has-text('microphone was refused')")
    until(page, "document.activeElement.id", gives="line")
    write(page, "Can you read me?")
    page.wait_for_selector(".receipt")
    assert page.inner_text("#transcript li[data-role=assistant] .words") == script.answer


def test_an_insecure_address_says_why_there_is_no_microphone_and_takes_what_is_written(
    visit: Callable[..., Any], script: Script, url: str
) -> None:
    page = visit(base=url.replace("127.0.0.1", "insecure.test"))
    page.wait_for_selector("#notice:has-text('not secure')")
    why = page.inner_text("#notice")
    until(page, "document.querySelector('#start').textContent", gives="Start")
    write(page, "Can you read me?")
    page.wait_for_selector(".receipt")
    assert bubbles(page) == [("user", "Can you read me?"), ("assistant", script.answer)]
    # Said as the page opened, and not once more when there is no sound either.
    assert page.inner_text("#notice") in (why, "")


def test_on_a_slow_network_every_press_is_answered_at_once_and_every_word_arrives(
    visit: Callable[..., Any], script: Script
) -> None:
    page = visit()
    page.wait_for_selector("#start:enabled")
    network = page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 900, "downloadThroughput": 30_000, "uploadThroughput": 10_000}
    network.send("Network.emulateNetworkConditions", slow)
    # What a person sees in the very moment of the press, before anything can have come back.
    seen = page.evaluate("""() => {
      document.querySelector("#line").value = "Is anybody there?";
      document.querySelector("#say").requestSubmit();
      const { textContent: state } = document.querySelector("#state");
      return [state, document.querySelector("#line").value, document.querySelector("#orb").dataset.mood];
    }""")
    assert seen == ["Connecting…", "", "connecting"]
    until(page, "document.querySelector('#live').textContent", gives="Is anybody there?")
    page.wait_for_selector(".receipt")
    assert bubbles(page) == [("user", "Is anybody there?"), ("assistant", script.answer)]
    assert page.inner_text("#notice") == ""


def test_a_lost_connection_is_said_once_and_comes_back_with_what_was_said(
    visit: Callable[..., Any], script: Script
) -> None:
    script.answer_s = 6.0
    page = visit()
    write(page, "Before.")
    until(page, "document.body.dataset.state === 'speaking'")
    script.busy = True
    script.drop()
    page.wait_for_selector("#notice:has-text('connection was lost')")
    script.busy = False
    page.wait_for_selector("#notice:has-text('is back')")
    wait_for(page, lambda: script.kinds().count("conversation.item.create") == 3)
    told = [event["item"]["content"][0]["text"] for event in script.seen if event["type"] == "conversation.item.create"]
    assert told[1:3] == ["Before.", script.answer]
    assert script.starts == 2
    script.answer_s = 0.5
    write(page, "After.")
    page.wait_for_selector("#transcript li[data-role=user]:has-text('After.')")


def test_what_is_written_without_a_connection_is_sent_when_it_is_back(
    visit: Callable[..., Any], script: Script
) -> None:
    page = visit()
    write(page, "Before.")
    page.wait_for_selector(".receipt")
    page.context.set_offline(True)
    script.drop()
    page.wait_for_selector("#notice:has-text('connection was lost')")
    write(page, "In the dark.")
    page.wait_for_selector("#notice:has-text('sent when it is back')")
    page.context.set_offline(False)
    page.wait_for_selector("#transcript li[data-role=user]:has-text('In the dark.')")
    page.wait_for_selector("#transcript li:nth-child(4) .receipt")


def test_a_start_that_is_refused_says_the_servers_sentence(visit: Callable[..., Any], script: Script) -> None:
    script.refuse = "This bot is resting until tomorrow."
    page = visit()
    page.click("#start:enabled")
    page.wait_for_selector("#notice:has-text('resting until tomorrow')")
    page.wait_for_selector("#start")


def test_models_on_their_way_are_shown_in_bytes(visit: Callable[..., Any], script: Script) -> None:
    script.loading = [
        {"name": "whisper", "what": "hearing English", "bytes": 31_000_000, "total_bytes": 77_000_000},
        {"name": "voice", "what": "a voice", "bytes": 0, "total_bytes": 63_000_000},
    ]
    page = visit()
    page.wait_for_selector("#loading:has-text('31 of 77 MB')")
    assert page.get_by_label("hearing English").get_attribute("value") == "31000000"
    assert page.is_disabled("#start")
    script.loading = []
    page.wait_for_selector("#start:enabled")
    page.wait_for_selector("#loading", state="hidden")


def test_without_sound_worklets_answers_are_still_written(visit: Callable[..., Any], script: Script) -> None:
    page = visit(before="AudioWorklet.prototype.addModule = async () => { throw new Error('no worklets'); };")
    write(page, "Hello?")
    page.wait_for_selector(".receipt")
    page.wait_for_selector("#notice:has-text('Answers are written')")
    assert page.inner_text("#transcript li[data-role=assistant] .words") == script.answer
