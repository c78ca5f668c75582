"""The keys of one provider: which is used, and how long a refused one is left alone.

Not a vault: it knows them by their place. The one rule: a key that was refused rests for as long as the provider said,
and the next is tried within the same question.
"""

from __future__ import annotations

import math


class Keys:
    """`count` keys, used in order. Times are seconds of one clock that only goes forward."""

    def __init__(self, count: int) -> None:
        self._until_s = [0.0] * max(1, count)

    def __len__(self) -> int:
        return len(self._until_s)

    def awake(self, now_s: float) -> list[int]:
        """The keys that do not rest, in order."""
        return [n for n, until_s in enumerate(self._until_s) if until_s <= now_s]

    def rests(self, key: int, now_s: float, rest_s: float) -> None:
        """Leave a key alone. A later, shorter word of the provider's does not wake it early."""
        self._until_s[key] = max(self._until_s[key], now_s + rest_s)

    def refusal(self, now_s: float) -> str | None:
        """Why nobody is asked, or None."""
        if self.awake(now_s):
            return None
        left_s = math.ceil(min(self._until_s) - now_s)
        return f"its key rests for {left_s} s" if len(self) == 1 else f"its {len(self)} keys rest for {left_s} s"
