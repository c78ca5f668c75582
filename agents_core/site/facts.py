"""A site's facts as files: what it offers, what is on, its pages, its people.

`catalog.toml` holds `[[thing]]`s, `whats-on.toml` holds `[[event]]`s, `pages/*.md` its pages, `people.toml` a table for
each person. Not a database: what changes by the hour comes through a tool of the site's own. The one rule: each is
checked as strictly as a bot, and absent means that the tool which would read it is not there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from agents_core.audience import AudienceWord, Held, holding
from agents_core.matter import Refusal, Refused, read_file
from agents_core.refusing import Many, validated
from agents_core.site.search import Index, Passage, cut

_T = TypeVar("_T", bound=BaseModel)
_Text = Annotated[str, Field(max_length=2000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Thing(_Strict):
    """Something the site offers."""

    sku: Annotated[str, Field(min_length=1, max_length=80)]
    title: Annotated[str, Field(min_length=1, max_length=200)]
    kind: Annotated[str, Field(max_length=80)] = ""
    tier: Annotated[str, Field(max_length=80)] = ""
    price: Annotated[str, Field(max_length=80)] = ""
    about: _Text = ""
    address: Annotated[str, Field(max_length=300)] = ""


class Happening(_Strict):
    """Something that is on. `at` is a date, or a moment with its offset."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    at: AwareDatetime | date
    until: AwareDatetime | date | None = None
    where: Annotated[str, Field(max_length=200)] = ""
    about: _Text = ""


class Person(_Strict):
    """What is known of somebody: the words of audiences that they hold, and facts they may be told about themselves."""

    holds: list[AudienceWord] = Field(default=[])
    about: dict[str, Any] = Field(default={})


class PageMatter(_Strict):
    """The front matter of a page."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    address: Annotated[str, Field(max_length=300)] = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """All of it. None where the site has no such file."""

    things: tuple[Thing, ...] | None = None
    happenings: tuple[Happening, ...] | None = None
    pages: Index | None = None
    people: Mapping[str, Person] = field(default_factory=dict)

    async def held(self, person: str) -> Held:
        """See `People.held`."""
        known = self.people.get(person)
        return holding(person, known.holds if known else ())

    async def about(self, person: str) -> Mapping[str, Any]:
        """What is known of `person`, for themselves; empty where nothing is."""
        known = self.people.get(person)
        return known.about if known else {}


def read_facts(folder: Path, refusals: list[Refusal]) -> Facts:
    """What the files say; what is wrong in them goes to `refusals`, and what is right is kept."""
    return Facts(
        things=_rows(folder / "catalog.toml", "thing", Thing, refusals),
        happenings=_rows(folder / "whats-on.toml", "event", Happening, refusals),
        pages=_pages(folder, refusals),
        people=_people(folder / "people.toml", refusals),
    )


def _pages(folder: Path, refusals: list[Refusal]) -> Index | None:
    if not (folder / "pages").is_dir():
        return None
    passages: list[Passage] = []
    for file in sorted((folder / "pages").glob("*.md")):
        name = file.relative_to(folder).as_posix()
        try:
            matter = read_file(file)
            known = validated(PageMatter, matter.values, matter, {(): PageMatter})
            passages += cut(known.title, known.address or f"/{file.stem}", matter.body)
        except Refused as refused:
            refusals.append(Refusal(name, refused.line, refused.what, refused.instead))
        except Many as many:
            refusals += [Refusal(name, refused.line, refused.what, refused.instead) for refused in many.refused]
    return Index(passages)


def _people(file: Path, refusals: list[Refusal]) -> dict[str, Person]:
    people = {}
    for name, said in _toml(file, refusals).items():
        found = _validated(file, Person, said, _line_of(file, re.escape(f"[{name}]")), refusals)
        if found:
            people[name] = found
    return people


def _rows(file: Path, table: str, model: type[_T], refusals: list[Refusal]) -> tuple[_T, ...] | None:
    if not file.is_file():
        return None
    said = _toml(file, refusals)
    for key in said:
        if key != table:
            line = _line_of(file, rf"\[*{re.escape(key)}\b")
            refusals.append(Refusal(file.name, line, f"there is no `{key}` here", f"Write `[[{table}]]` for each one"))
    rows = said.get(table, [])
    if not isinstance(rows, list):
        refusals.append(Refusal(file.name, 1, f"`{table}` is not a list", f"Write `[[{table}]]` for each one"))
        rows = []
    found = []
    for n, row in enumerate(rows):
        good = _validated(file, model, row, _line_of(file, rf"\[\[\s*{table}\s*\]\]", n), refusals)
        if good:
            found.append(good)
    return tuple(found)


def _toml(file: Path, refusals: list[Refusal]) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        return tomllib.loads(file.read_text("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as fault:
        at = re.search(r"line (\d+)", str(fault))
        refusals.append(Refusal(file.name, int(at[1]) if at else 1, f"it is not TOML: {fault}", "Mend that line"))
        return {}


def _validated(file: Path, model: type[_T], said: Any, line: int, refusals: list[Refusal]) -> _T | None:
    try:
        return model.model_validate(said)
    except ValidationError as fault:
        known = f"The keys here are {', '.join(model.model_fields)}"
        for error in fault.errors(include_url=False):
            path = [str(part) for part in error["loc"]]
            key = ".".join(path)
            what = f"`{key}`: {error['msg'][:1].lower()}{error['msg'][1:]}".splitlines()[0]
            if path[0] in ("at", "until"):
                what = f"`{path[0]}` is no date, and no moment with its offset"
                known = "Write 2026-12-03, or 2026-12-03T18:00:00+01:00"
            # A value that may be of two kinds is refused once for each; somebody has to mend it once.
            refusal = Refusal(file.name, line, what, known)
            if refusal not in refusals:
                refusals.append(refusal)
        return None


def _line_of(file: Path, pattern: str, n: int = 0) -> int:
    """The line of the n-th header that looks like the pattern. tomllib keeps no lines."""
    lines = file.read_text("utf-8-sig", errors="replace").splitlines()
    found = [at for at, text in enumerate(lines, 1) if re.match(rf"\s*{pattern}", text)]
    return found[n] if n < len(found) else 1
