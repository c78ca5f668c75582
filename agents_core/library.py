"""The bots that are being served, and the last good version of each.

Not a watcher with a thread: it looks at the files when somebody asks. The one rule: a file that is refused changes
nothing for the people talking to its bot; the earlier version goes on, and the refusal is there to be read.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from agents_core.audience import Held
from agents_core.bots import Bot
from agents_core.compile import BESIDE, FOLDERS, Compiled, bot_files, compile_folder
from agents_core.errors import ContentRefused
from agents_core.matter import Refusal
from agents_core.offer import Offer, Skill, offer
from agents_core.site.commands import Command
from agents_core.site.facts import Facts
from agents_core.tools import Tool
from agents_core.words import House

# How often the files are looked at. A look is one `stat` a file.
LOOK_S = 0.5

_T = TypeVar("_T")
_Seen = tuple[tuple[str, int, int], ...]


class Bots(Mapping[str, Bot]):
    """Bots by slug. `fresh` reads what changed; a lookup never touches the disk."""

    def __init__(
        self, folder: Path, *, clock: Callable[[], float], private_hosts: frozenset[str] = frozenset()
    ) -> None:
        self._folder, self._private_hosts = folder, private_hosts
        self._clock = clock
        self._looked_s = clock()
        if not folder.is_dir():
            raise ContentRefused(f"there is no content folder {folder}; set FIRSTWORD_CONTENT to one")
        self._seen = self._look()
        self._compiled = compile_folder(folder, private_hosts=private_hosts)
        if not self._compiled.bots:
            refused = "\n".join(map(str, self._compiled.refusals))
            raise ContentRefused(f"no bot in {folder} can be served:\n{refused}")

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """What the files as they are would be refused for."""
        return self._compiled.refusals

    @property
    def folder(self) -> Path:
        """The content folder."""
        return self._folder

    @property
    def compiled(self) -> Compiled:
        """What the folder came to at the last look, the bots that are kept among it."""
        return self._compiled

    @property
    def house(self) -> House:
        """The words that thinking adds."""
        return self._compiled.house

    def offer(self, bot: Bot, held: Held) -> Offer:
        """The tools and skills of `bot` for somebody who holds these words: asked once a run, for its asker."""
        found = self._compiled
        tools = [found.tools[name] for name in bot.tools if name in found.tools]
        skills = [found.skills[name] for name in bot.skills if name in found.skills]
        commands = [command for command in found.commands.values() if command.bot == bot.slug]
        return offer(tools, skills, found.tools, held, commands)

    @property
    def tools(self) -> Mapping[str, Tool]:
        """Every tool there is, by its name."""
        return self._compiled.tools

    @property
    def skills(self) -> Mapping[str, Skill]:
        """Every skill there is, by its name."""
        return self._compiled.skills

    @property
    def commands(self) -> Mapping[str, Command]:
        """Every command there is, by its name."""
        return self._compiled.commands

    @property
    def facts(self) -> Facts:
        """What the site's files say of what it offers, what is on and who people are."""
        return self._compiled.facts

    async def fresh(self, *, now: bool = False) -> None:
        """Read the folder again where a file changed. Off the event loop; the last good version of each bot stays.

        It looks every half second at most, but where somebody who has just written says `now`.
        """
        if self._clock() - self._looked_s < LOOK_S and not now:
            return
        self._looked_s = self._clock()
        seen = self._look()
        if seen == self._seen:
            return
        self._seen = seen
        found = await asyncio.to_thread(compile_folder, self._folder, private_hosts=self._private_hosts)
        there = {file.stem for file in bot_files(self._folder)}
        kept = {slug: bot for slug, bot in self._compiled.bots.items() if slug in there and slug not in found.bots}
        # A bot that is kept goes on with the tools and skills it was good with.
        before = self._compiled
        self._compiled = replace(
            found,
            bots={**kept, **found.bots},
            tools={**_kept(kept, before.tools), **found.tools},
            skills={**_kept(kept, before.skills), **found.skills},
        )

    def __getitem__(self, slug: str) -> Bot:
        return self._compiled.bots[slug]

    def __iter__(self) -> Iterator[str]:
        return iter(self._compiled.bots)

    def __len__(self) -> int:
        return len(self._compiled.bots)

    def _look(self) -> _Seen:
        """Every file that a compile may read, and when it was written.

        Somebody who has just asked waits for this, so it is one scan a folder: a path object for each file took longer
        than everything else before the model is asked.
        """
        folders: list[str] = []
        seen = list(_files(self._folder, BESIDE, folders))
        for folder in folders:
            seen += _files(folder, ("",), [])
        return tuple(sorted(seen))


class FromFiles:
    """Who somebody is and what is known of them, out of the site's own files as they are at the moment."""

    def __init__(self, bots: Bots) -> None:
        self._bots = bots

    async def held(self, person: str) -> Held:
        """The words of audiences that `person` holds."""
        return await self._bots.facts.held(person)

    async def about(self, person: str) -> Mapping[str, Any]:
        """The facts for `person`."""
        return await self._bots.facts.about(person)


def _files(place: Path | str, endings: tuple[str, ...], folders: list[str]) -> Iterator[tuple[str, int, int]]:
    """The files in `place` that end so, and when each was written; `folders` gets what a compile reads beside them."""
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(place) as entries:
        for entry in entries:
            if entry.name[0] == ".":
                continue
            if entry.name in FOLDERS:
                folders.append(entry.path)
            elif entry.name.lower().endswith(endings) and entry.is_file():
                stat = entry.stat()
                yield entry.path, stat.st_mtime_ns, stat.st_size


def _kept(bots: Mapping[str, Bot], before: Mapping[str, _T]) -> dict[str, _T]:
    return dict(before) if bots else {}
