"""Going on with a kept conversation: the client's events wait until what was said before has been read.

It reads `firstword.thread` out of a `session.update` and no other event. The one rule: whatever the database does, the
events go on, in their order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from voice.errors import ThreadAway, VoiceError
from voice.realtime_events import error_event
from voice.session import Session

Event = dict[str, Any]

# Reading takes milliseconds and 3 s at most; this is 10 s of sound. What else a client sends meanwhile is a few events.
_MOST_HELD = 500


class GoingOn:
    """Holds one client's events back while its thread is read, then gives them to `take`."""

    def __init__(self, session: Session, take: Callable[[Any], None]) -> None:
        self._session = session
        self._take = take
        self._held: list[Any] | None = None
        self._told: int | None = None

    def holds(self, event: Any) -> bool:
        """Whether `event` waits: for the thread that is being read, or because it names one."""
        if self._held is not None:
            if len(self._held) < _MOST_HELD:
                self._held.append(event)
            return True
        thread = _thread(event)
        if thread is None or (self._session.noted.thread and thread == self._session.noted.thread.thread):
            return False
        # The same event once more without its thread, so that it is carried out after the reading.
        ours = {name: value for name, value in event["session"]["firstword"].items() if name != "thread"}
        self._held = [{**event, "session": {**event["session"], "firstword": ours}}]
        self._session.beside(self._read(thread, event.get("event_id")))
        return True

    def fields(self) -> Event:
        """What `session.updated` says of it: the thread, and how many lines of it are known (None: unread)."""
        thread = self._session.noted.thread
        return {} if thread is None else {"thread": thread.thread, "lines": self._told}

    async def _read(self, thread: str, event_id: Any) -> None:
        try:
            if self._session.history.last_id is not None:
                raise VoiceError("`firstword.thread` comes before anything is said; open another connection for it")
            self._told = await self._session.noted.go_on(thread)
        except VoiceError as fault:
            code = "thread_away" if isinstance(fault, ThreadAway) else "thread_not_there"
            told = event_id if isinstance(event_id, str) else None
            self._session.wire.send(error_event(str(fault), code=code, event_id=told))
        except asyncio.CancelledError:
            # Nobody is there any more, and it would be said in another thread than the one they wanted.
            self._held = []
            raise
        finally:
            held, self._held = self._held or [], None
            for event in held:
                self._take(event)


def _thread(event: Any) -> str | None:
    """The thread that a `session.update` names."""
    session = event.get("session") if isinstance(event, dict) and event.get("type") == "session.update" else None
    ours = session.get("firstword") if isinstance(session, dict) else None
    thread = ours.get("thread") if isinstance(ours, dict) else None
    return thread if isinstance(thread, str) and thread else None
