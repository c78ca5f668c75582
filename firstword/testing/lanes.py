"""Inference without threads, for a conversation on virtual time: a lane that works at once, and engines that remember.

The models are the real ones; what takes no time is the waiting. The one rule: what is remembered is what the engine
itself gave for the same input.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from typing import TypeVar

from asr import Recogniser, Transcript
from models.lanes import Lane
from sound import Pcm
from tts.engine import CAP_STREAMED, Engine, Voice

T = TypeVar("T")


class VirtualLane(Lane):
    """A lane whose jobs are done in place and then take `job_s` seconds of the loop's time."""

    def __init__(self, *, job_s: float = 0.0) -> None:
        self.name = "virtual"
        self._job_s = job_s
        self._one = asyncio.Lock()

    async def run(self, work: Callable[[], T], *, deadline_s: float | None = None) -> T:
        """Do `work`, one at a time; its result comes `job_s` later."""
        async with self._one:
            done = work()
            await asyncio.sleep(self._job_s)
            return done

    async def stream(self, make: Callable[[], Iterator[T]], *, deadline_s: float | None = None) -> AsyncGenerator[T]:
        """The items of an iterator, a job each."""
        iterator = await self.run(lambda: iter(make()))
        end = object()
        while (item := await self.run(lambda: next(iterator, end))) is not end:
            yield item  # type: ignore[misc]

    @property
    def waiting(self) -> int:
        """Jobs in front of the next one: none, work is done in place."""
        return 0

    def disown(self) -> bool:
        """Nothing of it is ever stuck."""
        return False


class RememberingRecogniser:
    """A recogniser that recognises the same sound once."""

    def __init__(self, recogniser: Recogniser) -> None:
        self._recogniser = recogniser
        self._known: dict[bytes, Transcript] = {}
        self.name = recogniser.name
        self.languages = recogniser.languages

    def recognise(self, pcm: Pcm, *, language: str, hint: str = "", word_times: bool = False) -> Transcript:
        """What the real one says, or said, of this sound."""
        key = hashlib.sha256(pcm.samples.tobytes() + f"{language}|{hint}|{word_times}".encode()).digest()
        if key not in self._known:
            self._known[key] = self._recogniser.recognise(pcm, language=language, hint=hint, word_times=word_times)
        return self._known[key]

    def warm(self) -> None:
        """Warm the real one."""
        self._recogniser.warm()


class RememberingEngine:
    """A voice that makes the same piece once, or once for each `take`: a voice says it otherwise each time.

    `known` may be filled from outside, to do without the engine.
    """

    def __init__(self, engine: Engine | None, *, sample_rate_hz: int, known: dict[str, Pcm] | None = None) -> None:
        self._engine = engine
        self.known = {} if known is None else known
        self.take = 0
        self.name = "remembering"
        self.sample_rate_hz = sample_rate_hz
        self.cap = CAP_STREAMED

    def voices(self) -> Sequence[Voice]:
        """One, for English."""
        return (Voice("remembered", ("en",)),)

    def speak(
        self,
        piece: str,
        *,
        voice: str | None = None,
        language: str = "en",
        speed: float = 1.0,
        steps: int | None = None,
    ) -> Iterator[Pcm]:
        """The sound of `piece`, whole. Raises `KeyError` for one that is not known and cannot be made."""
        name = f"{piece}\n{self.take}" if self.take else piece
        if name not in self.known:
            if self._engine is None:
                raise KeyError(name)
            self.known[name] = Pcm.join(list(self._engine.speak(piece, language=language, speed=speed)))
        yield self.known[name]

    def warm(self) -> None:
        """Nothing to warm."""
