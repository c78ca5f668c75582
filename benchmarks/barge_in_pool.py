"""The processes in which `firstword bench barge-in` runs its scenes: a core for each, the models loaded once in each.

It decides nothing about scenes and sums nothing up. The one rule: results come in the order of what was asked for,
however many processes there are.
"""

from __future__ import annotations

import gc
import importlib.util
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from benchmarks.barge_in_runs import AloneResult, SoundingResult, World, run, world
from benchmarks.barge_in_scenes import Alone, Sounding
from benchmarks.barge_in_speech import Prepared
from firstword.hearing import canceller_for, recogniser_for
from firstword.settings import Settings
from firstword.testing.orphans import end_with

Result = AloneResult | SoundingResult


@dataclass(frozen=True, slots=True)
class Task:
    """A scene; with `webrtc`, WebRTC's echo canceller hears the microphone first."""

    scene: Alone | Sounding
    webrtc: bool = False


def has_webrtc() -> bool:
    """Whether WebRTC's canceller can be had: the extra `livekit` is installed."""
    return importlib.util.find_spec("livekit") is not None


def run_all(settings: Settings, tasks: Sequence[Task], speak: Callable[[], Prepared], *, jobs: int) -> Iterator[Result]:
    """The result of each task, in their order. What is said is spoken once, by `speak`."""
    if jobs == 1:
        here = world(speak(), recogniser_for(settings))
        yield from (_run(task, here, settings) for task in tasks)
        return
    # A process of its own for each: the recogniser's threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    # Each process has a core: recognisers that each want them all would stand in one another's way.
    single = settings.model_copy(update={"threads": 1})
    given = (os.getpid(), single, speak())
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=given) as pool:
        yield from pool.map(_one, tasks)


class _Process:
    """What one process holds between its tasks."""

    settings: Settings
    world: World


def _begin(parent: int, settings: Settings, spoken: Prepared) -> None:
    # Where the benchmark is killed nobody hands out work, and whoever waits for it would wait for ever.
    end_with(parent, signal.SIGKILL)
    _Process.settings, _Process.world = settings, world(spoken, recogniser_for(settings))
    # What is loaded stays, and a scene leaves little: what could go is looked for between two scenes.
    gc.freeze()
    gc.disable()


def _one(task: Task) -> Result:
    gc.collect()
    return _run(task, _Process.world, _Process.settings)


def _run(task: Task, here: World, settings: Settings) -> Result:
    first = canceller_for(settings.model_copy(update={"webrtc_canceller": task.webrtc}))
    return run(task.scene, here, canceller=first)
