"""Loading and warming up: the pages are there meanwhile, what failed is said, and the rest is warmed all the same."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
from pathlib import Path

import httpx2
import pytest
from aside import Aside
from whole_house import warm_house

from firstword.app import create_kept_app
from firstword.errors import CannotStart
from firstword.house import House, open_house
from firstword.serving import serving, until_ready
from firstword.settings import Settings, load_settings
from firstword.thinking import SCRIPT
from models import default_folder
from web.browser import browser_page

pytestmark = [pytest.mark.models, pytest.mark.timeout(120)]


async def test_a_model_that_cannot_be_warmed_is_named_and_the_rest_is_ready(tmp_path: Path) -> None:
    weights = tmp_path / "models"
    weights.mkdir()
    for folder in default_folder().iterdir():
        (weights / folder.name).symlink_to(folder)
    broken = weights / "smollm2-135m"
    whole = broken.resolve()
    broken.unlink()
    shutil.copytree(whole, broken)
    gguf = broken / "model.gguf"
    size_bytes = gguf.stat().st_size
    gguf.write_bytes(b"")
    os.truncate(gguf, size_bytes)  # as long as it should be, and all zeros
    settings = load_settings(single_user=True, data=tmp_path / "data", models=weights)
    async with serving(lambda base_url: create_kept_app(settings, base_url)) as base_url:
        await until_ready(base_url, limit_s=60.0)
        async with httpx2.AsyncClient(trust_env=False) as client:
            state = (await client.get(f"{base_url}/readyz")).json()
    assert state["ready"]
    assert state["loading"] == []
    (fault,) = state["faults"]
    assert fault.startswith("the language model could not be warmed: ")
    assert "model.gguf" in fault


async def test_what_is_loaded_is_out_of_the_collectors_rounds_for_as_long_as_it_serves(tmp_path: Path) -> None:
    settings = load_settings(single_user=True, script_only=True, data=tmp_path)
    async with warm_house(settings):
        # Readiness is told with the last engine, and what is loaded is put away in the moment after.
        async with asyncio.timeout(30):
            while not gc.get_freeze_count():
                await asyncio.sleep(0.01)
        seen = len(gc.get_objects(generation=2))
        assert gc.get_freeze_count() > 20 * seen, seen
    assert gc.get_freeze_count() == 0


async def test_weights_that_are_missing_are_named_by_whoever_waits_for_them(tmp_path: Path) -> None:
    settings = load_settings(single_user=True, data=tmp_path / "data", models=tmp_path / "nothing")
    async with serving(lambda base_url: create_kept_app(settings, base_url)) as base_url:
        with pytest.raises(CannotStart, match="firstword models pull"):
            await until_ready(base_url)
        async with httpx2.AsyncClient(trust_env=False, base_url=base_url) as client:
            assert (await client.get("/app/voice/guide")).status_code == 200
            assert (await client.get("/readyz")).json()["failed"]


@pytest.mark.browser
def test_whoever_comes_while_models_load_sees_the_bytes_and_may_talk_when_they_are_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = asyncio.Event()

    async def held(settings: Settings, base_url: str) -> House:
        await go.wait()
        return await open_house(settings, base_url)

    monkeypatch.setattr("firstword.app.open_house", held)
    settings = load_settings(single_user=True, script_only=True, data=tmp_path)
    # Its pages are served from a thread while its doors stay closed.
    opening = serving(lambda base_url: create_kept_app(settings, base_url))
    with Aside() as aside, aside.opened(opening) as url, browser_page() as page:
        page.set_default_timeout(60_000)
        page.goto(f"{url}/")
        page.click("text=Guide")
        page.wait_for_selector("#loading p:has-text('Getting the models ready')")
        # Real bytes of real files: the recogniser's, the voice's.
        page.wait_for_selector("#loading div:has-text('the recogniser'):has-text('here')")
        page.wait_for_selector("#loading div:has-text('warming up')")
        assert page.is_disabled("#start")
        # Every other door says so, and not that it does not exist.
        reply = page.request.post(f"{url}/app/voice/guide/start")
        assert (reply.status, reply.json()["error"]["code"]) == (503, "loading")
        page.fill("#line", "Are you there yet?")
        page.keyboard.press("Enter")
        page.wait_for_selector("#live:has-text('Are you there yet?')")
        aside.soon(go.set)
        page.wait_for_selector(f"#transcript li[data-role=assistant] .words:has-text('{SCRIPT}')")
        # Answered before the last engine is warm, and nobody is kept waiting for the box to say so.
        page.wait_for_selector("#loading", state="hidden")
