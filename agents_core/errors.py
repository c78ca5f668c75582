"""What thinking raises.

    CoreError
    ├── AskRefused            the asking itself cannot be served
    │   ├── OverLimit         what this person may spend on this bot is spent or reserved, for now
    │   ├── Uncounted         what this person may spend cannot be counted: the database is away
    │   └── UnknownBot        no bot of that name, or its file is refused and no earlier version was good
    ├── ContentRefused        the content folder has nothing that can be served
    ├── LeaseLost             another process holds the run; stop at once and write nothing
    └── ProviderFault         a provider could not answer; its verdict says whose fault it is

Every message says what happened, to what, and what to do, and carries no secret.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Literal

Whose = Literal["key", "provider", "ours"]


class CoreError(Exception):
    """Anything thinking raises on purpose."""


class AskRefused(CoreError):
    """The asking itself cannot be served: the bot is not on that surface, or not for that person."""


class UnknownBot(AskRefused):
    """No bot of that name can be served."""


class OverLimit(AskRefused):
    """What a person may spend on a bot is spent or reserved. `window` says in which stretch of time."""

    def __init__(self, bot: str, window: str) -> None:
        super().__init__(f"what you may spend on {bot} in a {window} is used up; ask again later")
        self.window = window


class Uncounted(AskRefused):
    """A bot with limits per person, while nothing can be counted."""

    def __init__(self, bot: str) -> None:
        super().__init__(f"what you may spend on {bot} cannot be counted at the moment; ask again in a minute")


class ContentRefused(CoreError):
    """The content folder has nothing that can be served."""


class LeaseLost(CoreError):
    """Another process holds the run. Whoever sees this stops at once, says nothing and writes nothing."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whose a failure is. `rest_s` is how long the key (or the provider, where it has one key) is left alone."""

    whose: Whose
    rest_s: float
    sentence: str

    @property
    def try_next(self) -> bool:
        """A fault of ours fails everywhere: two bills, twice the wait."""
        return self.whose != "ours"


class ProviderFault(CoreError):
    """A provider could not answer. The message is the provider's own sentence where it gave one."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.sentence)
        self.verdict = verdict


def where(fault: BaseException) -> str:
    """Where it was raised, for a log. Not its own words: what somebody said may be in them."""
    return "".join(traceback.format_tb(fault.__traceback__))
