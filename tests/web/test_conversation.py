"""The page in Chromium, with a WAV as the microphone: what a person hears and sees in a conversation."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted import Script, bubbles, wait_for

from web.browser import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

# Taps whatever goes to the loudspeaker (`tap.js` is the partner's): each block's peak, with the audio clock's time.
TAP = """
window.tapped = [];
window.marks = {};
const connect = AudioNode.prototype.connect;
AudioNode.prototype.connect = function (to, ...rest) {
  if (to === this.context.destination) window.tap = { from: this, context: this.context };
  return connect.call(this, to, ...rest);
};
window.startTap = async () => {
  const { from, context } = window.tap;
  await context.audioWorklet.addModule("/tap.js");
  const node = new AudioWorkletNode(context, "ear", { numberOfOutputs: 0 });
  node.port.onmessage = ({ data }) => window.tapped.push(...data);
  connect.call(from, node);
};
window.clock = () => window.tap.context.currentTime;
"""


def tap(page: Any) -> None:
    """Begin to record the loudspeaker."""
    until(page, "window.tap && window.tap.context.state === 'running'")
    page.evaluate("startTap()")


def start(page: Any) -> None:
    page.click("#start:enabled")


def test_a_spoken_question_is_shown_live_answered_aloud_and_written_once(
    visit: Callable[..., Any], wav: Callable[..., Path], script: Script
) -> None:
    page = visit(wav((1.0, 2.0)), before=TAP)
    page.evaluate("""() => {
      const live = document.querySelector("#live");
      const lines = document.querySelector("#transcript").getElementsByClassName("words");
      window.moments = [];
      const look = () => moments.push([live.dataset.how, live.textContent, lines.length]);
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    }""")
    start(page)
    tap(page)
    page.wait_for_selector(".receipt")
    seen = [tuple(moment) for moment in page.evaluate("window.moments")]
    assert ("live", "What is the first", 0) in seen
    # Held while the bot thinks, dark once the pair is in the transcript: never in both places at once.
    assert ("held", script.heard, 0) in seen
    assert all(not text for _, text, lines in seen if lines)
    assert bubbles(page) == [("user", script.heard), ("assistant", script.answer)]
    assert "431 ms" in page.inner_text(".receipt summary")
    until(page, "window.tapped.filter(([, peak]) => peak > 0.2).length > 100")


def test_frames_are_20_ms_of_24_khz_and_the_session_asks_for_our_events(
    visit: Callable[..., Any], wav: Callable[..., Path], script: Script
) -> None:
    page = visit(wav((1.0, 1.5)))
    start(page)
    page.wait_for_selector("#transcript li[data-role=user]")
    session = script.last("session.update")["session"]
    assert session["firstword"]["events"] is True
    assert session["audio"]["input"]["format"] == {"type": "audio/pcm", "rate": 24000}
    # The scripted partner asserts the length of each frame; a failure there would have closed the connection.
    assert script.starts == 1


def test_talking_over_the_answer_stops_it_and_tells_what_was_heard(
    visit: Callable[..., Any], wav: Callable[..., Path], script: Script
) -> None:
    script.answer_s = 6.0
    page = visit(wav((1.0, 1.6), (4.0, 5.5)), before=TAP)
    start(page)
    tap(page)
    until(page, "document.body.dataset.state === 'speaking'")
    until(page, "document.querySelector('#transcript li[data-role=assistant] .words').textContent.endsWith('—')")
    stop = page.evaluate("clock()")
    until(page, f"tapped.at(-1)[0] > {stop + 0.3}")
    after = page.evaluate(f"tapped.filter(([at]) => at > {stop} && at < {stop + 0.3}).map(([, peak]) => peak)")
    assert max(after) < 0.005
    wait_for(page, lambda: "conversation.item.truncate" in script.kinds())
    told = script.last("conversation.item.truncate")
    assert 500 < told["audio_end_ms"] < 5_500


def test_a_cough_pauses_the_answer_and_it_goes_on(
    visit: Callable[..., Any], wav: Callable[..., Path], script: Script
) -> None:
    script.answer_s, script.over = 3.0, "nothing"
    page = visit(wav((1.0, 1.6), (3.6, 3.75)), before=TAP)
    start(page)
    tap(page)
    page.wait_for_selector(".receipt")
    until(page, "document.body.dataset.state === 'listening'")
    assert "conversation.item.truncate" not in script.kinds()
    loud_s = "tapped.filter(([, peak]) => peak > 0.001).length * 128 / tap.context.sampleRate"
    until(page, f"{loud_s} > {script.answer_s - 0.25}")
    loud = page.evaluate("tapped.filter(([, peak]) => peak > 0.001).map(([at]) => at)")
    gaps = [later - earlier for earlier, later in itertools.pairwise(loud)]
    assert max(gaps) > 0.15, "it never paused"
    assert page.evaluate(loud_s) == pytest.approx(script.answer_s, abs=0.25)


def test_a_typed_line_takes_the_same_way(visit: Callable[..., Any], script: Script) -> None:
    page = visit()
    page.fill("#line", "Is anybody there?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".receipt")
    assert bubbles(page) == [("user", "Is anybody there?"), ("assistant", script.answer)]
    assert script.kinds()[:3] == ["session.update", "conversation.item.create", "response.create"]
    assert "input_audio_buffer.append" not in {event["type"] for event in script.seen}


def test_muted_sends_nothing_and_says_so(visit: Callable[..., Any], wav: Callable[..., Path], script: Script) -> None:
    page = visit(wav((2.5, 9.0)))
    start(page)
    page.click("#mic[data-on=yes]")
    page.wait_for_selector("text=Microphone off")

    def silent() -> bool:
        """Whether nothing came for as long as fifteen frames take."""
        before = len(script.seen)
        page.wait_for_timeout(300)
        return len(script.seen) == before

    # What was said before the press may still be on its way.
    wait_for(page, silent)
    page.click("#mic")
    page.wait_for_selector("#live[data-how=live]")


@pytest.mark.parametrize("way", ["push", "hold"])
def test_the_button_is_the_way_in(
    visit: Callable[..., Any], wav: Callable[..., Path], script: Script, way: str
) -> None:
    page = visit(wav((0.5, 9.0)))
    page.evaluate("way => localStorage.setItem('firstword.settings', JSON.stringify({ way }))", way)
    page.reload()
    start(page)
    page.wait_for_selector("text=the button and speak")
    wait_for(page, lambda: "session.update" in script.kinds())
    assert script.last("session.update")["session"]["audio"]["input"]["turn_detection"] is None
    assert "input_audio_buffer.append" not in {event["type"] for event in script.seen}
    page.focus("#mic")
    if way == "push":
        page.keyboard.press("Enter")
    else:
        page.keyboard.down("Space")
    page.wait_for_selector("#mic[data-on=yes]")
    page.wait_for_timeout(400)
    if way == "push":
        page.keyboard.press("Enter")
    else:
        page.keyboard.up("Space")
    page.wait_for_selector("#transcript li[data-role=assistant]")
    kinds = [kind for kind in script.kinds() if kind in ("input_audio_buffer.commit", "response.create")]
    assert kinds == ["input_audio_buffer.commit", "response.create"]


def test_holding_the_button_interrupts(visit: Callable[..., Any], wav: Callable[..., Path], script: Script) -> None:
    script.answer_s = 8.0
    page = visit(wav())
    page.evaluate("localStorage.setItem('firstword.settings', JSON.stringify({ way: 'hold' }))")
    page.reload()
    start(page)
    page.wait_for_selector("text=Hold the button and speak")
    page.fill("#line", "Tell me everything.")
    page.keyboard.press("Enter")
    until(page, "document.body.dataset.state === 'speaking'")
    page.focus("#mic")
    page.keyboard.down("Space")
    until(page, "document.body.dataset.state !== 'speaking'")
    wait_for(page, lambda: "response.cancel" in script.kinds())
    page.keyboard.up("Space")


def test_escape_stops_the_answer(visit: Callable[..., Any], script: Script) -> None:
    script.answer_s = 6.0
    page = visit(before=TAP)
    page.fill("#line", "Tell me everything.")
    page.keyboard.press("Enter")
    until(page, "document.body.dataset.state === 'speaking'")
    # An answer of which no word was heard is no line: let some of it be played first.
    until(page, f"clock() > {page.evaluate('clock()') + 1.5}")
    page.keyboard.press("Escape")
    until(page, "document.body.dataset.state !== 'speaking'")
    until(page, "document.querySelector('#transcript').textContent.includes('—')")
    wait_for(page, lambda: "response.cancel" in script.kinds())


def test_an_answer_that_was_stopped_before_it_was_heard_is_no_line(visit: Callable[..., Any]) -> None:
    page = visit()
    page.evaluate("""async () => {
      const { Sentences } = await import("/static/sentences.js");
      const said = new Sentences({ show() {}, dark() {} }, document.querySelector("#transcript"));
      for (const [item, stands] of [["first", ""], ["second", "You were saying?"]]) {
        said.grow(item, "You were saying?");
        said.whole(item, stands);
      }
    }""")
    assert page.locator("#transcript .words").all_inner_texts() == ["You were saying?"]


def test_the_shape_follows_the_sound_and_never_draws_the_microphone_over_the_assistant(
    visit: Callable[..., Any], wav: Callable[..., Path], script: Script
) -> None:
    script.over = "nothing"
    page = visit(wav((1.0, 1.6), (2.5, 9.0)))
    start(page)
    until(page, "document.querySelector('#orb').drawn.of === 'microphone'")
    page.evaluate("""() => {
      window.seen = [];
      const look = () => {
        const orb = document.querySelector("#orb").drawn;
        window.seen.push([document.querySelector("#state").textContent, orb.of, orb.level]);
        requestAnimationFrame(look);
      };
      look();
    }""")
    page.wait_for_selector(".receipt")
    seen = page.evaluate("seen.filter(([state]) => state === 'Speaking')")
    assert {of for _, of, _ in seen} == {"assistant"}
    assert max(level for *_, level in seen) > 0.4
