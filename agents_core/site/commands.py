"""Commands: `commands/<name>.md`, a prompt behind a word with a slash.

Not a menu: the page draws one from `Command`. Whoever asks sends the word and its arguments; the prompt stays here and
is put in their place. The rules: `{name}` in the body is an argument and nothing else; a value is never expanded again.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from agents_core.bots import Audience, Bot, Surface
from agents_core.matter import Matter, Refused, read_file
from agents_core.refusing import Blocks, Many, no_such, validated

Kind = Literal["span", "choice", "person", "boolean"]
_HOLE = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
_VALUE_CHARS = 500


class ArgumentMatter(BaseModel):
    """One argument of a command: a field somebody fills in."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]*$", max_length=40)]
    kind: Kind = "span"
    label: Annotated[str, Field(max_length=80)] = ""
    default: Annotated[str, Field(max_length=200)] = ""
    choices: list[Annotated[str, Field(max_length=80)]] = Field(default=[])


class CommandMatter(BaseModel):
    """The front matter of a command's file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    description: Annotated[str, Field(min_length=1, max_length=200)]
    bot: Annotated[str, Field(min_length=1, max_length=60)]
    arguments: list[ArgumentMatter] = Field(default=[], max_length=12)
    for_: Audience = Field(default=[], alias="for")
    surfaces: list[Surface] = Field(default=["voice"], min_length=1)


_BLOCKS: Blocks = {(): CommandMatter, ("arguments",): ArgumentMatter}


@dataclass(frozen=True, slots=True)
class Command:
    """A command. `prompt` never leaves the server."""

    name: str
    description: str
    bot: str
    prompt: str
    arguments: tuple[ArgumentMatter, ...]
    audience: tuple[str, ...]
    surfaces: tuple[str, ...]

    def said(self, rest: str) -> str:
        """The prompt with what was written after the command's word: `key=value`, or the values in order."""
        fields = {argument.name: argument for argument in self.arguments}
        values = {name: argument.default for name, argument in fields.items()}
        free = list(fields)
        for part in _parts(rest, len(free)):
            key, equals, value = part.partition("=")
            if equals and key in values:
                values[key] = _fits(fields[key], value)
                free = [name for name in free if name != key]
            elif free:
                name = free.pop(0)
                values[name] = _fits(fields[name], part)
        return _HOLE.sub(lambda hole: values.get(hole[1], hole[0]), self.prompt)


def said(text: str, commands: Mapping[str, Command]) -> str:
    """What is asked: `text` itself, or the prompt of the command it begins with."""
    word = re.match(r"/([a-z0-9]+(?:-[a-z0-9]+)*)(?:\s+|$)", text)
    if word is None or word[1] not in commands:
        return text
    return commands[word[1]].said(text[word.end() :])


def read_command(file: Path, bots: Mapping[str, Bot], refused_bots: frozenset[str]) -> Command | None:
    """The command in `file`; None where its bot is refused. Raises `Refused` and `Many`."""
    matter = read_file(file)
    known = validated(CommandMatter, matter.values, matter, _BLOCKS)
    faults = [*_faults(known, matter)]
    if known.bot not in bots and known.bot not in refused_bots:
        faults.append(no_such("bot", known.bot, bots, matter.line(("bot",))))
    elif known.bot in bots:
        for n, surface in enumerate(known.surfaces):
            if surface not in bots[known.bot].surfaces:
                faults.append(
                    Refused(
                        matter.line(("surfaces", n)),
                        f"the bot `{known.bot}` is not on the surface `{surface}`",
                        f"Use {', '.join(bots[known.bot].surfaces)}, or add it to the bot's `surfaces:`",
                    )
                )
    if faults:
        raise Many(faults)
    if known.bot in refused_bots:
        return None
    return Command(
        name=file.stem,
        description=known.description,
        bot=known.bot,
        prompt=matter.body,
        arguments=tuple(known.arguments),
        audience=tuple(known.for_),
        surfaces=tuple(known.surfaces),
    )


def _faults(known: CommandMatter, matter: Matter) -> list[Refused]:
    faults = []
    if not matter.body:
        faults.append(
            Refused(matter.body_line, "the body is empty", "Write under the front matter what the bot is asked")
        )
    names = [argument.name for argument in known.arguments]
    for n, argument in enumerate(known.arguments):
        line = matter.line(("arguments", n))
        if argument.kind == "choice" and not argument.choices:
            faults.append(Refused(line, f"`{argument.name}` is a choice of nothing", "Write `choices: [one, other]`"))
        if argument.choices and argument.default and argument.default not in argument.choices:
            faults.append(
                Refused(line, f"`{argument.default}` is none of the choices", "Use one of them as `default:`")
            )
        if names.index(argument.name) != n:
            faults.append(Refused(line, f"`{argument.name}` is there twice", "Keep one of them"))
        if argument.name not in _HOLE.findall(matter.body):
            faults.append(Refused(line, f"`{argument.name}` is not used", f"Write `{{{argument.name}}}` in the body"))
    for hole in _HOLE.finditer(matter.body):
        if hole[1] not in names:
            line = matter.body_line + matter.body[: hole.start()].count("\n")
            faults.append(no_such("argument", hole[1], names, line))
    return faults


def _fits(argument: ArgumentMatter, value: str) -> str:
    """The value, or the default where it is none of the choices."""
    allowed = argument.choices if argument.kind == "choice" else ("yes", "no") if argument.kind == "boolean" else ()
    return value[:_VALUE_CHARS] if not allowed or value in allowed else argument.default


def _parts(rest: str, most: int) -> list[str]:
    """Words, quoted ones whole; the last argument takes what is left, for it is most often a sentence."""
    try:
        parts = shlex.split(rest)
    except ValueError:
        parts = rest.split()
    if most and len(parts) > most and not any("=" in part for part in parts):
        return [*parts[: most - 1], " ".join(parts[most - 1 :])]
    return parts
