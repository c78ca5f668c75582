"""The compile: a folder of files to bots and refusals.

Not a loader that skips what it does not understand. The one rule: every refusal of every file is reported at once, with
file, line, what is wrong and what to write instead; nothing is ignored.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from agents_core.bots import LATER, Bot, BotMatter, EndingsMatter, LimitsMatter, VoiceMatter, bot_from
from agents_core.matter import Matter, Refusal, Refused, split

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SLUG_CHARS = 60
_HOUSE = Path(__file__).with_name("house.toml")
_BLOCKS: dict[tuple[str, ...], type] = {
    (): BotMatter,
    ("voice",): VoiceMatter,
    ("limits",): LimitsMatter,
    ("endings",): EndingsMatter,
}


@dataclass(frozen=True, slots=True)
class House:
    """The words that thinking adds: endings, stand-ins, and how an answer is to sound."""

    endings: Mapping[str, str]
    stand_in: Mapping[str, str]
    brief: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a folder came to."""

    bots: Mapping[str, Bot]
    house: House
    refusals: tuple[Refusal, ...]


def check_bots(folder: Path) -> list[Refusal]:
    """Every refusal in a content folder (or in a folder of bots), in order of file and line."""
    return list(compile_folder(folder).refusals)


def compile_folder(folder: Path) -> Compiled:
    """Read `folder/bots/*.md` (or `folder/*.md` where it has no `bots`) and `folder/house.toml`."""
    refusals: list[Refusal] = []
    house = _house(folder, refusals)
    bots: dict[str, Bot] = {}
    files = bot_files(folder)
    for file in files:
        name = file.relative_to(folder).as_posix()
        try:
            bots[file.stem] = _bot(file, house)
        except Refused as refused:
            refusals.append(Refusal(name, refused.line, refused.what, refused.instead))
        except _Many as many:
            refusals.extend(Refusal(name, refused.line, refused.what, refused.instead) for refused in many.refused)
    if not files:
        refusals.append(Refusal(str(folder), 1, "there are no bots in this folder", "Put one in `bots/<name>.md`"))
    return Compiled(bots, house, tuple(sorted(set(refusals))))


def bot_files(folder: Path) -> list[Path]:
    """The files a compile would read, in order of name. Hidden files are an editor's."""
    place = folder / "bots" if (folder / "bots").is_dir() else folder
    return sorted(f for f in place.iterdir() if f.is_file() and f.suffix.lower() in _BOT_LIKE and f.name[0] != ".")


# What somebody may have meant as a bot. A README or a picture beside the bots is nobody's mistake.
_BOT_LIKE = (".md", ".markdown", ".mdx")


class _Many(Exception):
    def __init__(self, refused: list[Refused]) -> None:
        super().__init__(f"{len(refused)} refusals")
        self.refused = refused


def _bot(file: Path, house: House) -> Bot:
    if file.suffix != ".md":
        raise Refused(1, f"a bot's file ends in `.md`, not `{file.suffix}`", f"Rename it `{file.stem}.md`")
    if not _SLUG.fullmatch(file.stem) or len(file.stem) > _SLUG_CHARS:
        better = re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-") or "my-bot"
        raise Refused(
            1,
            f"`{file.stem}` cannot be a bot's address",
            f"Use a-z, 0-9 and single hyphens: `{better[:_SLUG_CHARS]}.md`",
        )
    try:
        data = file.read_bytes()
    except OSError as fault:
        raise Refused(1, f"the file cannot be read ({fault.strerror})", "Let the server read it") from None
    matter = split(data)
    refused = [*_voice_without_surface(matter)]
    if not matter.body:
        refused.append(Refused(matter.body_line, "the body is empty", "Write under the front matter who the bot is"))
    known: BotMatter | None = None
    try:
        known = BotMatter.model_validate(matter.values)
    except ValidationError as fault:
        refused.extend(_in_words(error, matter) for error in fault.errors(include_url=False))
    if known is None or refused:
        raise _Many(refused)
    return bot_from(file.stem, known, matter.body, house.endings)


def _voice_without_surface(matter: Matter) -> Iterator[Refused]:
    surfaces = matter.values.get("surfaces")
    if "voice" in matter.values and isinstance(surfaces, list) and "voice" not in surfaces:
        yield Refused(
            matter.line(("voice",)),
            "`voice:` says how the bot sounds, but `surfaces:` does not have `voice`",
            "Add `voice` to `surfaces:`, or take the `voice:` block out",
        )


