"""What listening costs where nothing is said: an idle session, a long stream, many sessions opened and closed.

The one rule: what is measured is this process's own processor time and memory, not what a formula says.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from typing import Any

import numpy as np
import psutil

from asr import Listener, ListenSettings
from asr.activity import Silero
from asr.ear import Ear
from asr.recogniser import Transcript
from models import Lanes
from sound import Pcm

_RATE_HZ = 16_000
_FRAME = _RATE_HZ // 50
# A quiet room: under any voice, over the digital silence that costs nothing.
_ROOM_RMS = 0.002


class _Mute:
    """A recogniser that is never asked: nobody speaks here."""

    name = "nobody"
    languages: frozenset[str] | None = None

    def recognise(self, pcm: Pcm, *, language: str, hint: str = "", word_times: bool = False) -> Transcript:
        """Nothing."""
        return Transcript("", language)

    def warm(self) -> None:
        """Nothing to warm."""


async def measure_upkeep(*, quick: bool = False) -> dict[str, Any]:
    """Shares of a core in percent, seconds of processor time, threads, megabytes."""
    lanes = Lanes()
    try:
        ear = Ear(_Mute(), lanes.lane("ear"), silero=Silero())
        return {
            "idle_core_percent": await _idle(ear, seconds=5 if quick else 60),
            "minutes_cpu_s": await _minutes(ear, minutes=1 if quick else 10),
            **await _sessions(ear, first=5 if quick else 20, all_=10 if quick else 200),
        }
    finally:
        lanes.close()


async def _idle(ear: Ear, *, seconds: float) -> float:
    """Processor time of one session in a quiet room, over the length of what it heard."""
    listener = Listener(ear)
    began = time.process_time()
    await _feed(listener, _room(seconds))
    used = time.process_time() - began
    await listener.close()
    return round(100 * used / seconds, 2)


async def _minutes(ear: Ear, *, minutes: int) -> list[float]:
    """Processor time of each minute of one stream in which somebody seems to speak all the time."""
    listener = Listener(ear, settings=ListenSettings(partials=False))
    spent = []
    for _ in range(minutes):
        began = time.process_time()
        await _feed(listener, _voice_like(60.0))
        spent.append(round(time.process_time() - began, 2))
    await listener.close()
    return spent


async def _sessions(ear: Ear, *, first: int, all_: int) -> dict[str, Any]:
    """Threads and resident megabytes after the first sessions and after all of them."""
    held: dict[str, Any] = {}
    process = psutil.Process()
    for number in range(1, all_ + 1):
        listener = Listener(ear)
        await _feed(listener, _voice_like(1.0))
        await listener.close()
        if number in (first, all_):
            gc.collect()
            held[f"after_{number}_sessions"] = {
                "threads": threading.active_count(),
                "memory_mb": round(process.memory_info().rss / 2**20, 1),
                "tasks": len(asyncio.all_tasks()),
            }
    return held


async def _feed(listener: Listener, samples: np.ndarray) -> None:
    for at in range(0, len(samples), _FRAME):
        listener.push(Pcm(samples[at : at + _FRAME], _RATE_HZ))
        await listener.settled()


def _room(seconds: float) -> np.ndarray:
    chooser = np.random.default_rng(3)
    return (chooser.standard_normal(round(seconds * _RATE_HZ)) * _ROOM_RMS).astype(np.float32)


def _voice_like(seconds: float) -> np.ndarray:
    """A buzz with formants that moves as syllables do: the gate opens for it, whatever Silero makes of it."""
    at_s = np.arange(round(seconds * _RATE_HZ)) / _RATE_HZ
    buzz = sum(np.sin(2 * np.pi * 120 * n * at_s) / n for n in range(1, 25))
    return (0.1 * buzz * (0.5 + 0.5 * np.sin(2 * np.pi * 4 * at_s))).astype(np.float32)
