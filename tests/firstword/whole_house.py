"""Whole servers on real models, each in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from fastapi import FastAPI

from firstword.app import create_kept_app
from firstword.serving import serving, until_ready
from firstword.settings import load_settings


@contextlib.contextmanager
def served(make: Callable[[str], FastAPI], *, warm: bool = False) -> Iterator[str]:
    """The address of what `make` gives for it, served in a thread of its own; `warm` waits for its engines."""
    started: list[str] = []
    up, stop = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with serving(make) as base_url:
            if warm:
                await until_ready(base_url)
            started.append(base_url)
            up.set()
            await stop.wait()

    def run() -> None:
        try:
            loop.run_until_complete(serve())
        finally:
            up.set()
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    up.wait(timeout=120)
    try:
        assert started, "the server did not start"
        yield started[0]
    finally:
        if not loop.is_closed():
            loop.call_soon_threadsafe(stop.set)
        thread.join(timeout=60)


def house(**given: Any) -> contextlib.AbstractContextManager[str]:
    """A server with everything real in it, models, database, sockets, on these settings of one person."""
    settings = load_settings(single_user=True, **given)
    return served(lambda base_url: create_kept_app(settings, base_url), warm=True)
