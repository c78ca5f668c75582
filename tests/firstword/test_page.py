"""The page on the real server: Chromium speaks a WAV into its microphone and hears an answer."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spoken_question import QUESTION, word_errors

from sound import Pcm, write_wav
from web import browser
from web.browser import browser_page

pytestmark = [pytest.mark.models, pytest.mark.browser, pytest.mark.timeout(180)]

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


# Whole servers on real models take their time.
until = functools.partial(browser.until, limit_s=60.0)


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
        until(page, "document.querySelectorAll('#transcript li[data-role=user] ~ li[data-role=assistant]').length > 0")
        # Read once it is answered: until then a turn may be taken up again, and its line grow.
        asked = page.inner_text("#transcript li[data-role=user] .words")
        assert word_errors(QUESTION, asked) <= 0.4
        until(page, "window.loudest > 0.01")
        assert page.locator("#transcript li[data-role=user]").count() == 1


# Records what leaves for the loudspeaker, as it was played.
_RECORD = """
const connect = AudioNode.prototype.connect;
AudioNode.prototype.connect = function (to, ...rest) {
  if (to === this.context.destination && !window.recorder) {
    const sink = this.context.createMediaStreamDestination();
    connect.call(this, sink);
    window.chunks = [];
    window.recorder = new MediaRecorder(sink.stream);
    window.recorder.ondataavailable = ({ data }) => window.chunks.push(data);
    window.recorder.start();
  }
  return connect.call(this, to, ...rest);
};
window.recorded = async (rate) => {
  await new Promise((done) => {
    window.recorder.onstop = done;
    window.recorder.stop();
  });
  const bytes = await new Blob(window.chunks).arrayBuffer();
  const sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(bytes);
  return [...sound.getChannelData(0)].map((sample) => Math.round(sample * 32767));
};
"""
_RATE_HZ = 16_000


@pytest.mark.timeout(300)
def test_the_answer_as_it_left_the_page_is_heard_as_it_is_written(house_url: str, tmp_path: Path) -> None:
    with browser_page(refuse=True) as page:
        page.set_default_timeout(150_000)
        page.add_init_script(_RECORD)
        page.goto(f"{house_url}/app/voice/guide")
        page.wait_for_selector("body[data-ready=yes]")
        page.fill("#line", "Where are the models kept?")
        page.keyboard.press("Enter")
        page.wait_for_selector(".receipt")
        page.wait_for_selector("body[data-state=listening]")
        written = page.inner_text("#transcript li[data-role=assistant] .words")
        samples = np.array(page.evaluate(f"recorded({_RATE_HZ})"), dtype=np.float32) / 32768
        recording = tmp_path / "answer.wav"
        write_wav(recording, Pcm(samples, _RATE_HZ))
        grant = page.request.post(f"{house_url}/app/voice/guide/start").json()["grant"]
        file = {"name": recording.name, "mimeType": "audio/wav", "buffer": recording.read_bytes()}
        heard = page.request.post(
            f"{house_url}/v1/audio/transcriptions",
            headers={"Authorization": f"Bearer {grant}"},
            multipart={"model": "whisper-1", "file": file},
        ).json()
    # A loaded machine may leave gaps between words; the words are those that are written.
    assert word_errors(written, heard["text"]) <= 0.4, (written, heard)