def _in_words(error: ErrorDetails, matter: Matter) -> Refused:
    """One of pydantic's errors, as somebody who writes bots would say it."""
    path = tuple(error["loc"])
    key, line, ctx = _dotted(path), matter.line(path), error.get("ctx", {})
    given = error.get("input")
    match error["type"]:
        case "extra_forbidden":
            return _unknown(path, line)
        case "missing":
            return Refused(line, f"`{key}` is missing", f"Add `{path[-1]}:`")
        case "literal_error":
            choice = str(ctx["expected"]).replace("'", "`")
            return Refused(line, f"`{key}` cannot be {_shown(given)}", f"Use {choice}{_meant(given, choice)}")
        case "string_type":
            return Refused(line, f"`{key}` is {_shown(given)}, which is not text", f'Put it in quotes: "{given}"')
        case "list_type":
            return Refused(line, f"`{key}` is not a list", f"Write `{path[-1]}: [{given}]`")
        case "too_short" | "string_too_short":
            return Refused(line, f"`{key}` is empty", "Give it a value, or leave the key out where it has a default")
        case "too_long" | "string_too_long":
            return Refused(line, f"`{key}` is too long", f"Keep it to {ctx['max_length']}")
        case "greater_than_equal" | "greater_than" | "less_than_equal" | "less_than":
            return Refused(line, f"`{key}` is {_shown(given)}, out of range", f"Use a number {_range(error)}")
        case "int_type" | "float_type" | "int_from_float" | "finite_number":
            kind = "a whole number" if error["type"].startswith("int") else "a number"
            return Refused(
                line, f"`{key}` is {_shown(given)}, which is not {kind}", "Write it in digits, without quotes"
            )
        case "bool_type":
            return Refused(line, f"`{key}` is {_shown(given)}", "Write `true` or `false`")
        case "model_type" | "dict_type" | "model_attributes_type":
            return Refused(line, f"`{key}` is not a block of keys", "Write its keys under it, indented")
        case "string_pattern_mismatch":
            return Refused(line, f"`{key}` cannot be {_shown(given)}", "Use a language's code, as in `en` or `pt-BR`")
        case _:
            return Refused(line, f"`{key}`: {error['msg'][:1].lower()}{error['msg'][1:]}", "See the example bots")


def _unknown(path: tuple[str | int, ...], line: int) -> Refused:
    key, block = str(path[-1]), tuple(str(part) for part in path[:-1])
    if not block and key in LATER:
        return Refused(line, f"`{key}:` is not available yet, and would not be acted on", "Take it out")
    fields: Mapping[str, Any] = getattr(_BLOCKS.get(block), "model_fields", {})
    names = [field.alias or name for name, field in fields.items()]
    close = difflib.get_close_matches(key, names, 1)
    instead = f"Did you mean `{close[0]}`?" if close else f"The keys here are {', '.join(names)}"
    return Refused(line, f"there is no key `{_dotted(path)}`", instead)


def _dotted(path: tuple[str | int, ...]) -> str:
    return ".".join(str(part + 1) if isinstance(part, int) else part for part in path)


def _shown(given: object) -> str:
    return f"`{str(given)[:60]}`"


def _meant(given: object, choice: str) -> str:
    close = difflib.get_close_matches(str(given), re.findall(r"`(\w+)`", choice), 1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _range(error: ErrorDetails) -> str:
    names = {"ge": "from", "gt": "over", "le": "up to", "lt": "under"}
    return " ".join(f"{names[key]} {value:g}" for key, value in error.get("ctx", {}).items() if key in names)


def _house(folder: Path, refusals: list[Refusal]) -> House:
    """The house's words, the site's own over them."""
    words: dict[str, dict[str, str]] = tomllib.loads(_HOUSE.read_text(encoding="utf-8"))
    own = folder / "house.toml"
    if own.is_file():
        try:
            given = tomllib.loads(own.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
            at = re.search(r"line (\d+)", str(fault))
            refusals.append(Refusal(own.name, int(at[1]) if at else 1, f"it is not TOML: {fault}", "Mend that line"))
            given = {}
        lines = own.read_text(encoding="utf-8", errors="replace").splitlines()
        for block, keys in given.items():
            for key, said in keys.items() if isinstance(keys, dict) else ():
                if key in words.get(block, {}) and isinstance(said, str):
                    words[block][key] = said
                else:
                    known = ", ".join(f"{b}.{k}" for b, ks in words.items() for k in ks)
                    line = next((n for n, text in enumerate(lines, 1) if text.lstrip().startswith(key)), 1)
                    refusals.append(
                        Refusal(own.name, line, f"there are no words `{block}.{key}`", f"The words are {known}")
                    )
    return House(words["endings"], words["stand_in"], words["brief"])
