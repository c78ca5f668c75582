"""axe-core over every face of the page, at three widths, by day and by night: it finds nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from kept_house import Opened

from web.browser import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

AXE = Axe()
WIDTHS = (320, 768, 1440)


def faults(page: Any) -> list[str]:
    """What axe has to say, one line a fault: rule, element, why."""
    until(page, "document.getAnimations().every((each) => each.playState !== 'running')")
    found = AXE.run(page).response["violations"]
    return [f"{fault['id']}: {node['target']} {node['failureSummary']}" for fault in found for node in fault["nodes"]]


def looked_at(page: Any) -> dict[str, list[str]]:
    """The same at every width, by day and by night."""
    seen = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 720})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            seen[f"{width} {scheme}"] = faults(page)
    return {how: said for how, said in seen.items() if said}


def test_axe_finds_nothing_while_a_conversation_is_had(visit: Callable[..., Any], house: Opened) -> None:
    here = house(["You are Ada; see https://example.org/a for more."])
    page = visit(base=here.url)
    page.wait_for_selector("#start:enabled")
    assert looked_at(page) == {}
    page.fill("#line", "Who am I?")
    page.keyboard.press("Enter")
    page.click(".receipt summary")
    page.wait_for_selector(".receipt[open]")
    until(page, "document.body.dataset.state === 'listening'")
    assert looked_at(page) == {}
    page.click("#cog")
    page.wait_for_selector("#settings form")
    assert looked_at(page) == {}


def test_axe_finds_nothing_in_the_drawer(visit: Callable[..., Any], house: Opened) -> None:
    here = house()
    here.keep("An old question?", "An old answer.")
    here.remember("I have two dogs.")
    here.keep("Another one, which is longer than the drawer is wide, so that it is cut after its second line?")
    page = visit(base=here.url)
    page.click("#kept")
    page.wait_for_selector("#drawer .thread >> nth=1")
    assert looked_at(page) == {}
    page.click("#memories summary")
    page.wait_for_selector("#memories li")
    page.click("#drawer [data-does=ask] >> nth=0")
    page.wait_for_selector("#drawer .asked")
    assert looked_at(page) == {}
    page.click("#drawer [data-does=keep]")
    page.click("#drawer .thread >> nth=1")
    until(page, "document.querySelectorAll('#transcript li').length === 2")
    assert looked_at(page) == {}


@pytest.mark.parametrize("path", ["/", "/app/voice/nobody"])
def test_axe_finds_nothing_on_the_other_pages(visit: Callable[..., Any], house: Opened, path: str) -> None:
    assert looked_at(visit(base=house().url, at=path)) == {}


def test_axe_is_awake(visit: Callable[..., Any], house: Opened) -> None:
    page = visit(base=house().url)
    page.evaluate("document.querySelector('.stage').append(document.createElement('img'))")
    assert any(said.startswith("image-alt") for said in faults(page))
