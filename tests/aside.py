"""A loop in a thread of its own, for tests that are no coroutines: a server goes on there while one drives a browser.

It opens, closes and waits; what is opened is the test's. The one rule: each thing is opened and closed in one task
of that loop, and what could not be opened fails the test with its own fault.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Self, TypeVar

from starlette.types import ASGIApp

from firstword.serving import serving

T = TypeVar("T")

# A whole house loads its models, and a busy machine takes its time.
_OPEN_S, _CLOSE_S, _DO_S = 120.0, 90.0, 60.0


class Aside:
    """The thread runs inside `with`."""

    def __init__(self) -> None:
        self._loop, self._over = asyncio.new_event_loop(), asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="aside", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None
    ) -> None:
        self.soon(self._over.set)
        self._thread.join(_CLOSE_S)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Something on that loop, and what it gives."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_DO_S)

    def soon(self, act: Callable[[], object]) -> None:
        """Something on that loop that nobody waits for."""
        self._loop.call_soon_threadsafe(act)

    def _run(self) -> None:
        # What is left of tasks and of threads ends with it.
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._over.wait())

    @contextlib.contextmanager
    def opened(self, what: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """What `what` gives, open on that loop inside `with`."""
        up: Future[T] = Future()
        over = asyncio.Event()

        async def hold() -> None:
            try:
                async with what as given:
                    up.set_result(given)
                    await over.wait()
            except BaseException as fault:
                if up.done():
                    raise
                up.set_exception(fault)

        held = asyncio.run_coroutine_threadsafe(hold(), self._loop)
        try:
            given = up.result(_OPEN_S)
        except TimeoutError:
            held.cancel()
            raise
        try:
            yield given
        finally:
            self.soon(over.set)
            held.result(_CLOSE_S)


@contextlib.contextmanager
def served(make: Callable[[str], ASGIApp]) -> Iterator[str]:
    """The address of what `make` gives for it, served in a thread of its own."""
    with Aside() as aside, aside.opened(serving(make)) as base_url:
        yield base_url
