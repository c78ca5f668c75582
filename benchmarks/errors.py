"""What a benchmark refuses.

FirstwordError
  BenchRefused    a file or a question that it can do nothing with
"""

from __future__ import annotations

from firstword.errors import FirstwordError


class BenchRefused(FirstwordError):
    """Its words are for whoever typed the command: what is wrong, and what to do."""
