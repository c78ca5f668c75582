"""The desk in a browser: fields changed by hand and by keyboard, refusals beside them, two owners, and axe."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from desk_house import GUIDE, DeskHouse, desk_house
from test_axe import faults, looked_at

from firstword.serving import serving
from web.browser import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]
T = TypeVar("T")


class Served:
    """A desk's house in a thread of its own."""

    def __init__(self, tmp: Path) -> None:
        self._tmp = tmp
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._up = threading.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._serve()))
        self.house: DeskHouse
        self.url = ""

    def __enter__(self) -> Served:
        self._thread.start()
        assert self._up.wait(30), "the server did not start"
        return self

    def __exit__(self, *_fault: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)
        self._loop.close()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Something on the server's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    async def _serve(self) -> None:
        async with desk_house(self._tmp) as self.house, serving(lambda _url: self.house.app) as self.url:
            self._up.set()
            await self._stop.wait()


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path) as served:
        yield served


def opened(visit: Callable[..., Any], here: Served, at: str = "/app/desk/bots/guide", **options: Any) -> Any:
    page = visit(base=here.url, at=at, **options)
    until(page, "document.querySelector('#said')?.textContent === ''")
    return page


def kept(page: Any, words: str) -> None:
    until(page, f"document.querySelector('#state').textContent.includes({words!r})")


def test_a_bad_value_is_refused_beside_its_field_and_a_good_one_is_published(
    visit: Callable[..., Any], here: Served
) -> None:
    page = opened(visit, here)
    page.fill("#f-voice-speed", "fast")
    until(page, "!document.querySelector('#f-voice-speed-fault').hidden")
    assert "`voice.speed` is `fast`, which is not a number." in page.inner_text("#f-voice-speed-fault")
    assert page.get_attribute("#f-voice-speed", "aria-invalid") == "true"
    page.click("#publish")
    kept(page, "1 value is refused")
    assert page.evaluate("document.activeElement.id") == "f-voice-speed"
    assert faults(page) == []
    page.fill("#f-voice-speed", "1.25")
    until(page, "document.querySelector('#f-voice-speed-fault').hidden")
    page.click("#hear")
    until(page, "document.querySelector('#heard').dataset.ms !== undefined")
    until(page, "document.querySelector('#heard').textContent.includes('as it is saved')")
    page.click("#publish")
    kept(page, "Published. The next conversation has it.")
    assert here.house.file().read_bytes() == GUIDE.replace(b"speed: 0.9", b"speed: 1.25")
    page.click("#undo")
    kept(page, "Undone")
    assert here.house.file().read_bytes() == GUIDE
    assert page.input_value("#f-voice-speed") == "0.9"


def test_a_draft_is_there_when_the_page_is_opened_again_and_the_keyboard_reaches_everything(
    visit: Callable[..., Any], here: Served
) -> None:
    page = opened(visit, here)
    page.focus("#f-voice-first")
    page.keyboard.press("Control+A")
    page.keyboard.type("Good evening.")
    # On to the shape, by keys alone, and one further.
    page.focus("input[name=f-voice-visual]:checked")
    page.keyboard.press("ArrowRight")
    page.focus("[data-key=for] input[type=text]")
    page.keyboard.type("tier:gold")
    page.keyboard.press("Enter")
    page.focus("[data-key=tools] input >> nth=0")
    page.keyboard.press("Space")
    kept(page, "4 changes, kept as a draft.")
    page.reload()
    kept(page, "4 changes, kept as a draft.")
    assert page.input_value("#f-voice-first") == "Good evening."
    assert page.is_checked("input[name=f-voice-visual][value=grid]")
    assert page.is_checked("[data-key=for] input[value='tier:gold']")
    # Every control is on the way of the Tab key, and each says its name.
    page.focus("#f-voice-first")
    seen = []
    for _ in range(120):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
        if seen[-1] == "publish":
            break
    assert {"f-voice-speed", "f-limits-spend", "f-body", "f-endings-failed", "discard", "publish"} <= set(seen)
    page.keyboard.press("Enter")
    kept(page, "Published.")
    made = here.house.file().read_bytes()
    assert b"surfaces: [voice]\nfor: tier:gold\ntools: about_me\nlimits: { steps: 4" in made
    assert b"  first: Good evening.\n  # slower than most\n  speed: 0.9\n  visual: grid\n" in made


