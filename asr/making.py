"""What is being made of one session's speech: at most one understanding and one guess at a time.

It runs them on the ear's lane and hands on what comes of them; whether that is still wanted, the listener knows. The
one rule: a guess never waits before, and never delays, an understanding.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable

from asr.ear import Ear, Stretch, Understood, nothing
from asr.settings import ListenSettings
from models.lanes import LanesClosed

_log = logging.getLogger(__name__)

Use = Callable[[Understood], None]


class Making:
    """The work of one session."""

    def __init__(self, ear: Ear, settings: ListenSettings) -> None:
        self._ear = ear
        self._settings = settings
        self._final: asyncio.Task[None] | None = None
        self._guess: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether anything is being made."""
        return any(task is not None and not task.done() for task in (self._final, self._guess))

    @property
    def looking(self) -> bool:
        """Whether a guess is being made."""
        return self._guess is not None and not self._guess.done()

    def understand(self, stretch: Stretch, language: str, use: Use) -> None:
        """Recognise and judge `stretch`, ahead of every guess; `use` gets the words, and again what is made of them."""
        self.abandon()
        self._final = asyncio.create_task(self._understand(stretch, language, use))

    def look(self, stretch: Stretch, language: str, use: Use) -> None:
        """Guess at `stretch` while somebody speaks; `use` is called where there are words."""
        self._guess = asyncio.create_task(self._look(stretch, language, use))

    def abandon(self) -> None:
        """What is being made is for nobody any more; what has not started never runs."""
        for task in (self._final, self._guess):
            if task is not None and not task.done():
                task.cancel()

    async def wait(self) -> None:
        """Returns when nothing is being made."""
        running = [task for task in (self._final, self._guess) if task is not None and not task.done()]
        if running:
            await asyncio.wait(running)

    async def close(self) -> None:
        """Abandon everything, and see it gone."""
        self.abandon()
        await self.wait()

    async def _understand(self, stretch: Stretch, language: str, use: Use) -> None:
        ear, settings, task = self._ear, self._settings, asyncio.current_task()
        loop = asyncio.get_running_loop()

        def wanted() -> bool:
            # Read from another thread: what is made for a task that was told to stop is for nobody.
            return task is None or not task.cancelling()

        def early(understood: Understood) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to tell
                loop.call_soon_threadsafe(lambda: use(understood) if wanted() else None)

        def work() -> Understood:
            return ear.understand(
                stretch,
                language=language,
                hint=settings.hint,
                word_times=settings.word_times,
                wanted=wanted,
                early=early,
            )

        try:
            understood = await ear.lane.run(work, deadline_s=ear.clock())
        except LanesClosed:
            return
        except Exception:
            # A turn that cannot be understood still ends: nobody is left waiting for a fault of ours.
            _log.exception("an utterance could not be recognised")
            understood = nothing(language, "recogniser failed")
        use(understood)

    async def _look(self, stretch: Stretch, language: str, use: Use) -> None:
        ear, hint = self._ear, self._settings.hint
        later_s = ear.clock() + self._settings.partial_every_ms / 1000
        try:
            seen = await ear.lane.run(lambda: ear.glance(stretch, language=language, hint=hint), deadline_s=later_s)
        except LanesClosed:
            return
        except Exception:
            _log.exception("a guess could not be made")
            return
        if seen.transcript.text:
            use(seen)
