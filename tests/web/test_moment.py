"""What the page shows of the moment is so, also after something that people do in the middle of something else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted import Script, bubbles, wait_for

from web.browser import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

STATE = "document.querySelector('#state').textContent"
LIVE = "document.querySelector('#live').textContent"


def opened(visit: Callable[..., Any], script: Script) -> Any:
    """A page whose conversation has been begun by writing, and answered."""
    script.answer_s = 0.1
    page = visit()
    ask(page, "Is anybody there?")
    page.wait_for_selector(".receipt")
    until(page, STATE, gives="Write to me")
    return page


def ask(page: Any, line: str) -> None:
    """Somebody writes a line and sends it."""
    page.fill("#line", line)
    page.keyboard.press("Enter")


def test_words_that_came_to_nothing_are_not_left_standing(visit: Callable[..., Any], script: Script) -> None:
    page = opened(visit, script)
    script.tell("input_audio_buffer.speech_started", item_id="u", audio_start_ms=0)
    script.tell("firstword.state", state="hearing")
    script.tell("firstword.partial", text="Please tell me")
    until(page, LIVE, gives="Please tell me")
    # A laugh, or the microphone was turned off in the middle of it: there never are words.
    script.tell("firstword.state", state="listening")
    until(page, LIVE, gives="")
    assert len(bubbles(page)) == 2


def test_a_line_that_waits_for_its_answer_is_seen_again_after_words_that_came_to_nothing(
    visit: Callable[..., Any], script: Script
) -> None:
    page = opened(visit, script)
    script.think_s = 60.0
    ask(page, "What is the first word?")
    until(page, LIVE, gives="What is the first word?")
    script.tell("firstword.partial", text="Thank you")
    until(page, LIVE, gives="Thank you")
    script.tell("firstword.state", state="listening")
    until(page, LIVE, gives="What is the first word?")


@pytest.mark.parametrize("held", [False, True])
def test_a_line_that_is_lost_while_a_call_sounds_leaves_nobody_speaking(
    visit: Callable[..., Any], script: Script, held: bool
) -> None:
    page = opened(visit, script)
    script.tell("output_audio_buffer.started", response_id="r")
    until(page, STATE, gives="Speaking")
    if held:
        script.tell("firstword.hold", held=True)
        until(page, STATE, gives="Listening…")
    starts = script.starts
    script.drop()
    wait_for(page, lambda: script.starts, gives=starts + 1)
    until(page, STATE, gives="Write to me")
    assert page.get_attribute("body", "data-state") == "listening"


def test_a_question_whose_answer_was_lost_with_the_line_stands_and_one_that_waits_is_sent(
    visit: Callable[..., Any], script: Script
) -> None:
    page = opened(visit, script)
    script.think_s = 60.0
    ask(page, "What is the first word?")
    wait_for(page, lambda: script.kinds().count("response.create"), gives=2)
    script.busy = True
    script.drop()
    until(page, STATE, gives="Connecting again…")
    assert page.evaluate(LIVE) == ""
    assert bubbles(page)[2:] == [("user", "What is the first word?")]
    ask(page, "Are you there?")
    until(page, LIVE, gives="Are you there?")
    script.think_s, script.busy = 0.0, False
    page.wait_for_selector(".receipt >> nth=1")
    assert bubbles(page)[3:] == [("user", "Are you there?"), ("assistant", script.answer)]


def test_escape_stops_what_is_being_thought_about(visit: Callable[..., Any], script: Script) -> None:
    page = opened(visit, script)
    script.think_s = 60.0
    ask(page, "Tell me everything.")
    until(page, STATE, gives="Thinking…")
    wait_for(page, lambda: script.kinds().count("response.create"), gives=2)
    page.keyboard.press("Escape")
    wait_for(page, lambda: "response.cancel" in script.kinds())
    until(page, STATE, gives="Write to me")
    assert page.evaluate(LIVE) == ""
    assert bubbles(page)[2:] == [("user", "Tell me everything.")]


def test_an_answer_that_becomes_written_as_it_sounds_is_silent_and_is_not_cut(
    visit: Callable[..., Any], script: Script
) -> None:
    page = opened(visit, script)
    script.answer_s = 4.0
    ask(page, "Tell me everything.")
    until(page, STATE, gives="Speaking")
    page.click("#cog")
    page.uncheck("#settings .switch input")
    until(page, f"{STATE} !== 'Speaking'")
    until(page, "document.querySelectorAll('.receipt').length", gives=2)
    assert script.last("session.update")["session"]["output_modalities"] == ["text"]
    assert "conversation.item.truncate" not in script.kinds()
    assert bubbles(page)[3] == ("assistant", script.answer)


def test_a_button_let_go_twice_at_once_sends_what_was_said_once(
    visit: Callable[..., Any], wav: Callable[..., Path], script: Script
) -> None:
    page = visit(wav())
    page.evaluate("localStorage.setItem('firstword.settings', JSON.stringify({ way: 'hold' }))")
    page.reload()
    page.click("#start:enabled")
    page.wait_for_selector("text=Hold the button and speak")
    page.evaluate("""() => {
      const mic = document.querySelector("#mic");
      for (const does of ["keydown", "keyup"]) mic.dispatchEvent(new KeyboardEvent(does, { key: " " }));
      mic.dispatchEvent(new FocusEvent("blur"));
    }""")
    # What is sent after it comes after whatever it sends.
    page.wait_for_selector(".receipt")
    ask(page, "Is anybody there?")
    page.wait_for_selector(".receipt >> nth=1")
    assert script.kinds().count("input_audio_buffer.commit") == 1


def test_why_an_answer_failed_is_told_until_the_next_one(visit: Callable[..., Any], script: Script) -> None:
    page = opened(visit, script)
    details = {"type": "failed", "error": {"message": "the model was silent"}}
    script.tell("response.done", response={"id": "r", "status": "failed", "status_details": details})
    page.wait_for_selector("#notice:has-text('the model was silent')")
    ask(page, "And now?")
    page.wait_for_selector(".receipt >> nth=1")
    assert page.inner_text("#notice") == ""
