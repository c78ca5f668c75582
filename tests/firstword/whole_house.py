"""Whole servers on real models, each in a thread of its own."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

from aside import Aside

from firstword.app import create_kept_app
from firstword.serving import serving, until_ready
from firstword.settings import Settings, load_settings


@contextlib.asynccontextmanager
async def warm_house(settings: Settings) -> AsyncIterator[str]:
    """The address of a server with everything real in it, models, database, sockets, once its engines are warm."""
    async with serving(lambda base_url: create_kept_app(settings, base_url)) as base_url:
        await until_ready(base_url)
        yield base_url


@contextlib.contextmanager
def house(**given: Any) -> Iterator[str]:
    """The same in a thread of its own, on these settings of one person."""
    with Aside() as aside, aside.opened(warm_house(load_settings(single_user=True, **given))) as base_url:
        yield base_url
