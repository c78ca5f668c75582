"""The page in the rooms of a real LiveKit server: Chromium writes and speaks, the worker answers."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from aside import Aside
from spoken_question import QUESTION, word_errors
from whole_house import warm_house

from firstword.livekit import opened_worker
from firstword.settings import Settings, load_settings
from firstword.testing.livekit import KEY, SECRET, LiveKitServer
from sound import Pcm, write_wav
from web import browser
from web.browser import browser_page

pytestmark = [pytest.mark.models, pytest.mark.browser, pytest.mark.timeout(240)]

# Which connections the page makes, how loud what arrives gets, and what it says beside the conversation.
_TAP = """
window.sockets = [];
window.aloud = 0;
const ask = fetch;
window.fetch = async (url, ...given) => {
  const reply = await ask(url, ...given);
  if (String(url).endsWith("/v1/audio/speech") && reply.ok) window.aloud += 1;
  return reply;
};
window.loudest = 0;
window.said = [];
const Socket = WebSocket;
window.WebSocket = class extends Socket {
  constructor(url, ...given) {
    super(url, ...given);
    window.sockets.push(new URL(url).pathname);
  }
};
const Peer = RTCPeerConnection;
window.RTCPeerConnection = class extends Peer {
  constructor(...given) {
    super(...given);
    setInterval(async () => {
      if (this.connectionState !== "connected") return;
      for (const report of (await this.getStats()).values()) {
        if (report.type === "inbound-rtp") window.loudest = Math.max(window.loudest, report.audioLevel ?? 0);
      }
    }, 100);
  }
};
addEventListener("DOMContentLoaded", () => {
  const notice = document.getElementById("notice");
  const seen = new MutationObserver(() => notice.textContent && window.said.push(notice.textContent));
  seen.observe(notice, { childList: true });
});
"""

# The first two lines that are kept of what was written in the room; a line is written down soon, not at once.
_KEPT = """(async () => {
  const ask = async (path) => (await fetch(path)).json();
  const { threads } = await ask("/app/threads");
  const { lines } = await ask(`/app/threads/${threads.find(({ title }) => title === "And now?").id}`);
  return lines.filter(({ role }) => role === "user").map(({ text }) => text).slice(0, 2);
})()"""

# A busy machine has a minute for what a person waits 5 s for.
_PATIENT = """
const soon = setTimeout;
window.setTimeout = (what, ms, ...given) => soon(what, ms === 5000 ? 60000 : ms, ...given);
"""


# Whole servers on real models take their time.
until = functools.partial(browser.until, limit_s=60.0)


def answers(count: int) -> str:
    return f"document.querySelectorAll('#transcript li[data-role=assistant]').length >= {count}"


class Site:
    """A whole server in a thread of its own, and a worker beside it once `work` is called."""

    def __init__(self, settings: Settings, stack: contextlib.ExitStack) -> None:
        self._settings, self._stack = settings, stack
        self._aside = stack.enter_context(Aside())
        self.url = stack.enter_context(self._aside.opened(warm_house(settings)))

    def work(self) -> None:
        """Start the worker, and return when it waits for rooms."""
        settings = self._settings.model_copy(update={"door_url": self.url})
        self._stack.enter_context(self._aside.opened(working(settings)))


@contextlib.asynccontextmanager
async def working(settings: Settings) -> AsyncIterator[None]:
    ready = asyncio.Event()
    async with opened_worker(settings, on_ready=ready.set) as worker:
        running = asyncio.create_task(worker.run())
        await ready.wait()
        yield
        await worker.stop(within_s=2)
        await running


@contextlib.contextmanager
def site_of(server: LiveKitServer, data: Path, **given: Any) -> Iterator[Site]:
    livekit = {"livekit_url": server.url, "livekit_api_key": KEY, "livekit_api_secret": SECRET}
    settings = load_settings(single_user=True, data=data, sessions_per_person=20, **livekit, **given)
    if not settings.livekit_client.is_file():
        pytest.skip("LiveKit's client is not here (`./check` fetches it where there is npm)")
    with contextlib.ExitStack() as stack:
        yield Site(settings, stack)


@pytest.fixture
def written(livekit_server: LiveKitServer, tmp_path: Path) -> Iterator[Site]:
    """A site whose rooms carry text."""
    with site_of(livekit_server, tmp_path, script_only=True) as site:
        yield site


@pytest.fixture
def spoken(livekit_server: LiveKitServer, tmp_path: Path) -> Iterator[Site]:
    """A site whose rooms carry sound too, and its worker."""
    with site_of(livekit_server, tmp_path, livekit_audio=True) as site:
        site.work()
        yield site


def say(page: Any, text: str) -> None:
    page.fill("#line", text)
    page.press("#line", "Enter")


def test_without_a_worker_the_page_says_so_once_and_takes_the_direct_path(written: Site, tmp_path: Path) -> None:
    quiet = tmp_path / "quiet.wav"
    write_wav(quiet, Pcm.silence(5.0, 24_000))
    with browser_page(quiet) as page:
        page.set_default_timeout(60_000)
        page.add_init_script(_TAP)
        page.goto(f"{written.url}/app/voice/guide")
        page.wait_for_selector("body[data-ready=yes]")
        say(page, "Is anybody there?")
        until(page, answers(1))
        said = "Nobody answered in this site's rooms; the conversation goes on with the server itself."
        assert page.evaluate("window.said").count(said) == 1
        assert page.evaluate("window.sockets").count("/v1/realtime") == 1
        # With a worker, it writes in a room; whoever opens the microphone goes the direct way, in the same thread.
        written.work()
        page.add_init_script(_PATIENT)
        page.reload()
        page.wait_for_selector("body[data-ready=yes]")
        say(page, "And now?")
        until(page, answers(1))
        page.wait_for_selector("#transcript li[data-role=assistant]:has-text('This is a script.')")
        say(page, "And again?")
        until(page, answers(2))
        assert page.evaluate("window.sockets").count("/v1/realtime") == 0
        until(page, "window.aloud >= 1 && document.body.dataset.state === 'speaking'")
        page.click("#mic")
        until(page, "window.sockets.includes('/v1/realtime')")
        say(page, "Still the same?")
        until(page, answers(3))
        until(page, _KEPT, gives=["And now?", "And again?"])
        assert page.evaluate("window.said") == []


def test_a_conversation_is_spoken_and_written_in_a_room(spoken: Site, question: Pcm, tmp_path: Path) -> None:
    recording = tmp_path / "spoken.wav"
    write_wav(recording, Pcm.join([Pcm.silence(4.0, question.rate_hz), question]))
    with browser_page(recording) as page:
        page.set_default_timeout(60_000)
        page.add_init_script(_TAP)
        page.add_init_script(_PATIENT)
        page.goto(f"{spoken.url}/app/voice/sous-chef")
        page.wait_for_selector("body[data-ready=yes]")
        say(page, "Hello.")
        until(page, answers(1))
        page.keyboard.press("Escape")
        until(page, "document.body.dataset.state !== 'speaking'")
        # The recording begins when the microphone opens.
        page.click("#mic")
        asked = "#transcript li[data-role=user]:nth-of-type(n + 2) .words"
        page.wait_for_selector(asked)
        until(page, "document.body.dataset.state === 'speaking' && window.loudest > 0.01")
        # Read once it is answered: until then a turn may be taken up again, and its line grow.
        assert word_errors(QUESTION, page.inner_text(asked)) <= 0.4
        page.keyboard.press("Escape")
        until(page, "document.body.dataset.state !== 'speaking'")
        before = page.evaluate("document.querySelectorAll('#transcript li[data-role=assistant]').length")
        say(page, "And what else?")
        until(page, answers(before + 1))
        assert page.evaluate("window.sockets").count("/v1/realtime") == 0
        assert page.evaluate("window.said") == []
