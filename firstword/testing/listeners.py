"""A listener that hears what a script says, in place of the recogniser.

It has the shape of `asr.Listener`. The one rule: it says nothing by itself; a test feeds it events, and reads what was
pushed and asked of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Literal

from asr.events import ListenEvent, SpeechEnded, SpeechPaused, SpeechStarted, Verdict, Words
from sound import Pcm


class ScriptedListener:
    """Give it events with `say` or `emit`; `asked` holds the names of the calls that were made, in order."""

    def __init__(self) -> None:
        self.language = "en"
        self.mode: Literal["open", "push"] = "open"
        self.pushed_s = 0.0
        self.loudest = 0.0
        self.asked: list[str] = []
        self.closed = False
        self._turn = -1
        self._generation = 0
        self._reopens = False
        self._events: asyncio.Queue[ListenEvent] = asyncio.Queue()

    def push(self, pcm: Pcm) -> None:
        """Sound from the microphone; kept as a length and a peak."""
        self.pushed_s += pcm.duration_s
        self.loudest = max(self.loudest, pcm.peak)

    async def events(self) -> AsyncIterator[ListenEvent]:
        """What was emitted, for ever."""
        while True:
            yield await self._events.get()

    def emit(self, *events: ListenEvent) -> None:
        """These events, as they are."""
        for event in events:
            self._events.put_nowait(event)

    def start(self) -> None:
        """Somebody begins to speak: a turn of its own, or the next generation of an open one."""
        if self._reopens:
            self._generation += 1
        else:
            self._turn, self._generation, self._reopens = self._turn + 1, 0, True
        self.emit(SpeechStarted(self._turn, self._generation, self.pushed_s))

    def words(self, text: str, *, kind: Literal["partial", "final"] = "final", verdict: Verdict = "complete") -> None:
        """Words of the generation that was started last."""
        if kind == "final":
            self.emit(SpeechPaused(self._turn, self._generation, self.pushed_s))
        self.emit(
            Words(
                kind,
                self._turn,
                self._generation,
                text,
                self.language,
                self.pushed_s,
                verdict=verdict,
                recognise_ms=1.0,
            )
        )

    def end(self, verdict: Verdict = "complete") -> None:
        """The turn is committed."""
        self.emit(SpeechEnded(self._turn, self._generation, self.pushed_s, verdict, 240.0))

    def say(self, text: str) -> None:
        """A whole utterance."""
        self.start()
        self.words(text)
        self.end()

    def answer_heard(self) -> None:
        """The turn is closed."""
        self.asked.append("answer_heard")
        self._reopens = False

    def commit(self) -> None:
        """The key was released."""
        self.asked.append("commit")

    def clear(self) -> None:
        """Forget what was pushed."""
        self.asked.append("clear")
        self._reopens = False

    def set_mode(self, mode: Literal["open", "push"]) -> None:
        """Who decides about the end of a turn."""
        self.mode = mode

    async def close(self) -> None:
        """Nothing more is wanted."""
        self.closed = True
