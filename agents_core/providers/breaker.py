"""Whether a provider is asked at all, after it failed.

Not a client wrapper: it counts questions, not calls, and holds no clock. The one rule: a cancel counts for nobody.
"""

from __future__ import annotations

from collections import deque

# Five failed questions within two minutes open the breaker for three; then one question is let through to find out.
FAILURES = 5
WINDOW_S = 120.0
OPEN_S = 180.0


class Breaker:
    """The state of one provider. Times are seconds of one clock that only goes forward."""

    def __init__(self) -> None:
        self._failed_s: deque[float] = deque(maxlen=FAILURES)
        self._open_until_s: float | None = None
        self._opened_s = 0.0
        self._probing = False

    def open(self, now_s: float) -> bool:
        """Whether the provider is left alone; asking this lets no question through."""
        return self._open_until_s is not None and now_s < self._open_until_s

    def refusal(self, now_s: float) -> str | None:
        """Why the provider is not asked, or None: then the question is let through and its outcome must be told."""
        if self._open_until_s is None:
            return None
        if now_s < self._open_until_s or self._probing:
            return "it failed too often"
        self._probing = True
        return None

    def answered(self, now_s: float) -> float | None:
        """The question was answered: whatever was counted is forgotten. The seconds since it opened, where it had."""
        since_s = None if self._open_until_s is None else now_s - self._opened_s
        self._failed_s.clear()
        self._open_until_s, self._probing = None, False
        return since_s

    def failed(self, now_s: float) -> bool:
        """The question failed, by the provider's fault. Whether this opened it; a probe that fails keeps it open."""
        self._failed_s.append(now_s)
        often = len(self._failed_s) == FAILURES and now_s - self._failed_s[0] <= WINDOW_S
        opens = often and self._open_until_s is None
        if opens:
            self._opened_s = now_s
        if self._probing or often:
            self._open_until_s = now_s + OPEN_S
        self._probing = False
        return opens

    def cancelled(self) -> None:
        """The question was taken back, or was the key's fault: a probe gives its place to the next."""
        self._probing = False