def test_rows_of_waking_have_only_what_their_kind_needs_and_the_compile_says_what_it_would_not_act_on(
    visit: Callable[..., Any], here: Served
) -> None:
    page = opened(visit, here)
    page.click("[data-key=hears] .button")
    page.select_option(".waking > select", "schedule")
    assert page.locator(".waking .days input").count() == 7
    page.select_option(".row-parts select", "day")
    assert page.locator(".waking .days").is_hidden()
    page.select_option(".waking > select", "event")
    assert page.locator(".row-parts label").count() == 2
    page.fill(".row-parts input >> nth=0", "purchase.paid")
    until(page, "document.querySelector('#f-hears-fault').textContent.includes('nothing here would act on')")
    assert faults(page) == []
    assert "[object" not in page.inner_text("main")
    page.click(".waking .tool")
    kept(page, "As it is in the file")


def test_of_two_owners_the_second_is_told_and_keeps_what_they_changed(visit: Callable[..., Any], here: Served) -> None:
    ada = opened(visit, here)
    grace = opened(visit, here, extra_http_headers={"who": "grace"})
    for page, speed in ((ada, "1.1"), (grace, "1.5")):
        page.fill("#f-voice-speed", speed)
        kept(page, "1 change")
    ada.click("#publish")
    kept(ada, "Published.")
    grace.click("#publish")
    kept(grace, "Ada published this bot meanwhile (Speed). Your changes are kept")
    assert "Somebody else made it: 1.1" in grace.inner_text("[data-key='voice.speed'] .mark")
    assert grace.input_value("#f-voice-speed") == "1.5"
    assert b"speed: 1.1" in here.house.file().read_bytes()
    grace.click("[data-key='voice.speed'] .mark button")
    kept(grace, "Published by Ada")
    assert grace.input_value("#f-voice-speed") == "1.1"


def test_axe_finds_nothing_on_a_bot_and_it_fits_a_small_screen(visit: Callable[..., Any], here: Served) -> None:
    page = opened(visit, here, "/app/desk/bots/host")
    assert looked_at(page) == {}
    page.set_viewport_size({"width": 320, "height": 720})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_axe_finds_nothing_in_the_other_rooms(visit: Callable[..., Any], here: Served) -> None:
    here.do(said(here, here.house.kept.begin("lin", "guide")))
    for at in ("/app/desk", "/app/desk/conversations", "/app/desk/health"):
        page = opened(visit, here, at)
        for width, scheme in ((320, "dark"), (768, "light"), (1440, "dark")):
            page.set_viewport_size({"width": width, "height": 720})
            page.emulate_media(color_scheme=scheme)
            assert faults(page) == [], at
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), at


def test_a_person_opens_one_of_their_conversations_to_the_owner_in_the_drawer(
    visit: Callable[..., Any], here: Served
) -> None:
    talk = here.house.kept.begin("lin", "guide")
    here.do(spoken(here, talk))
    page = visit(base=here.url, at="/app/voice/guide", extra_http_headers={"who": "lin"})
    page.click("#kept")
    page.click("#drawer .share")
    until(page, "document.querySelector('#drawer .share').ariaPressed === 'true'")
    assert here.do(here.house.talks.shared_by("lin")) == [talk.thread]
    assert faults(page) == []
    page.click("#drawer .share")
    until(page, "document.querySelector('#drawer .share').ariaPressed === 'false'")
    assert here.do(here.house.talks.shared_by("lin")) == []


async def spoken(here: Served, talk: Any) -> None:
    talk.said("a", "user", "A question that its person has let the owner read?")
    await here.house.kept.scribe.written()


async def said(here: Served, talk: Any) -> None:
    await spoken(here, talk)
    await here.house.talks.share("lin", talk.thread, shared=True)


def test_somebody_who_is_not_the_owner_is_told_that_there_is_nothing(visit: Callable[..., Any], here: Served) -> None:
    for at in ("/app/desk", "/app/desk/bots/guide"):
        page = visit(base=here.url, at=at, extra_http_headers={"who": "mallory"})
        assert "There is no such page here." in page.inner_text("main")
        assert "Guide" not in page.content()
