"""The compile: a folder of files to bots, skills, tools, commands and refusals.

Not a loader that skips what it does not understand. The one rule: every refusal of every file is reported at once, with
file, line, what is wrong and what to write instead; nothing is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from agents_core.bots import BLOCKS, Bot, BotMatter, bot_from, never_acted_on
from agents_core.matter import Matter, Refusal, Refused, read_file, split
from agents_core.offer import OPEN_SKILL, Skill
from agents_core.refusing import Many, no_such, validated
from agents_core.site import skills as skill_files
from agents_core.site.builtin import BUILT_IN, NEEDS, built_in
from agents_core.site.commands import Command, read_command
from agents_core.site.facts import Facts, read_facts
from agents_core.site.skills import read_skill
from agents_core.site.toolfiles import read_tools
from agents_core.tools import Tool
from agents_core.words import House, house_words

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SLUG_CHARS = 60
_KIT_BOTS = Path(__file__).parent / "kit" / "bots"
_T = TypeVar("_T")
# The folders of a site; what stands beside them are facts, and bots where they have no folder of their own.
FOLDERS = ("bots", "skills", "tools", "commands", "pages")
# What somebody may have meant as one of these files. A README or a picture beside the bots is nobody's mistake.
_TEXT_LIKE = (".md", ".markdown", ".mdx")
BESIDE = (*_TEXT_LIKE, ".toml")
ALL = "all"
# Lists that a bot which extends another adds to; everything else of its own stands in place of the other's.
_ADDED = ("tools", "skills")


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a folder came to. `granted` are the tools of each name a bot may list: a tool, or a file of several."""

    bots: Mapping[str, Bot]
    house: House
    refusals: tuple[Refusal, ...]
    skills: Mapping[str, Skill] = field(default_factory=dict)
    tools: Mapping[str, Tool] = field(default_factory=dict)
    granted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    commands: Mapping[str, Command] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)


def check_bots(folder: Path) -> list[Refusal]:
    """Every refusal in a content folder (or in a folder of bots), in order of file and line."""
    return list(compile_folder(folder).refusals)


def compile_folder(folder: Path, *, private_hosts: frozenset[str] = frozenset()) -> Compiled:
    """Read a content folder: `bots/`, `skills/`, `tools/`, `commands/`, the site's facts and `house.toml`.

    A folder without `bots/` is read as a folder of bots. `private_hosts` are servers of tools that may be in the
    owner's own network.
    """
    refusals: list[Refusal] = []
    house = house_words(folder, refusals)
    facts = read_facts(folder, refusals)
    tools, granted = _tools(folder, facts, house, refusals, private_hosts)
    skills = _skills(folder, tools, granted, refusals)
    names = _Names(skills, granted)
    bots = _bots(folder, house, names, refusals)
    broken = frozenset(file.stem for file in bot_files(folder)) - frozenset(bots)
    commands = _each(folder, "commands", refusals, lambda file: read_command(file, bots, broken))
    return Compiled(
        bots,
        house,
        tuple(sorted(set(refusals))),
        skills,
        tools,
        granted,
        {name: command for name, command in commands.items() if command is not None},
        facts,
    )


@dataclass(frozen=True, slots=True)
class Tried:
    """What a file that is not written yet would come to: the bot (None where it is refused), and what is refused."""

    bot: Bot | None
    refusals: tuple[Refusal, ...]


def try_bot(found: Compiled, folder: Path, slug: str, data: bytes) -> Tried:
    """What it would come to if `data` stood in the file of `slug`: its refusals, and those of bots that extend it.

    Tools and skills are those of `found`, the compile of the same folder; nothing of them is loaded again.
    """
    file = bot_file(folder, slug)
    refusals: list[Refusal] = []
    names = _Names(found.skills, found.granted, {file: data})
    bots = _bots(folder, found.house, names, refusals)
    own = file.relative_to(folder).as_posix()
    before = {(each.file, each.what) for each in found.refusals}
    told = sorted({each for each in refusals if each.file == own or (each.file, each.what) not in before})
    return Tried(bots.get(slug), tuple(told))


def taken_over(folder: Path, slug: str, data: bytes) -> dict[str, Any]:
    """What a bot whose file holds `data` takes over from the one it extends, as that file's keys; else nothing."""
    matter = split(data)
    file = bot_file(folder, slug)
    try:
        alone = Matter({"extends": matter.values.get("extends")}, {}, {}, "", 1)
        values, _ = _extended(file, alone, {file: data})
    except (Refused, Many):
        return {}
    return {key: value for key, value in values.items() if key != "extends"}


