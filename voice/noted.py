"""What is noted of a session: its lines, as the model will see them and as they are kept for the person.

It decides nothing about a turn. The one rule: whatever the database does, there is a thread to note in, and it is the
one the person asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grant import Grant
from voice.errors import ThreadAway, ThreadNotThere
from voice.history import Entry, History

if TYPE_CHECKING:
    from voice.kept import Kept


class Noted:
    """The lines of one session; they are kept nowhere where `kept` is None."""

    def __init__(self, kept: Kept | None, grant: Grant) -> None:
        self._kept = kept
        self._grant = grant
        self.thread = kept.begin(grant.subject, grant.bot) if kept else None
        self.history = History(self._note)

    async def go_on(self, thread: str) -> int:
        """Go on with a kept conversation of this person's; gives how many lines it has.

        Raises `ThreadNotThere`, and `ThreadAway`.

        Where it cannot be read, what is said goes into it all the same.
        """
        if self._kept is None:
            raise ThreadNotThere
        subject, bot = self._grant.subject, self._grant.bot
        try:
            self.thread, lines = await self._kept.go_on(subject, bot, thread)
        except ThreadAway:
            self.thread = self._kept.go_on_unread(subject, bot, thread)
            raise
        self.history.recall(Entry(line.item, line.role, line.text) for line in lines)
        return len(lines)

    def _note(self, entry: Entry) -> None:
        if self.thread is not None:
            self.thread.said(entry.item_id, entry.role, entry.text)
