"""The page in Chromium as it looks: sizes, motion, keyboard, and what it keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from scripted import Script, tabbed

from web.browser import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


@pytest.mark.parametrize("width", [320, 768, 1440])
def test_nothing_is_wider_than_the_window(visit: Callable[..., Any], script: Script, width: int) -> None:
    script.fallen = "the speech endpoint voice.example answered 502"
    script.answer = "Averylongwordthatdoesnotfitintoalineofanysmallwindow" * 3 + " https://example.org/a/b?c"
    page = visit(viewport={"width": width, "height": 720})
    page.fill("#line", "W" * 300)
    page.keyboard.press("Enter")
    page.wait_for_selector(".receipt")
    page.click(".receipt summary")
    page.wait_for_selector(f'.receipt dl:has-text("this server\'s own from here on: {script.fallen}")')
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelector('#transcript').scrollWidth") <= width
    assert page.get_attribute("#transcript a", "rel") == "noreferrer noopener"
    page.click("#cog")
    page.wait_for_selector("#settings form")
    assert page.evaluate("document.querySelector('dialog').getBoundingClientRect().right") <= width
    wider = "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog'))"
    assert page.evaluate(wider) == 0


def test_what_anybody_says_is_text(visit: Callable[..., Any], script: Script) -> None:
    script.answer = '<img src=x onerror="window.hit=1"> javascript:alert(1)'
    page = visit()
    page.fill("#line", "<b>hello</b>")
    page.keyboard.press("Enter")
    page.wait_for_selector(".receipt")
    assert page.inner_text("#transcript li[data-role=user] .words") == "<b>hello</b>"
    assert page.query_selector("#transcript img, #transcript b:not(.receipt b), #transcript .words a") is None
    assert page.evaluate("window.hit") is None


def test_reduced_motion_is_one_still_picture_in_which_thinking_is_still_told(
    visit: Callable[..., Any], script: Script
) -> None:
    count = """const draw = CanvasRenderingContext2D.prototype.clearRect;
    window.drawings = 0;
    CanvasRenderingContext2D.prototype.clearRect = function (...all) {
      if (this.canvas.parentElement.id === "orb") window.drawings++;
      return draw.apply(this, all);
    };"""
    page = visit(reduced_motion="reduce", before=count)
    page.wait_for_selector("#start:enabled")
    before = page.evaluate("drawings")
    # Each state is written down as it is shown: on a busy machine it may not stay for a look.
    page.evaluate("""() => {
      window.states = [];
      const written = (all) => all.forEach(({ addedNodes: [text] }) => text && states.push(text.textContent));
      new MutationObserver(written).observe(document.querySelector("#state"), { childList: true });
    }""")
    page.fill("#line", "Hello?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".receipt")
    until(page, "states.includes('Speaking') && states.indexOf('Thinking…') >= 0")
    assert page.evaluate("states.indexOf('Thinking…') < states.indexOf('Speaking')")
    # One for each change of mood: connecting, thinking, rest.
    assert page.evaluate("drawings") - before <= 6


def test_at_most_one_drawing_a_frame(visit: Callable[..., Any]) -> None:
    page = visit()
    rates = page.evaluate("""() => new Promise((done) => {
      const draw = CanvasRenderingContext2D.prototype.clearRect;
      const counts = [];
      let now = 0;
      CanvasRenderingContext2D.prototype.clearRect = function (...all) {
        if (this.canvas.parentElement.id === "orb") now++;
        return draw.apply(this, all);
      };
      const orb = document.querySelector("#orb");
      const tick = () => {
        counts.push(now);
        now = 0;
        for (let i = 0; i < 5; i++) orb.assistant(Math.random(), true);
        if (counts.length < 30) requestAnimationFrame(tick);
        else done(counts);
      };
      requestAnimationFrame(tick);
    })""")
    assert max(rates) <= 1
    assert sum(rates) > 10


def test_settings_survive_a_reload_and_stay_on_the_device(visit: Callable[..., Any], script: Script) -> None:
    page = visit(at="/app/voice/host")
    page.click("#cog")
    page.check("input[value=radial]")
    page.check("input[value=hold]")
    page.select_option("dialog select >> nth=0", "amy")
    page.select_option("dialog select >> nth=1", "fr")
    page.uncheck("dialog input[type=checkbox]")
    page.reload()
    until(page, "document.querySelector('#orb').getAttribute('shape')", gives="radial")
    page.fill("#line", "Bonjour")
    page.keyboard.press("Enter")
    page.wait_for_selector("#transcript li[data-role=assistant]")
    session = script.last("session.update")["session"]
    assert session["output_modalities"] == ["text"]
    assert session["audio"]["output"]["voice"] == "amy"
    assert session["audio"]["input"]["transcription"] == {"language": "fr"}
    assert page.context.cookies() == []


def test_a_bot_with_one_voice_shows_no_choice_of_voice(visit: Callable[..., Any]) -> None:
    page = visit()
    page.click("#cog")
    page.wait_for_selector("#settings form")
    assert page.query_selector("dialog select") is None


def test_the_transcript_can_be_put_away_without_loss(visit: Callable[..., Any]) -> None:
    page = visit()
    page.fill("#line", "Hello?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".receipt")
    page.click("#fold")
    page.wait_for_selector("#transcript", state="hidden")
    page.click("#fold")
    page.wait_for_selector("#transcript li[data-role=assistant]")


def test_each_line_comes_from_its_own_side_and_whoever_reads_above_is_left_there(
    visit: Callable[..., Any], script: Script
) -> None:
    script.answer = " ".join(f"word{n}" for n in range(400))
    script.answer_s = 0.2
    page = visit(viewport={"width": 400, "height": 640})
    for asked in (1, 2):
        page.fill("#line", "Go on.")
        page.keyboard.press("Enter")
        page.wait_for_selector(f".receipt >> nth={asked - 1}")
        if asked == 1:
            # The newest is followed until the reader goes up.
            until(page, "(({ scrollTop }) => scrollTop)(document.querySelector('#transcript')) > 200")
            page.evaluate("document.querySelector('#transcript').scrollTop = 40")
            page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("document.querySelector('#transcript').scrollTop") == 40
    lines = "[...document.querySelectorAll('#transcript li[data-role]')]"
    assert page.evaluate(f"{lines}.map((li) => getComputedStyle(li).animationName)") == ["from-right", "from-left"] * 2


def test_everything_is_reached_by_keyboard(visit: Callable[..., Any]) -> None:
    page = visit()
    page.wait_for_selector("#start:enabled")
    reached = tabbed(page, "document.activeElement.id || document.activeElement.ariaLabel", 12)
    assert {"All bots", "fold", "cog", "start", "transcript", "line", "send"} <= reached


def test_whoever_starts_by_keyboard_is_on_the_microphones_button(visit: Callable[..., Any]) -> None:
    page = visit()
    page.wait_for_selector("#start:enabled")
    page.focus("#start")
    page.keyboard.press("Enter")
    page.wait_for_selector("#mic")
    until(page, "document.activeElement.id", gives="mic")


def test_the_page_asks_nobody_else_for_anything(visit: Callable[..., Any], url: str) -> None:
    page = visit()
    page.wait_for_selector("#start:enabled")
    names = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    assert len(names) > 10
    assert [name for name in names if not name.startswith(url)] == []
