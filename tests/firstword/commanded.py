"""The command line run in this process: what it prints, and the code it leaves with.

A process of its own for each command is Python and its libraries loaded once more, for a second or two. A few tests
have one, because that is what they are about.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from dataclasses import dataclass
from unittest import mock

import pytest

from firstword.__main__ import main


@dataclass(frozen=True)
class Done:
    """As `subprocess` tells it."""

    returncode: int
    stdout: str
    stderr: str


def firstword(*words: str, **environment: str) -> Done:
    """`firstword WORDS...`, single user, with these variables."""
    told, faults = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["firstword", *words]),
        mock.patch.dict(os.environ, {"FIRSTWORD_SINGLE_USER": "true", **environment}),
        contextlib.redirect_stdout(told),
        contextlib.redirect_stderr(faults),
        pytest.raises(SystemExit) as left,
    ):
        main()
    return Done(int(left.value.code or 0), told.getvalue(), faults.getvalue())
