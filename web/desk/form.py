"""The form of one bot: every field with its words, its value, what holds anyway, and what it may be.

Values for the page, and refusals put beside the fields they are about. The one rule: what the page shows of a field is
what the file and the grammar say of it; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from agents_core import Refusal
from agents_core.audience import PLAIN
from agents_core.compile import ALL, taken_over
from agents_core.editing import BODY, FIELDS
from web.desk.labels import CHOICES, SECTIONS
from web.desk.parts import DeskParts
from web.desk.shelf import Opened


def form_of(parts: DeskParts, opened: Opened) -> dict[str, Any]:
    """The fields by section, what there is to choose from, and what the bot takes over."""
    theirs = taken_over(parts.bots.folder, opened.slug, opened.data)
    return {
        "slug": opened.slug,
        "digest": opened.digest,
        "sections": [
            {"name": name, "fields": [_field(opened, key) for key in fields]} for name, fields in SECTIONS.items()
        ],
        "offers": _offers(parts, opened.slug),
        "brought": {key: _listed(theirs.get(key)) for key in ("tools", "skills")},
    }


def refused(refusals: Iterable[Refusal], slug: str) -> list[dict[str, str]]:
    """Refusals as the page has them: the field (empty where it is none's), and the compile's own sentence."""
    told = []
    for each in refusals:
        own = each.file.endswith(f"{slug}.md")
        known = own and (each.key in FIELDS or each.key == BODY)
        what = each.what if own else f"{each.file}: {each.what}"
        told.append(
            {
                "key": each.key if known else "",
                "what": f"{what}. {each.instead}{'' if each.instead[-1:] in '.?!' else '.'}",
            }
        )
    return told


def conflicts(opened: Opened, draft: Mapping[str, Any], was: Mapping[str, Any]) -> dict[str, Any]:
    """What somebody else changed of the fields that this draft changes too: the field, and what it says now."""
    return {key: opened.said(key) for key in draft if key in was and opened.said(key) != was[key]}


def label_of(key: str) -> str:
    """What a field is called."""
    return next((fields[key].name for fields in SECTIONS.values() if key in fields), key)


def _field(opened: Opened, key: str) -> dict[str, Any]:
    label = next(fields[key] for fields in SECTIONS.values() if key in fields)
    told: dict[str, Any] = {"key": key, "label": label.name, "help": label.help, "control": label.control}
    told |= {"unit": label.unit, "value": opened.said(key), "own": key in opened.own}
    if key == BODY:
        return {**told, "kind": "words", "usual": "", "choices": []}
    field = FIELDS[key]
    words = CHOICES.get(key, {})
    return {
        **told,
        "kind": field.kind,
        "usual": opened.below.get(key, field.usual),
        # The house's own words for an ending are usual; another bot's are taken over.
        "taken": key in opened.below and field.path[0] != "endings",
        "least": field.least,
        "most": field.most,
        "longest": field.longest,
        "choices": [[each, words.get(each, each)] for each in field.choices],
    }


def _offers(parts: DeskParts, slug: str) -> dict[str, Any]:
    """What there is to choose from."""
    compiled = parts.bots.compiled
    words = {word for person in compiled.facts.people.values() for word in person.holds}
    words |= {word for bot in compiled.bots.values() for word in (*bot.audience, *bot.serves)}
    words |= {word for skill in compiled.skills.values() for word in skill.audience}
    words |= {word for tool in compiled.tools.values() for word in tool.audience}
    about = {name: compiled.tools[name].description for name in compiled.tools}
    return {
        "engines": [asdict(each) for each in parts.engines()],
        "tools": [
            {"name": name, "about": about.get(name) or "Operations of an API."} for name in sorted(compiled.granted)
        ],
        "skills": [{"name": each.name, "about": each.description} for each in compiled.skills.values()],
        "all": ALL,
        "audience": [*PLAIN, *sorted(words - set(PLAIN))],
        "bots": sorted({*compiled.bots, "desk"} - {slug}),
    }


def _listed(value: Any) -> Sequence[str]:
    return [value] if isinstance(value, str) else list(value or ())
