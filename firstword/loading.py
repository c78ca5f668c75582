"""What takes seconds to load: the ear, the engines that speak, and the lanes that they all run on.

It loads and puts down again; it joins nothing to a conversation, which is `house.py`'s. The one rule: a loading that
fails, or that nobody waits for any more, leaves no lane behind.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from asr import Ear
from firstword.hearing import ear_for
from firstword.settings import Settings
from firstword.voices import engine_for, others_for
from models import Lanes
from tts import Engine

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was loaded, each once (`others` are the engines that bots ask for, by name)."""

    lanes: Lanes
    ear: Ear
    engine: Engine
    others: Mapping[str, Engine]


def load(settings: Settings, named: set[str]) -> Loaded:
    """Load the models; `named` are engines that bots ask for. Raises `WeightsMissing`, `NoVoice`, `EngineRefused`."""
    # An opening piece is spoken while the ear still asks the sound whether that was all.
    lanes = Lanes(at_once=settings.engines_at_once, first_come=settings.lanes == "arrival")
    try:
        engine = engine_for(settings)
        others, refused = others_for(settings, named)
        for name, why in refused.items():
            _LOG.warning("the engine %s cannot be had, and the house's own speaks instead: %s", name, why)
        return Loaded(lanes, ear_for(settings, lanes.lane("ear")), engine, others)
    except BaseException:
        lanes.close()
        raise


async def load_beside(settings: Settings, named: set[str]) -> Loaded:
    """What `load` gives, from a thread: the pages are served meanwhile."""
    loading = asyncio.create_task(asyncio.to_thread(load, settings, named))
    try:
        return await asyncio.shield(loading)
    except asyncio.CancelledError:
        # A thread is not stopped: what it has loaded is put down again.
        (await loading).lanes.close()
        raise
