"""No orphans: what a test run or a benchmark started ends with it, even where that was killed.

It is no supervisor: whoever starts a process stops it too, and this is for when they could not. The one rule: the
kernel sends the signal, because whoever was killed cannot. Linux only; elsewhere nothing is asked for.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1  # prctl(2)


def ends_with_us(by: signal.Signals) -> Callable[[], None] | None:
    """For `Popen(preexec_fn=...)`: the child gets the signal `by` when the thread that started it ends."""
    return _asking(os.getpid(), by) if sys.platform == "linux" else None


def end_with(parent: int, by: signal.Signals) -> None:
    """For a process that runs already, as a pool's do: it gets the signal `by` when the thread that started it ends.

    `parent` is the process of that thread.
    """
    if sys.platform == "linux":
        _asking(parent, by)()


def _asking(parent: int, by: signal.Signals) -> Callable[[], None]:
    # Looked up here: between fork and exec a library may be locked by a thread that the child does not have.
    prctl = ctypes.CDLL(None).prctl

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, by)
        # Who ended before this was asked sends nothing.
        if os.getppid() != parent:
            os.kill(os.getpid(), by)

    return ask
