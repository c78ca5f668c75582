"""The desk on a whole server: a voice is changed, heard, saved, and heard by whoever talks to the bot in another tab;
and the steps of an engine that solves are timed, chosen, and spoken with.

The voices are those of a speech address that the test serves: `low` is a tone of 220 Hz, `high` one of 880.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aside import served
from fastapi import FastAPI, Request
from starlette.responses import Response
from whole_house import house

from firstword.testing.voices import SolvingTone
from web import browser
from web.browser import browser_page, open_browser

pytestmark = [pytest.mark.models, pytest.mark.browser, pytest.mark.timeout(180)]

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
SOLVES = b"""---
name: Guide
surfaces: [voice]
voice:
  engine: supertonic   # its weights are nobody's here: a tone stands in for it
  first: Hello, and welcome to this house of tones, which has more to say than one piece holds.
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


# Whether two answers of the only bot are counted.
_ANSWERS = "({ bots }) => bots[0].answers >= 2"


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
    """A site with one bot, its speech address beside it. `url` while it is served."""

    def __init__(self, tmp: Path, guide: bytes = GUIDE, **given: Any) -> None:
        self.folder = tmp
        self.file = tmp / "content" / "bots" / "guide.md"
        self.file.parent.mkdir(parents=True)
        self.file.write_bytes(guide)
        self.url = ""
        self._given = given

    @contextlib.contextmanager
    def open(self) -> Iterator[Site]:
        """Serve it."""
        with served(lambda _url: speech()) as tts_url:
            settings = {"script_only": True, "content": self.folder / "content", "data": self.folder / "data"}
            secrets = {"tts_url": tts_url, "tts_key": KEY, "turn_credential": PASSWORD}
            with house(**settings, **secrets, **self._given) as self.url:
                yield self


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path).open() as opened:
        yield opened


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
        # The third may not be over yet.
        until(desk, f"fetch('{site.url}/app/desk/api/talks').then((told) => told.json()).then({_ANSWERS})")
        desk.goto(f"{site.url}/app/desk/conversations")
        desk.wait_for_selector(".figures")
        assert int(desk.inner_text(".panel .figures div:nth-child(2) dd")) >= 2
        desk.goto(f"{site.url}/app/desk/health")
        desk.click("#copy")
        desk.wait_for_selector("pre:visible")
        said = desk.inner_text("pre")
        assert "bot guide: can answer" in said
        assert not [secret for secret in (KEY, PASSWORD, "127.0.0.1", str(site.file.parents[2])) if secret in said]


def test_the_steps_of_an_engine_that_solves_are_timed_chosen_and_spoken_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SolvingTone()
    monkeypatch.setattr("firstword.voices.SupertonicEngine", lambda _folder, *, threads: engine)
    (tmp_path / "weights").mkdir()
    with (
        Site(tmp_path, SOLVES, supertonic=tmp_path / "weights").open() as site,
        browser_page(refuse=True) as desk,
    ):
        desk.set_default_timeout(60_000)
        desk.goto(f"{site.url}/app/desk/bots/guide")
        desk.wait_for_selector("text=Time every number of steps").focus()
        desk.keyboard.press("Enter")
        told = "[...document.querySelectorAll('.step')].map((each) => each.ariaLabel.replace(/after .+/, 'timed'))"
        until(desk, told, gives=[f"{steps} steps: first word timed" for steps in range(2, 9)])
        assert list(dict.fromkeys(engine.solved)) == [2, 3, 4, 5, 6, 7, 8]
        until(desk, "document.activeElement.textContent", gives="Time every number of steps")
        # Three are chosen for the opening, by key.
        desk.focus(".step >> nth=1")
        desk.keyboard.press("Enter")
        until(desk, "document.querySelector('#f-voice-opening').value", gives="3")
        until(desk, "document.querySelector('#state').textContent", gives="1 change, kept as a draft.")
        desk.click("#publish")
        until(desk, "document.querySelector('#state').textContent.startsWith('Published.')")
        assert [line for line in site.file.read_bytes().split(b"\n") if line not in SOLVES] == [b"  opening: 3"]
        engine.solved.clear()
        desk.goto(f"{site.url}/app/voice/guide?line=socket")
        desk.wait_for_selector("#start:enabled")
        desk.fill("#line", "Who are you?")
        desk.keyboard.press("Enter")
        desk.wait_for_selector(".receipt")
        assert engine.solved[0] == 3
        assert set(engine.solved[1:]) == {8}
