"""Audiences: who may have something, in one vocabulary for bots, skills, tools and commands.

Not a sign-in and not a policy language: what somebody holds comes from the site. The one rule: a list is met by any one
of its words, an empty list by everybody, and nobody at all (a run that no person asked for) meets only an empty one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Protocol

from pydantic import AfterValidator, Field

PLAIN = ("anyone", "authenticated", "customer", "subscribed")
NAMED = ("tier", "role", "bought")
_NAMED = re.compile(rf"({'|'.join(NAMED)}):[A-Za-z0-9][A-Za-z0-9_.-]{{0,79}}")

Held = frozenset[str]


class People(Protocol):
    """Who somebody is, as far as an audience asks."""

    async def held(self, person: str) -> Held:
        """The words that `person` holds: `customer`, `tier:gold`, … `anyone` and `authenticated` need not be said."""


def may(wanted: Sequence[str], held: Held) -> bool:
    """Whether somebody who holds these words is in an audience."""
    return not wanted or not held.isdisjoint(wanted)


def holding(person: str, held: Iterable[str] = ()) -> Held:
    """All that a person holds: everybody who asks is `anyone`, and whoever has a name has signed in.

    No person is not a person: they hold nothing.
    """
    return frozenset({"anyone", "authenticated", *held}) if person else frozenset()


def fault(word: str) -> tuple[str, str] | None:
    """What is wrong with a word of an audience, and what to write instead; None where it is one."""
    if word in PLAIN or _NAMED.fullmatch(word):
        return None
    kind, colon, name = word.partition(":")
    known = "The words are anyone, authenticated, customer, subscribed, tier:<slug>, role:<name>, bought:<product>"
    if kind in NAMED:
        return f"`{word}` names no {kind}", f"Write `{kind}:` and a name of letters, digits, `-`, `_` and `.`"
    close = difflib.get_close_matches(kind, (*PLAIN, *NAMED), 1)
    meant = f"; did you mean `{close[0]}{colon}{name}`?" if close else ""
    return f"`{word}` is no audience{meant}", known


def _is_audience(word: str) -> str:
    found = fault(word)
    if found:
        raise ValueError("\n".join(found))
    return word


AudienceWord = Annotated[str, Field(max_length=90), AfterValidator(_is_audience)]
