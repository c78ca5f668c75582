"""The desk on a whole server: a voice is changed, heard, saved, and heard by whoever talks to the bot in another tab.

The voices are those of a speech address that the test serves: `low` is a tone of 220 Hz, `high` one of 880.
"""

from __future__ import annotations

import asyncio
import functools
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI, Request
from starlette.responses import Response

from firstword.app import create_kept_app
from firstword.serving import serving, until_ready
from firstword.settings import load_settings
from web import browser
from web.browser import open_browser

pytestmark = [
    pytest.mark.models,
    pytest.mark.browser,
    pytest.mark.timeout(180),
    pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed: no browser to drive"),
]

HZ = {"low": 220, "high": 880}
KEY, PASSWORD = "a-key-that-nobody-may-see", "a-password-that-nobody-may-see"
GUIDE = b"""---
name: Guide
surfaces: [voice]
voice:
  # Who speaks is said in the settings.
  by: endpoint
  voice: low   # as the owner of the site likes it
  first: Hello, and welcome to this house of tones.
---
You are the guide.
"""
# The pitch of whatever leaves the page for the loudspeaker, as often as it is loud.
_TAP = """
window.pitches = [];
const connect = AudioNode.prototype.connect;
AudioNode.prototype.connect = function (to, ...rest) {
  if (to === this.context.destination) {
    const meter = new AnalyserNode(this.context, { fftSize: 8192, smoothingTimeConstant: 0 });
    connect.call(this, meter);
    const bins = new Float32Array(meter.frequencyBinCount);
    setInterval(() => {
      meter.getFloatFrequencyData(bins);
      let best = 0;
      bins.forEach((level, at) => { if (level > bins[best]) best = at; });
      if (bins[best] > -40) window.pitches.push((best * this.context.sampleRate) / meter.fftSize);
    }, 40);
  }
  return connect.call(this, to, ...rest);
};
"""


def speech() -> FastAPI:
    """The speech address."""
    app = FastAPI()

    @app.post("/v1/audio/speech")
    async def speak(request: Request) -> Response:
        asked = await request.json()
        at = np.arange(24_000 * 2) / 24_000
        wave = 0.5 * np.sin(2 * np.pi * HZ[asked["voice"]] * at)
        return Response((wave * 32_767).astype("<i2").tobytes(), media_type="audio/pcm;rate=24000")

    return app


class Site:
    """A server on `content`, its speech address beside it."""

    def __init__(self, tmp: Path) -> None:
        self.file = tmp / "content" / "bots" / "guide.md"
        self.file.parent.mkdir(parents=True)
        self.file.write_bytes(GUIDE)
        self._tmp, self.url = tmp, ""
        self._loop, self._stop, self._up = asyncio.new_event_loop(), asyncio.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Site:
        self._thread.start()
        self._up.wait(120)
        assert self.url, "the server did not start"
        return self

    def __exit__(self, *_fault: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._up.set()
            self._loop.close()

    async def _serve(self) -> None:
        async with serving(lambda _url: speech()) as tts_url:
            settings = load_settings(
                single_user=True,
                script_only=True,
                content=self._tmp / "content",
                data=self._tmp / "data",
                tts_url=tts_url,
                tts_key=KEY,
                turn_credential=PASSWORD,
            )
            async with serving(lambda base_url: create_kept_app(settings, base_url)) as url:
                await until_ready(url)
                self.url = url
                self._up.set()
                await self._stop.wait()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path) as served:
        yield served


# Whole servers on real models take their time.
until = functools.partial(browser.until, limit_s=50.0)


def pitch(page: Any) -> float:
    """What sounds on the page, in Hz."""
    until(page, "window.pitches.length >= 8")
    return float(np.median(page.evaluate("window.pitches.slice(2)")))


def talked(context: Any, site: Site) -> float:
    """The pitch of a conversation in a tab of its own."""
    page = context.new_page()
    page.add_init_script(_TAP)
    page.goto(f"{site.url}/app/voice/guide?line=socket")
    page.wait_for_selector("#start:enabled")
    page.fill("#line", "Who are you?")
    page.keyboard.press("Enter")
    heard = pitch(page)
    page.close()
    return heard


def test_a_voice_is_changed_heard_saved_and_heard_in_another_tab(site: Site) -> None:
    with open_browser(refuse=True) as browser:
        context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        context.set_default_timeout(60_000)
        assert talked(context, site) == pytest.approx(HZ["low"], rel=0.05)
        desk = context.new_page()
        desk.add_init_script(_TAP)
        desk.goto(f"{site.url}/app/desk")
        desk.click(".card")
        desk.fill("#f-voice-voice", "high")
        desk.click("#hear")
        assert pitch(desk) == pytest.approx(HZ["high"], rel=0.05)
        until(desk, "Number(document.querySelector('#heard').dataset.ms) > 0")
        until(desk, "document.querySelector('#heard').textContent.includes('as it is saved')")
        assert talked(context, site) == pytest.approx(HZ["low"], rel=0.05)
        desk.bring_to_front()
        desk.click("#publish")
        until(desk, "document.querySelector('#state').textContent.startsWith('Published.')")
        assert site.file.read_bytes() == GUIDE.replace(b"voice: low ", b"voice: high ")
        assert talked(context, site) == pytest.approx(HZ["high"], rel=0.05)
        desk.bring_to_front()
        desk.goto(f"{site.url}/app/desk/conversations")
        desk.wait_for_selector(".figures")
        # The third may not be over yet.
        assert int(desk.inner_text(".panel .figures div:nth-child(2) dd")) >= 2
        desk.goto(f"{site.url}/app/desk/health")
        desk.click("#copy")
        desk.wait_for_selector("pre:visible")
        said = desk.inner_text("pre")
        assert "bot guide: can answer" in said
        assert not [secret for secret in (KEY, PASSWORD, "127.0.0.1", str(site.file.parents[2])) if secret in said]