def bot_file(folder: Path, slug: str) -> Path:
    """Where the file of a bot is."""
    return (folder / "bots" if (folder / "bots").is_dir() else folder) / f"{slug}.md"


def bot_files(folder: Path) -> list[Path]:
    """The files of bots, in order of name. Hidden files are an editor's."""
    place = folder / "bots" if (folder / "bots").is_dir() else folder
    return _texts(place)


def all_files(folder: Path) -> list[Path]:
    """Every file a compile would read."""
    places = [folder / name for name in FOLDERS[1:] if (folder / name).is_dir()]
    beside = [file for place in places for file in place.iterdir() if file.is_file() and file.name[0] != "."]
    facts = [folder / name for name in ("house.toml", "catalog.toml", "whats-on.toml", "people.toml")]
    return [*bot_files(folder), *sorted(beside), *(file for file in facts if file.is_file())]


@dataclass(frozen=True, slots=True)
class _Names:
    """What a bot may name."""

    skills: Mapping[str, Skill]
    granted: Mapping[str, tuple[str, ...]]
    # What is to stand in place of files, for whoever asks before they write.
    instead: Mapping[Path, bytes] = field(default_factory=dict)


def _texts(place: Path) -> list[Path]:
    return sorted(f for f in place.iterdir() if f.is_file() and f.suffix.lower() in _TEXT_LIKE and f.name[0] != ".")


def _each(folder: Path, kind: str, refusals: list[Refusal], read: Callable[[Path], _T]) -> dict[str, _T]:
    """Read every file of a kind; what is wrong goes to `refusals`."""
    place = folder / kind if (folder / kind).is_dir() else None
    if kind == "bots" and place is None:
        place = folder
    found: dict[str, _T] = {}
    for file in _texts(place) if place else []:
        name = file.relative_to(folder).as_posix()
        try:
            _named(file, kind)
            found[file.stem] = read(file)
        except Refused as refused:
            refusals.append(refused.of(name))
        except Many as many:
            refusals.extend(refused.of(name) for refused in many.refused)
    return found


def _named(file: Path, kind: str) -> None:
    one = kind.removesuffix("s")
    if file.suffix != ".md":
        raise Refused(1, f"a {one}'s file ends in `.md`, not `{file.suffix}`", f"Rename it `{file.stem}.md`")
    if not _SLUG.fullmatch(file.stem) or len(file.stem) > _SLUG_CHARS:
        better = re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-") or f"my-{one}"
        what = f"`{file.stem}` cannot be a {one}'s {'address' if kind == 'bots' else 'name'}"
        raise Refused(1, what, f"Use a-z, 0-9 and single hyphens: `{better[:_SLUG_CHARS]}.md`")


def _tools(
    folder: Path, facts: Facts, house: House, refusals: list[Refusal], private_hosts: frozenset[str]
) -> tuple[dict[str, Tool], dict[str, tuple[str, ...]]]:
    """Every tool by its name, and the names that each name grants."""
    asking = frozenset(house.words["asking"].split())
    tools = {tool.name: tool for tool in built_in(facts, asking)}
    granted: dict[str, tuple[str, ...]] = {name: (name,) for name in tools}
    files = _each(folder, "tools", refusals, partial(read_tools, private_hosts=private_hosts))
    for stem, made in files.items():
        names = []
        for tool in made:
            if tool.name in tools or tool.name in (*BUILT_IN, OPEN_SKILL):
                what = f"there is a tool named `{tool.name}` already"
                refusals.append(Refusal(f"tools/{stem}.md", 1, what, "Give the file another name"))
                continue
            tools[tool.name] = tool
            granted[tool.name] = (tool.name,)
            names.append(tool.name)
        granted[stem] = tuple(names)
    return tools, granted


def _skills(
    folder: Path, tools: Mapping[str, Tool], granted: Mapping[str, tuple[str, ...]], refusals: list[Refusal]
) -> dict[str, Skill]:
    """The house's skills and the site's, which replaces one of the same name outright."""
    read = {file.stem: read_skill(file) for file in _texts(skill_files.KIT)}
    read |= _each(folder, "skills", refusals, read_skill)
    skills = {}
    for stem, (skill, matter) in read.items():
        faults = [
            _no_tool(name, granted, matter.line(("tools", n)))
            for n, name in enumerate(skill.tools)
            if name not in granted
        ]
        refusals.extend(fault.of(f"skills/{stem}.md") for fault in faults)
        if not faults:
            brought = tuple(tool for name in skill.tools for tool in granted[name] if tool in tools)
            skills[stem] = Skill(skill.name, skill.description, skill.body, brought, skill.audience)
    return skills


