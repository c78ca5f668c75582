"""The desk in a browser: fields changed by hand and by keyboard, refusals beside them, two owners, and axe."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aside import Aside
from desk_house import GUIDE, DeskHouse, desk_house
from scripted import wait_for
from test_axe import faults, looked_at

from firstword.serving import serving
from web.browser import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]
FOCUSED = "document.activeElement.id"


@dataclass(frozen=True)
class Served:
    """A desk's house in a thread of its own."""

    house: DeskHouse
    url: str
    aside: Aside


@contextlib.asynccontextmanager
async def served_desk(tmp: Path) -> AsyncIterator[tuple[DeskHouse, str]]:
    async with desk_house(tmp) as house, serving(lambda _url: house.app) as url:
        yield house, url


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Served]:
    with Aside() as aside, aside.opened(served_desk(tmp_path)) as (house, url):
        yield Served(house, url, aside)


def opened(visit: Callable[..., Any], here: Served, at: str = "/app/desk/bots/guide", **options: Any) -> Any:
    page = visit(base=here.url, at=at, **options)
    until(page, "document.querySelector('#said')?.textContent === ''")
    return page


def kept(page: Any, words: str) -> None:
    until(page, f"document.querySelector('#state').textContent.includes({words!r})")


def assert_fits(page: Any) -> None:
    """Nothing is wider than the smallest screen."""
    page.set_viewport_size({"width": 320, "height": 720})
    until(page, "innerWidth === 320")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_bad_value_is_refused_beside_its_field_and_a_good_one_is_published(
    visit: Callable[..., Any], here: Served
) -> None:
    page = opened(visit, here)
    page.fill("#f-voice-speed", "fast")
    page.wait_for_selector("#f-voice-speed-fault:has-text('`voice.speed` is `fast`, which is not a number.')")
    until(page, "document.querySelector('#f-voice-speed').ariaInvalid", gives="true")
    page.click("#publish")
    kept(page, "1 value is refused")
    until(page, FOCUSED, gives="f-voice-speed")
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
    until(page, "document.querySelector('#f-voice-speed').value", gives="0.9")


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
    until(page, "document.querySelector('#f-voice-first').value", gives="Good evening.")
    until(page, "document.querySelector('input[name=f-voice-visual]:checked').value", gives="grid")
    page.wait_for_selector("[data-key=for] input[value='tier:gold']:checked")
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
    until(page, FOCUSED, gives="publish")
    made = here.house.file().read_bytes()
    assert b"surfaces: [voice]\nfor: tier:gold\ntools: about_me\nlimits: { steps: 4" in made
    assert b"  first: Good evening.\n  # slower than most\n  speed: 0.9\n  visual: grid\n" in made


def test_what_is_kept_and_answered_meanwhile_leaves_the_keyboard_where_it_is(
    visit: Callable[..., Any], here: Served
) -> None:
    page = opened(visit, here)
    held: list[Any] = []
    page.route("**/draft", lambda route: held.append(route))
    # On the way back from a change, while the change is being kept.
    page.fill("#f-voice-speed", "1.1")
    wait_for(page, lambda: len(held), gives=1)
    page.focus("[data-key='voice.speed'] .mark button")
    held.pop().continue_()
    kept(page, "1 change")
    until(page, "document.activeElement.textContent", gives="Put it back")
    # In a row of what wakes it: what is written while that is kept is kept too.
    page.click("[data-key=hears] .button")
    wait_for(page, lambda: len(held), gives=1)
    held.pop().continue_()
    kept(page, "2 changes")
    page.select_option(".waking > .line > select", "event")
    wait_for(page, lambda: len(held), gives=1)
    page.locator(".row-parts input").first.focus()
    page.keyboard.type("paid")
    held.pop().continue_()
    wait_for(page, lambda: len(held), gives=1)
    assert held[0].request.post_data_json["changes"]["hears"] == [{"event": "paid", "ask": ""}]
    held.pop().continue_()
    kept(page, "2 changes")
    until(page, "document.activeElement.value", gives="paid")
    # On a button that goes.
    page.focus("#discard")
    page.keyboard.press("Enter")
    wait_for(page, lambda: len(held), gives=1)
    held.pop().continue_()
    kept(page, "Your draft is thrown away.")
    until(page, FOCUSED, gives="publish")


