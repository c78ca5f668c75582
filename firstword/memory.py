"""Measures what the whole set takes, and what an idle session adds: `python -m firstword.memory` prints an object.

It runs in a process of its own, so that nothing else is counted. The one rule: resident memory as the system counts it,
children included.
"""

from __future__ import annotations

import asyncio
import contextlib
import json

import psutil

from firstword.app import create_kept_app
from firstword.house import signer_for
from firstword.serving import serving, until_ready
from firstword.settings import load_settings
from firstword.talk import converse

# Enough sessions that the growth is not noise; fewer than one person may hold at once are opened for each subject.
_SESSIONS = 16
_PER_SUBJECT = 4
_SETTLE_S = 1.5


def resident_mb() -> float:
    """Megabytes resident, of this process and its children."""
    process = psutil.Process()
    resident_bytes = sum(int(each.memory_info().rss) for each in [process, *process.children(recursive=True)])
    return resident_bytes / 1e6


async def measure() -> dict[str, float]:
    """`all_mb` with everything loaded and warm; `session_mb` that one idle session adds."""
    settings = load_settings(single_user=True)
    async with (
        serving(lambda base_url: create_kept_app(settings, base_url)) as base_url,
        contextlib.AsyncExitStack() as open_sessions,
    ):
        await until_ready(base_url)
        async with converse(base_url, signer_for(settings).mint(bot="guide", subject="first", room="memory")):
            await asyncio.sleep(_SETTLE_S)
        before = resident_mb()
        for n in range(_SESSIONS):
            grant = signer_for(settings).mint(bot="guide", subject=f"person-{n // _PER_SUBJECT}", room=f"memory-{n}")
            await open_sessions.enter_async_context(converse(base_url, grant))
        await asyncio.sleep(_SETTLE_S)
        after = resident_mb()
    return {"all_mb": round(before), "session_mb": round(max(0.0, after - before) / _SESSIONS, 2)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure())))
