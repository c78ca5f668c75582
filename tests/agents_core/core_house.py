"""A provider that says what it is told to, and content to serve, for this room's tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

from agents_core import Ask, Event, Profile, Question, Whole, Words
from agents_core.core import Core
from agents_core.errors import ProviderFault, Verdict

BOT = "---\nname: Guide\nsurfaces: [voice]\n---\nYou are the guide.\n"


class Told:
    """Answers with `plan`, a list per asking: words, a `Whole`, a `Verdict` to fail with, or "hang" to say nothing.

    `asked` keeps the questions, `closed` counts the askings that were left early.
    """

    def __init__(
        self,
        *plans: list[object],
        name: str = "told",
        costs: bool = False,
        keys: int = 1,
        profile: Profile | None = None,
    ):
        self.keys = keys
        self.name, self.model, self.costs = name, f"{name}-model", costs
        self.profile = profile or Profile()
        self.asked: list[Question] = []
        self.closed = 0
        self._plans = list(plans)

    async def ask(self, question: Question) -> AsyncGenerator[Words | Whole, None]:
        self.asked.append(question)
        plan = self._plans[min(len(self.asked), len(self._plans)) - 1]
        ended = False
        try:
            for what in plan:
                if isinstance(what, Verdict):
                    raise ProviderFault(what)
                if what == "hang":
                    await asyncio.Event().wait()
                elif isinstance(what, Whole):
                    yield what
                else:
                    yield Words(str(what))
            if not any(isinstance(what, Whole) for what in plan):
                yield Whole()
            ended = True
        except ProviderFault:
            ended = True
            raise
        finally:
            self.closed += not ended

    async def close(self) -> None:
        """Nothing is open."""


def content(folder: Path, **files: str) -> Path:
    """A content folder with these bots (`guide` where none is given)."""
    (folder / "bots").mkdir(parents=True, exist_ok=True)
    for name, text in (files or {"guide": BOT}).items():
        (folder / "bots" / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


def ask(text: str = "Hello?", *, bot: str = "guide", **more: object) -> Ask:
    """A question by somebody to the guide."""
    return Ask(bot=bot, text=text, asker="ann", subject="ann", room="r1", **more)


async def told(core: Core, question: Ask) -> list[Event]:
    """Every event of one answer."""
    return [event async for event in core.run_turn(question)]


class NoDesk:
    """A desk at which nobody is known and no ticket is taken."""

    async def about(self, run: str) -> None:
        return None

    async def raise_ticket(self, run: str, call: str, title: str, text: str) -> str:
        raise AssertionError("nobody asked for a ticket")
