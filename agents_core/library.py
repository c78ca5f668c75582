"""The bots that are being served, and the last good version of each.

Not a watcher with a thread: it looks at the files when somebody asks. The one rule: a file that is refused changes
nothing for the people talking to its bot; the earlier version goes on, and the refusal is there to be read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from agents_core.audience import Held
from agents_core.bots import Bot
from agents_core.compile import Compiled, House, bot_files, compile_folder
from agents_core.errors import ContentRefused
from agents_core.matter import Refusal
from agents_core.offer import Offer, offer

# How often the files are looked at. A look is one `stat` a file.
LOOK_S = 0.5

_Seen = tuple[tuple[str, int, int], ...]


class Bots(Mapping[str, Bot]):
    """Bots by slug. `fresh` reads what changed; a lookup never touches the disk."""

    def __init__(self, folder: Path, *, clock: Callable[[], float]) -> None:
        self._folder = folder
        self._clock = clock
        self._looked_s = clock()
        if not folder.is_dir():
            raise ContentRefused(f"there is no content folder {folder}; set FIRSTWORD_CONTENT to one")
        self._seen = self._look()
        self._compiled = compile_folder(folder)
        if not self._compiled.bots:
            refused = "\n".join(map(str, self._compiled.refusals))
            raise ContentRefused(f"no bot in {folder} can be served:\n{refused}")

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """What the files as they are would be refused for."""
        return self._compiled.refusals

    @property
    def house(self) -> House:
        """The words that thinking adds."""
        return self._compiled.house

    def offer(self, bot: Bot, held: Held) -> Offer:
        """The tools and skills of `bot` for somebody who holds these words: asked once a run, for its asker."""
        return offer((), (), {}, held)

    async def fresh(self) -> None:
        """Read the folder again where a file changed. Off the event loop; the last good version of each bot stays."""
        if self._clock() - self._looked_s < LOOK_S:
            return
        self._looked_s = self._clock()
        seen = self._look()
        if seen == self._seen:
            return
        self._seen = seen
        found = await asyncio.to_thread(compile_folder, self._folder)
        there = {Path(name).stem for name, _, _ in seen}
        kept = {slug: bot for slug, bot in self._compiled.bots.items() if slug in there and slug not in found.bots}
        self._compiled = Compiled({**kept, **found.bots}, found.house, found.refusals)

    def __getitem__(self, slug: str) -> Bot:
        return self._compiled.bots[slug]

    def __iter__(self) -> Iterator[str]:
        return iter(self._compiled.bots)

    def __len__(self) -> int:
        return len(self._compiled.bots)

    def _look(self) -> _Seen:
        seen = []
        for file in (*bot_files(self._folder), self._folder / "house.toml"):
            try:
                stat = file.stat()
            except FileNotFoundError:
                continue
            seen.append((file.name, stat.st_mtime_ns, stat.st_size))
        return tuple(seen)
