"""A measurement in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import ParamSpec, TypeVar

import psutil

from firstword.testing.orphans import end_with

P = ParamSpec("P")
R = TypeVar("R")


def alone(measure: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What `measure` (a function of a module) gives in a fresh process, where no other test's memory comes and goes."""
    ends_with_us = {"initializer": end_with, "initargs": (os.getpid(), signal.SIGKILL)}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"), **ends_with_us) as process:
        return process.submit(measure, *args, **kwargs).result()


def resident_bytes() -> int:
    """Memory of this process."""
    return int(psutil.Process().memory_info().rss)
