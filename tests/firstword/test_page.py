"""The page on the real server: Chromium speaks a WAV into its microphone and hears an answer."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import QUESTION, word_errors  # type: ignore[import-not-found]

from web.browser import browser_page

pytestmark = [
    pytest.mark.models,
    pytest.mark.browser,
    pytest.mark.timeout(180),
    pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed: no browser to drive"),
]

# How loud the page's loudspeaker gets, taken where its sound leaves for the device.
_TAP = """
window.loudest = 0;
const connect = AudioNode.prototype.connect;
AudioNode.prototype.connect = function (to, ...rest) {
  if (to === this.context.destination && !window.meter) {
    window.meter = new AnalyserNode(this.context, { fftSize: 2048 });
    connect.call(this, window.meter);
    const samples = new Float32Array(2048);
    setInterval(() => {
      window.meter.getFloatTimeDomainData(samples);
      for (const sample of samples) window.loudest = Math.max(window.loudest, Math.abs(sample));
    }, 20);
  }
  return connect.call(this, to, ...rest);
};
"""


def _wait_for_the_question(page: Any) -> None:
    from playwright.sync_api import TimeoutError as NotSeen

    try:
        page.wait_for_selector("#transcript li[data-role=user]")
    except NotSeen:
        seen = page.evaluate("[JSON.stringify(document.body.dataset), document.body.innerText].join('\\n')")
        pytest.fail(f"the question was not heard; the page shows:\n{seen}")


def test_a_spoken_question_is_written_down_and_answered_aloud(house_url: str, question_file: Path) -> None:
    with browser_page(question_file) as page:
        page.set_default_timeout(60_000)
        page.add_init_script(_TAP)
        page.goto(f"{house_url}/app/voice/sous-chef")
        page.click("#start:enabled")
        _wait_for_the_question(page)
        page.wait_for_function(
            "document.querySelectorAll('#transcript li[data-role=user] ~ li[data-role=assistant]').length > 0"
        )
        # Read once it is answered: until then a turn may be taken up again, and its line grow.
        asked = page.inner_text("#transcript li[data-role=user] .words")
        assert word_errors(QUESTION, asked) <= 0.4
        page.wait_for_function("window.loudest > 0.01")
        assert page.locator("#transcript li[data-role=user]").count() == 1