def test_rows_of_waking_have_only_what_their_kind_needs_and_the_compile_says_what_it_would_not_act_on(
    visit: Callable[..., Any], here: Served
) -> None:
    page = opened(visit, here)
    page.click("[data-key=hears] .button")
    page.select_option(".waking > .line > select", "schedule")
    until(page, "document.querySelectorAll('.waking .days input').length", gives=7)
    page.select_option(".row-parts select", "day")
    page.wait_for_selector(".waking .days", state="hidden")
    page.select_option(".waking > .line > select", "event")
    until(page, "document.querySelectorAll('.row-parts label').length", gives=2)
    page.fill(".row-parts input >> nth=0", "purchase.paid")
    said = (
        "Nothing here would wake it at an event. Take it out: a bot of this server is woken by whoever speaks or "
        "writes to it."
    )
    until(page, "document.querySelector('#f-hears-fault').textContent", gives=said)
    # The row is what is refused, not the button that adds another.
    marked = "[...document.querySelectorAll('[data-key=hears] [aria-invalid]')].map((one) => one.ariaLabel)"
    until(page, marked, gives=["What wakes it"])
    assert page.get_attribute("[data-key=hears] [aria-invalid]", "aria-describedby").startswith("f-hears-fault")
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
    grace.wait_for_selector("[data-key='voice.speed'] .mark:has-text('Somebody else made it: 1.1')")
    assert grace.input_value("#f-voice-speed") == "1.5"
    assert b"speed: 1.1" in here.house.file().read_bytes()
    grace.click("[data-key='voice.speed'] .mark button")
    kept(grace, "Published by Ada")
    until(grace, "document.querySelector('#f-voice-speed').value", gives="1.1")


def test_axe_finds_nothing_on_a_bot_and_it_fits_a_small_screen(visit: Callable[..., Any], here: Served) -> None:
    page = opened(visit, here, "/app/desk/bots/host")
    assert looked_at(page) == {}
    assert_fits(page)


@pytest.mark.parametrize("at", ["/app/desk", "/app/desk/conversations", "/app/desk/health"])
def test_axe_finds_nothing_in_the_other_rooms(visit: Callable[..., Any], here: Served, at: str) -> None:
    here.aside.do(said(here, here.house.kept.begin("lin", "guide")))
    page = opened(visit, here, at)
    # What is folded is unfolded, and what is asked for is there, before anybody looks.
    for unfolds in page.locator("summary, .panel .button").all():
        unfolds.click()
    if at.endswith("health"):
        until(page, "document.querySelectorAll('.drill li').length", gives=4)
    if at.endswith("conversations"):
        page.wait_for_selector(".lines li")
    assert looked_at(page) == {}
    assert_fits(page)


def test_a_person_opens_one_of_their_conversations_to_the_owner_in_the_drawer(
    visit: Callable[..., Any], here: Served
) -> None:
    talk = here.house.kept.begin("lin", "guide")
    here.aside.do(spoken(here, talk))
    page = visit(base=here.url, at="/app/voice/guide", extra_http_headers={"who": "lin"})
    page.click("#kept")
    page.click("#drawer .share")
    until(page, "document.querySelector('#drawer .share').ariaPressed === 'true'")
    assert here.aside.do(here.house.talks.shared_by("lin")) == [talk.thread]
    assert faults(page) == []
    page.click("#drawer .share")
    until(page, "document.querySelector('#drawer .share').ariaPressed === 'false'")
    assert here.aside.do(here.house.talks.shared_by("lin")) == []


async def spoken(here: Served, talk: Any) -> None:
    talk.said("a", "user", "A question that its person has let the owner read?")
    await here.house.kept.scribe.written()


async def said(here: Served, talk: Any) -> None:
    await spoken(here, talk)
    await here.house.talks.share("lin", talk.thread, shared=True)


def test_somebody_who_is_not_the_owner_is_told_that_there_is_nothing(visit: Callable[..., Any], here: Served) -> None:
    for at in ("/app/desk", "/app/desk/bots/guide"):
        page = visit(base=here.url, at=at, extra_http_headers={"who": "mallory"})
        page.wait_for_selector("main:has-text('There is no such page here.')")
        assert "Guide" not in page.content()
