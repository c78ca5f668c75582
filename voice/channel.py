"""The data channel of a call as a way out for events: what waits before it opens, and how large a message is.

It orders and cuts; it knows no connection. The one rule: the first events are kept, because a client waits for
`session.created`; what does not fit is counted.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

from voice.outbox import Outbox

Event = dict[str, Any]

# What fits into one packet of a data channel on every path (SCTP over DTLS over UDP, 1,200 bytes with their headers):
# the loss of one packet then costs one message and not the wait for a large one.
MESSAGE_BYTES = 1_100
# A channel opens within a second of the answer; events of more than a few turns mean that it never will.
_BEFORE_OPEN = 50


def encode(event: Event) -> str:
    """An event as it is sent: JSON in ASCII, so that letters are bytes."""
    return json.dumps(event, separators=(",", ":"))


def split(event: Event) -> Iterator[Event]:
    """`event` in messages of at most 1,100 bytes where its words come in deltas; any other as it is.

    A delta is the one thing that two events say as well as one. The rest SCTP itself cuts and joins.
    """
    text = event.get("delta")
    if not isinstance(text, str) or len(encode(event)) <= MESSAGE_BYTES:
        yield event
        return
    room = MESSAGE_BYTES - len(encode({**event, "delta": ""}))
    part, used = "", 0
    event_id = event.get("event_id")
    for letter in text:
        size = len(json.dumps(letter)) - 2
        if used + size > room and part:
            yield {**event, "event_id": event_id, "delta": part}
            event_id, part, used = f"event_{uuid.uuid4().hex[:20]}", "", 0
        part += letter
        used += size
    yield {**event, "event_id": event_id, "delta": part}


class Channel:
    """Events on their way to a channel that opens some time."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._before: list[Event] | None = []
        self.dropped = 0

    def put(self, event: Event) -> None:
        """Queue `event`."""
        if self._before is None:
            for part in split(event):
                self._outbox.put(part)
        elif len(self._before) < _BEFORE_OPEN:
            self._before.append(event)
        else:
            self.dropped += 1

    def opened(self) -> None:
        """The channel is open: what waited goes first."""
        before, self._before = self._before or [], None
        for event in before:
            self.put(event)
