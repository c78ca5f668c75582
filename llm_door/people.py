"""Who presses start: the one question the door asks of whatever signs people in.

It is no sign-in. The one rule: a bot that is not yours and a bot that does not exist are the same answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody signed in. `bots` are the slugs they may talk to; None means every bot."""

    subject: str
    bots: frozenset[str] | None = None

    def may(self, bot: str) -> bool:
        """Whether `bot` is theirs to talk to."""
        return self.bots is None or bot in self.bots


# Says who is asking, or None where nobody is signed in.
Session = Callable[[Request], Awaitable[Person | None]]


def single_user(subject: str = "owner") -> Session:
    """Everybody who can reach the server is its one owner: for a server on loopback."""

    async def session(_request: Request) -> Person:
        return Person(subject)

    return session
