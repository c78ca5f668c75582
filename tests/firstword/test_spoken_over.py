"""Somebody coughs and talks over answers in the page, by either line: the real server, ear and voice, in Chromium.

The answers are a first sentence and a script, spoken by the real voice, so that no model that thinks is in the way.
`python -m web.quick` measures how soon an answer is silent.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from whole_house import house

from firstword.settings import load_settings
from firstword.voices import engine_for
from sound.noises import cough
from web.browser import browser_page, until
from web.person import Person, noise, spoken
from web.talked_over import ANSWERS, LINES, WORDS, asked, cut, silent_after_ms

pytestmark = [pytest.mark.models, pytest.mark.browser, pytest.mark.timeout(180)]

# Five seconds.
FIRST = "Good evening, and welcome to the museum. It opens at nine, and tickets are sold at the gate."
# Somebody listens for so long before they make a sound.
INTO_S = 1.0
LIMIT_S = 60.0
# From the first sample of somebody's words to the last of the answer. A busy machine may be late once; not three times.
SILENT_MS = 400.0
TIMES = 3


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site whose bot speaks first."""
    folder: Path = tmp_path_factory.mktemp("museum")
    (folder / "content" / "bots").mkdir(parents=True)
    matter = f"---\nname: Museum\nsurfaces: [voice]\nvoice:\n  first: {FIRST}\n---\nYou are the museum.\n"
    (folder / "content" / "bots" / "museum.md").write_text(matter)
    with house(script_only=True, content=folder / "content", data=folder / "data") as url:
        yield url


def greeted(page: Any, url: str) -> Person:
    """Somebody who has listened to the bot for a moment."""
    person = Person(page)
    page.set_default_timeout(LIMIT_S * 1000)
    page.goto(url)
    page.click("#start:enabled")
    person.until_heard(0.0)
    # It listens too: what is said into a microphone that still opens is heard by nobody.
    until(page, "person.mouth !== null", LIMIT_S)
    person.until_past(person.now_s + INTO_S)
    return person


@pytest.mark.parametrize("line", LINES)
def test_after_a_cough_an_answer_goes_on_to_its_end(museum: str, line: str) -> None:
    with browser_page(bypass_csp=True) as page:
        person = greeted(page, f"{museum}/app/voice/museum?line={line}")
        coughed = person.say(noise(cough, 0))
        person.until_past(coughed.end_s)
        until(page, "document.body.dataset.state", LIMIT_S, gives="listening")
        assert page.locator(ANSWERS).count() == 1
        assert page.inner_text(f"{ANSWERS} .words") == FIRST
        # Blocks of 128 samples, a few milliseconds each: a second and more of it came after the cough.
        assert len(person.audible(coughed.end_s)) > 400


@pytest.mark.parametrize("line", LINES)
def test_talking_over_an_answer_silences_it_and_the_next_one_sounds(museum: str, line: str, tmp_path: Path) -> None:
    words = spoken(engine_for(load_settings(single_user=True, data=tmp_path)), WORDS)
    silent: list[float | None] = []
    with browser_page(bypass_csp=True) as page:
        person = greeted(page, f"{museum}/app/voice/museum?line={line}")
        while len(silent) < TIMES and not any(ms is not None and ms < SILENT_MS for ms in silent):
            began_s, answer = asked(page, person)
            said = person.say(words)
            person.until_past(said.end_s)
            after_ms = silent_after_ms(person, said, began_s)
            person.until_heard(said.end_s, LIMIT_S)
            silent.append(after_ms if cut(page, person, answer) else None)
    assert min((ms for ms in silent if ms is not None), default=float("inf")) < SILENT_MS, silent
