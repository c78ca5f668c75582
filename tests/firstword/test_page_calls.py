"""The page on a call: Chromium speaks a WAV by WebRTC to the real server and hears the answer from its own track."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from spoken_question import QUESTION, word_errors

from sound import Pcm, write_wav
from web import browser
from web.browser import browser_page

pytestmark = [pytest.mark.models, pytest.mark.browser, pytest.mark.timeout(180)]

# Keeps every connection the page makes, and how loud what arrives on it gets.
_TAP = """
window.peers = [];
window.sockets = 0;
window.loudest = 0;
const Peer = RTCPeerConnection;
window.RTCPeerConnection = class extends Peer {
  constructor(...given) {
    super(...given);
    window.peers.push(this);
    setInterval(async () => {
      if (this.connectionState !== "connected") return;
      for (const report of (await this.getStats()).values()) {
        if (report.type === "inbound-rtp") window.loudest = Math.max(window.loudest, report.audioLevel ?? 0);
      }
    }, 100);
  }
};
const Socket = WebSocket;
window.WebSocket = class extends Socket {
  constructor(...given) {
    super(...given);
    window.sockets += 1;
  }
};
"""


# Whole servers on real models take their time.
until = functools.partial(browser.until, limit_s=60.0)


@pytest.fixture
def spoken(question: Pcm, tmp_path: Path) -> Path:
    """The question as a WAV, after the seconds in which a busy machine connects."""
    path = tmp_path / "spoken.wav"
    write_wav(path, Pcm.join([Pcm.silence(4.0, question.rate_hz), question]))
    return path


def test_a_spoken_question_goes_out_and_its_answer_comes_in_by_webrtc(house_url: str, spoken: Path) -> None:
    with browser_page(spoken) as page:
        page.set_default_timeout(60_000)
        page.add_init_script(_TAP)
        page.goto(f"{house_url}/app/voice/sous-chef?line=call")
        page.click("#start:enabled")
        until(page, "document.querySelectorAll('#transcript li[data-role=user] ~ li[data-role=assistant]').length > 0")
        until(page, "document.body.dataset.state === 'speaking'")
        # Read once it is answered: until then a turn may be taken up again, and its line grow.
        asked = page.inner_text("#transcript li[data-role=user] .words")
        assert word_errors(QUESTION, asked) <= 0.4
        until(page, "window.loudest > 0.01")
        assert page.evaluate("window.peers.map((peer) => peer.connectionState)") == ["connected"]
        assert page.evaluate("window.sockets") == 0
        page.keyboard.press("Escape")
        until(page, "document.body.dataset.state !== 'speaking'")
        page.evaluate("window.peers[0].close()")


def test_a_line_that_is_typed_needs_no_microphone_on_a_call(house_url: str) -> None:
    with browser_page(refuse=True) as page:
        page.set_default_timeout(60_000)
        page.add_init_script(_TAP)
        page.goto(f"{house_url}/app/voice/guide?line=call")
        page.wait_for_selector("body[data-ready=yes]")
        page.fill("#line", "Where are the models kept?")
        page.press("#line", "Enter")
        until(page, "document.querySelectorAll('#transcript li[data-role=user] ~ li[data-role=assistant]').length > 0")
        until(page, "window.loudest > 0.01")
        assert page.evaluate("window.sockets") == 0
