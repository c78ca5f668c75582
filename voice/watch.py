"""The watch over one conversation: its limits, its place, and a client that does not read.

It looks every few seconds and says when the conversation is over; the transport closes it. The one rule: an ending has
a sentence that says what happened and what to do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from voice.outbox import Outbox
from voice.parts import VoiceParts
from voice.realtime_events import error_event
from voice.session import Session

# How often limits are looked at and the place renewed.
_WATCH_S = 5.0
# A WebSocket's codes for an end that was meant, and for one that was not.
_GOING, _BROKEN = 1000, 1011


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a conversation is over: a WebSocket's close code, and a sentence."""

    code: int
    words: str


async def watch(parts: VoiceParts, session: Session, outbox: Outbox, renew: Callable[[], str | None]) -> Ending:
    """Wait until the conversation must end; `renew` keeps its place, or says why there is none any more."""
    opened_at = parts.clock()
    dropped = 0
    while True:
        await parts.sleep(_WATCH_S)
        spent = renew()
        if spent and session.state.phase == "listening":
            return Ending(_GOING, spent)
        if outbox.dropped > dropped:
            dropped = outbox.dropped
            session.wire.send(error_event("the connection is too slow for the sound; some was dropped", code="slow"))
        ending = _over(parts, session, outbox, parts.clock() - opened_at)
        if ending is not None:
            return ending


def _over(parts: VoiceParts, session: Session, outbox: Outbox, lasted_s: float) -> Ending | None:
    if session.broken or outbox.stuck:
        return Ending(_BROKEN, "the conversation broke; open another one")
    if lasted_s > parts.limits.absolute_s:
        return Ending(_GOING, "this conversation has reached its longest time; open another one")
    if session.state.phase != "listening":
        # What the assistant says is words too.
        session.last_word_at = parts.clock()
    if parts.clock() - session.last_word_at > parts.limits.idle_s:
        return Ending(_GOING, "nobody has said a word for a while; open another conversation to go on")
    return None
