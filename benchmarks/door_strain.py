"""The door under strain: how long a refusal takes for each kind of wrong grant, and who waits while others are slow.

The one rule: kinds are measured in turns, so that a busy moment troubles all of them alike.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import statistics
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from benchmarks.spread import spread
from benchmarks.streams import ask

_TIMES = 2_000
REMOVED = "person-0"
_SLOW, _SLOW_S = 200, 30.0


def wrong_grants(secret: str) -> dict[str, str]:
    """One grant for each kind of wrongness, by name, all as long as a right one. `REMOVED` is whose one of them is."""
    from grant import Signer

    def minted(signer: Signer, subject: str = "person-1") -> str:
        return signer.mint(bot="even", subject=subject, room="bench")

    right = minted(Signer(secret))
    payload, _, signature = right.rpartition(".")
    flipped = "A" if payload[20] != "A" else "B"
    return {
        "expired": minted(Signer(secret, now=lambda: time.time() - 3 * 3600)),
        "from the future": minted(Signer(secret, now=lambda: time.time() + 3600)),
        "of somebody removed": minted(Signer(secret), REMOVED),
        "another secret": minted(Signer(secret[::-1])),
        "a changed claim": f"{payload[:20]}{flipped}{payload[21:]}.{signature}",
        "a changed signature": f"{payload}.{signature[::-1]}",
        "no grant at all": "x" * len(right),
    }


def refusals(secret: str, *, quick: bool) -> dict[str, Any]:
    """Median microseconds of a refusal for each kind, and the widest distance from the median of them all."""
    from grant import GrantRefused, Signer

    signer, wrong = Signer(secret, removed={REMOVED}), wrong_grants(secret)
    took: dict[str, list[int]] = {kind: [] for kind in wrong}
    turns = list(wrong.items())
    for _ in range(50 if quick else _TIMES):
        # In another order each time: what one leaves in the processor's caches is not always the same one's to find.
        random.shuffle(turns)
        for kind, token in turns:
            began = time.perf_counter_ns()
            with contextlib.suppress(GrantRefused):
                signer.verify(token)
                raise AssertionError(f"a grant that is wrong was honoured: {kind}")
            took[kind].append(time.perf_counter_ns() - began)
    medians = {kind: statistics.median(times) / 1000 for kind, times in took.items()}
    middle = statistics.median(medians.values())
    return {
        "times": len(next(iter(took.values()))),
        "median_us": {kind: round(median, 2) for kind, median in medians.items()},
        "widest_from_middle": round(max(abs(median / middle - 1) for median in medians.values()), 4),
    }


async def slow_clients(base_url: str, key: str, *, quick: bool) -> dict[str, Any]:
    """The first word of a normal request, asked again and again while others send a byte of their headers a second."""
    count, seconds = (5, 1.0) if quick else (_SLOW, _SLOW_S)
    slow = [asyncio.create_task(_dawdle(base_url, seconds)) for _ in range(count)]
    until, first_ms = time.monotonic() + seconds, []
    try:
        while time.monotonic() < until:
            (answer,) = await ask(base_url, key, rounds=1)
            first_ms.append(answer.first_s * 1000)
        turned_away = sum(await asyncio.gather(*slow))
    finally:
        for task in slow:
            task.cancel()
    return {"clients": count, "seconds": seconds, "turned_away": turned_away, "first_word_ms": spread(first_ms)}


async def _dawdle(base_url: str, seconds: float) -> bool:
    """Send a header by the byte; gives whether the server hung up."""
    at = urlsplit(base_url)
    until = time.monotonic() + seconds
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    try:
        for byte in b"POST /v1/chat/completions HTTP/1.1\r\nX-Slow: " + b"a" * 10_000:
            if time.monotonic() > until:
                return False
            writer.write(bytes([byte]))
            await writer.drain()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    if not await reader.read(1):
                        return True
    except ConnectionError:
        return True
    finally:
        writer.close()
    return False


def lines(result: Mapping[str, Any]) -> list[str]:
    """Both for a terminal; nothing where they were not measured."""
    said = []
    if "refusals" in result:
        one = result["refusals"]
        kinds = ", ".join(f"{kind} {median} µs" for kind, median in one["median_us"].items())
        said.append(f"refusals: {kinds}; widest {one['widest_from_middle']:.1%} from the middle")
    if "slow_clients" in result:
        one = result["slow_clients"]
        first = one["first_word_ms"]
        said.append(
            f"{one['clients']} slow clients for {one['seconds']:.0f} s: first word p50 {first['p50']} ms, "
            f"p95 {first['p95']} ms; {one['turned_away']} of them turned away"
        )
    for moment, one in result.get("leaving", {}).items():
        said.append(f"left {moment}: model let go after p50 {one['p50']} ms, p95 {one['p95']} ms, never {one['never']}")
    return said
