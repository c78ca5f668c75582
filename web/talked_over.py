"""Talking over an answer in the page, measured: how soon the page is silent, and what a cough costs.

A person asks by writing, listens for a moment, and then speaks or coughs into the microphone, by the WebSocket and by a
call. Real sound both ways and no leak: whoever measures loudspeakers in rooms takes `firstword bench barge-in`. The one
rule: what counts is what left for the loudspeaker and what is written down as heard, never what the server says it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sound import Pcm
from sound.noises import cough
from tts import Engine
from web.browser import browser_page, until
from web.person import Person, Said, noise, spoken

LINES = ("socket", "call")
# What is said over the answer: two seconds without a pause, and none of its words are the answer's.
WORDS = "Please stop now, I would rather hear about tomorrow's weather."
CUT = "—"
ANSWERS = "#transcript li[data-role=assistant]"
_QUESTION = "What is Firstword?"
_TIMES = 5
# So far into the answer.
_INTO_S = 0.7
# Nothing sounds for so long: the answer is over.
_QUIET_S = 1.5
# What still sounds so shortly before the end of the words was not stopped by them.
_LATE_S = 0.15
_LIMIT_MS = 90_000


def talked_over(url: str, bot: str, engine: Engine) -> dict[str, Any]:
    """Talk and cough over answers of `bot` at `url`; `engine` speaks for the person."""
    words = spoken(engine, WORDS)
    return {line: _on(url, bot, line, words) for line in LINES}


def silent_after_ms(person: Person, said: Said, since_s: float) -> float | None:
    """From the first sample of what was said over an answer to the last that sounded of it; None where it went on."""
    last_s = max(person.audible(since_s, said.end_s), default=since_s)
    return max(0.0, (last_s - said.first_s) * 1000) if last_s < said.end_s - _LATE_S else None


def _on(url: str, bot: str, line: str, words: Pcm) -> dict[str, Any]:
    silent: list[float] = []
    missed = lost = 0
    with browser_page(bypass_csp=True) as page:
        page.set_default_timeout(_LIMIT_MS)
        person = Person(page)
        page.goto(f"{url}/app/voice/{bot}?line={line}")
        page.click("#start:enabled")
        page.wait_for_selector("#mic")
        for n in range(_TIMES):
            began_s, answer = asked(page, person)
            said = person.say(words)
            person.until_past(said.end_s)
            after_ms = silent_after_ms(person, said, began_s)
            # One that came to its own end meanwhile was not stopped by anybody.
            if not cut(page, person, answer) or after_ms is None:
                missed += 1
            else:
                silent.append(after_ms)
            _, answer = asked(page, person)
            person.until_past(person.say(noise(cough, n)).end_s)
            lost += cut(page, person, answer)
    return {
        "talked_over": _TIMES,
        "not_stopped": missed,
        "silent_p50_ms": _figure(silent, len(silent) // 2),
        "silent_worst_ms": _figure(silent, -1),
        "coughs": _TIMES,
        "answers_lost": lost,
    }


def asked(page: Any, person: Person) -> tuple[float, Any]:
    """Ask in silence, and listen for a moment; when the answer began to sound, and its line."""
    _until_quiet(page, person)
    before, asked_s = page.locator(ANSWERS).count(), person.now_s
    page.fill("#line", _QUESTION)
    page.keyboard.press("Enter")
    began_s = person.until_heard(asked_s)
    person.until_past(began_s + _INTO_S)
    return began_s, page.locator(f"{ANSWERS} .words").nth(before)


def cut(page: Any, person: Person, answer: Any) -> bool:
    """Whether an answer is written down as one that was broken off, once all is quiet."""
    _until_quiet(page, person)
    text: str = answer.inner_text()
    return text.endswith(CUT)


def _until_quiet(page: Any, person: Person) -> None:
    while True:
        until(page, "document.body.dataset.state", _LIMIT_MS / 1000, gives="listening")
        since_s = person.now_s
        person.until_past(since_s + _QUIET_S)
        if not person.audible(since_s):
            return


def _figure(ordered: Sequence[float], at: int) -> int | None:
    return round(sorted(ordered)[at]) if ordered else None