def _no_tool(name: str, granted: Mapping[str, tuple[str, ...]], line: int) -> Refused:
    if name in BUILT_IN:
        what = f"the tool `{name}` has nothing to read: there is no {NEEDS[name]} in the content folder"
        return Refused(line, what, f"Write {NEEDS[name]}, or take `{name}` out", "tools")
    return no_such("tool", name, granted, line, "tools")


def _bots(folder: Path, house: House, names: _Names, refusals: list[Refusal]) -> dict[str, Bot]:
    if not bot_files(folder):
        refusals.append(Refusal(str(folder), 1, "there are no bots in this folder", "Put one in `bots/<name>.md`"))
    return _each(folder, "bots", refusals, lambda file: _bot(file, house, names))


def _bot(file: Path, house: House, names: _Names) -> Bot:
    matter = read_file(file, names.instead)
    refused = [*never_acted_on(matter)]
    values, body = matter.values, matter.body
    if not body:
        instead = "Write under the front matter who the bot is"
        refused.append(Refused(matter.body_line, "the body is empty", instead, "body"))
    refused.extend(_unknown_names(matter, names))
    try:
        if isinstance(values.get("extends"), str) and values["extends"]:
            values, body = _extended(file, matter, names.instead)
        known = validated(BotMatter, values, matter, BLOCKS)
    except Many as many:
        raise Many([*refused, *many.refused]) from None
    if refused:
        raise Many(refused)
    bot = bot_from(file.stem, known, body, house.endings)
    return _with_names(bot, names)


def _extended(
    file: Path, matter: Matter, instead: Mapping[Path, bytes], below: tuple[str, ...] = ()
) -> tuple[dict[str, Any], str]:
    """The keys and the body of a bot over those of the one it extends: the other's words and tools come first."""
    slug = matter.values.get("extends")
    if not isinstance(slug, str) or not slug:
        return matter.values, matter.body
    line = matter.line(("extends",))
    if slug == file.stem or slug in below:
        raise Many([Refused(line, f"`{slug}` extends itself", "Take `extends:` out of one of them", "extends")])
    other = next((p for p in (file.parent / f"{slug}.md", _KIT_BOTS / f"{slug}.md") if p.is_file()), None)
    if other is None:
        known = {path.stem for place in (file.parent, _KIT_BOTS) for path in _texts(place)} - {file.stem}
        raise Many([no_such("bot", slug, known, line, "extends")])
    try:
        values, body = _extended(other, read_file(other, instead), instead, (*below, file.stem))
        validated(BotMatter, {key: value for key, value in values.items() if key != "extends"}, matter, BLOCKS)
    except Refused as fault:
        raise Many(
            [Refused(line, f"`{slug}` is refused itself: {fault.what}", "Mend that file first", "extends")]
        ) from None
    except Many as many:
        if any(fault.line == line and "extends itself" in fault.what for fault in many.refused):
            raise
        what = f"`{slug}` is refused itself: {many.refused[0].what}"
        raise Many([Refused(line, what, "Mend that file first", "extends")]) from None
    merged = {**values, **matter.values}
    for key, value in matter.values.items():
        theirs = values.get(key)
        if isinstance(value, Mapping) and isinstance(theirs, Mapping):
            merged[key] = {**theirs, **value}
        elif key in _ADDED and theirs:
            merged[key] = [*_listed(theirs), *_listed(value)]
    return merged, f"{body}\n\n{matter.body}" if matter.body else body


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else []


def _unknown_names(matter: Matter, names: _Names) -> list[Refused]:
    """The tools and skills that the file names itself and that are not there."""
    faults = []
    for n, name in enumerate(_listed(matter.values.get("tools", []))):
        if str(name) not in names.granted:
            faults.append(_no_tool(str(name), names.granted, matter.line(("tools", n))))
    for n, name in enumerate(_listed(matter.values.get("skills", []))):
        if str(name) not in names.skills and name != ALL:
            faults.append(no_such("skill", str(name), [*names.skills, ALL], matter.line(("skills", n)), "skills"))
    return faults


def _with_names(bot: Bot, names: _Names) -> Bot:
    """The bot with its names spelled out. `all` is every skill there is, those that are written later too."""
    skills = tuple(names.skills) if ALL in bot.skills else tuple(name for name in bot.skills if name in names.skills)
    tools = dict.fromkeys(tool for name in bot.tools for tool in names.granted.get(name, ()))
    return replace(bot, skills=skills, tools=tuple(tools))
