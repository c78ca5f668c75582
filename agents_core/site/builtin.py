"""The tools that come with the house: exactly `about_me`, `catalog`, `search_site`, `whats_on`, `raise_ticket`.

Not a toolbox that grows: what is asked of one subject is one tool, and acting stays apart from reading, so that each
can have an audience of its own. The one rule: a tool whose facts the site does not have is not there at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from agents_core.events import Passages
from agents_core.site.facts import Facts, Happening, Thing
from agents_core.site.search import Index, stems
from agents_core.tools import NO_ARGUMENTS, Answered, Handed, Tool

BUILT_IN = ("about_me", "catalog", "search_site", "whats_on", "raise_ticket")
# Where the facts of each would stand; the others ask the desk.
NEEDS: Mapping[str, str] = {"catalog": "catalog.toml", "search_site": "pages/", "whats_on": "whats-on.toml"}
_MOST_THINGS, _MOST_PASSAGES, _MOST_HAPPENINGS = 8, 5, 12


def built_in(facts: Facts, asking: frozenset[str], *, now: Callable[[], datetime] | None = None) -> list[Tool]:
    """The tools for which the site has facts. `asking` are the words of a question that say nothing about a thing."""
    tools = [_about_me(), _raise_ticket()]
    if facts.things is not None:
        tools.append(_catalog(facts.things, asking))
    if facts.pages is not None:
        tools.append(_search_site(facts.pages))
    if facts.happenings is not None:
        tools.append(_whats_on(facts.happenings, now or (lambda: datetime.now(UTC))))
    return tools


def found(things: tuple[Thing, ...], phrase: str, asking: frozenset[str]) -> list[Thing]:
    """The things a phrase is about: those that hold all of it in one field, else those that hold most of its words."""
    wanted = " ".join(phrase.casefold().split())
    if not wanted:
        return list(things[:_MOST_THINGS])
    whole = [t for t in things if any(wanted in field.casefold() for field in (t.sku, t.title, t.kind, t.tier))]
    if whole:
        return whole[:_MOST_THINGS]
    words = {stem for stem in stems(phrase) if stem not in asking} or set(stems(phrase))
    scored = [(len(words & set(stems(f"{t.sku} {t.title} {t.kind} {t.tier}"))), -n) for n, t in enumerate(things)]
    return [things[-n] for score, n in sorted(scored, reverse=True)[:_MOST_THINGS] if score > 0]


def on(happenings: tuple[Happening, ...], now: datetime, days: int) -> list[Happening]:
    """What is on from now for so many days, soonest first. What has begun and is not over is on."""

    def day_of(moment: datetime | date) -> date:
        return moment.astimezone(now.tzinfo).date() if isinstance(moment, datetime) else moment

    def over(one: Happening) -> bool:
        end = one.until or one.at
        return end < now if isinstance(end, datetime) and one.until else day_of(end) < now.date()

    last = (now + timedelta(days=days)).date()
    coming = [one for one in happenings if not over(one) and day_of(one.at) <= last]
    return sorted(coming, key=lambda one: (day_of(one.at), str(one.at)))[:_MOST_HAPPENINGS]


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    required = [name for name, one in properties.items() if "default" not in one]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _about_me() -> Tool:
    async def does(handed: Handed, _arguments: Mapping[str, Any]) -> Answered:
        known = await handed.desk.about(handed.run)
        if known is None:
            return Answered("There is nobody to ask about: whoever this is has not signed in.")
        return Answered(json.dumps(known, ensure_ascii=False, default=str) if known else "Nothing is known of them.")

    return Tool(
        "about_me",
        "What the site knows of the person you are talking to: what they have, may use and asked for. Nobody else.",
        does,
        NO_ARGUMENTS,
        personal=True,
        busy="looking you up",
    )


def _raise_ticket() -> Tool:
    async def does(handed: Handed, arguments: Mapping[str, Any]) -> Answered:
        number = await handed.desk.raise_ticket(handed.run, handed.call, arguments["title"], arguments["text"])
        return Answered(f"Ticket {number} is written; somebody of the staff reads it.")

    schema = _object(
        title={"type": "string", "minLength": 3, "maxLength": 120, "description": "what it is about, in a line"},
        text={"type": "string", "minLength": 3, "maxLength": 4000, "description": "what they need, in their words"},
    )
    return Tool(
        "raise_ticket",
        "Write a ticket for the staff, about the person you are talking to, once they agreed to it.",
        does,
        schema,
        personal=True,
        repeats=False,
        busy="writing it down for the staff",
    )


def _catalog(things: tuple[Thing, ...], asking: frozenset[str]) -> Tool:
    async def does(_handed: Handed, arguments: Mapping[str, Any]) -> Answered:
        hits = found(things, arguments["phrase"], asking)
        if not hits:
            return Answered(f"Nothing here is like {arguments['phrase']!r}.")
        return Answered("\n".join(_line(hit.model_dump()) for hit in hits))

    schema = _object(phrase={"type": "string", "maxLength": 200, "description": "what they look for; empty for all"})
    return Tool(
        "catalog", "What the site offers: titles, kinds, prices.", does, schema, busy="looking through the catalog"
    )


def _search_site(pages: Index) -> Tool:
    async def does(_handed: Handed, arguments: Mapping[str, Any]) -> Answered:
        hits = pages.best(arguments["query"], _MOST_PASSAGES)
        if not hits:
            return Answered("The site says nothing about that.")
        text = "\n\n".join(f"[{n}] {hit.title} ({hit.address})\n{hit.text}" for n, hit in enumerate(hits, 1))
        read = Passages(tuple(hit.title for hit in hits), tuple(hit.address for hit in hits))
        return Answered(text, (read,))

    schema = _object(query={"type": "string", "minLength": 1, "maxLength": 300, "description": "words to look for"})
    return Tool("search_site", "Search the site's own pages.", does, schema, busy="reading the site")


def _whats_on(happenings: tuple[Happening, ...], now: Callable[[], datetime]) -> Tool:
    async def does(_handed: Handed, arguments: Mapping[str, Any]) -> Answered:
        coming = on(happenings, now(), arguments.get("days", 14))
        today = f"Today is {now():%A, %d %B %Y}."
        lines = [_line(one.model_dump()) for one in coming] or ["Nothing is on in that time."]
        return Answered("\n".join([today, *lines]))

    days = {"type": "integer", "minimum": 1, "maximum": 366, "default": 14, "description": "how many days ahead"}
    return Tool("whats_on", "What is on, and when.", does, _object(days=days), busy="looking at what is on")


def _line(said: Mapping[str, Any]) -> str:
    return "; ".join(f"{key}: {value}" for key, value in said.items() if value not in ("", None))
