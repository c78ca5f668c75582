"""Answers from what the run carries: for tests, and in place of a model nobody may ask.

Not a mock: it is a provider like any other, so the whole machine runs on it for nothing. The one rule: the same
question gives the same answer, and it never reaches outside the process.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable

from agents_core.events import Usage
from agents_core.providers.base import Chunk, Profile, Question, Whole, Words

_WORD = re.compile(r"\s*\S+")


class ScriptProvider:
    """Answer number `turn` of the question's script, a word a delta; `stand_in` where the question carries none.

    `pace_s` is waited before each delta, through `wait`, so that a test can drive it.
    """

    name = "script"
    model = "script"
    costs = False
    keys = 1

    def __init__(
        self, *, stand_in: str = "", pace_s: float = 0.0, wait: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.profile = Profile()
        self._stand_in = stand_in
        self._pace_s = pace_s
        self._wait = wait

    async def ask(self, question: Question) -> AsyncGenerator[Chunk, None]:
        """See `Provider.ask`."""
        lines = question.script or (self._stand_in,)
        words = _WORD.findall(lines[min(question.turn, len(lines) - 1)])
        for word in words:
            if self._pace_s:
                await self._wait(self._pace_s)
            yield Words(word)
        asked = sum(len(str(message.get("content") or "").split()) for message in question.messages)
        yield Whole(usage=Usage(asked, len(words), estimated=True), model=self.model)

    async def close(self) -> None:
        """Nothing is open."""
