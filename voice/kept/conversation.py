"""One conversation as it is being said: which thread it is, and what of it is noted.

It holds nothing back but the beginning: a thread comes into being when the person says something in it, with whatever
was said before. The one rule: each line is noted the moment it is said, and again when what was heard of it changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from voice.kept.lines import Note, Role, line_of, title_of

# What may be said before the person speaks: a greeting, or the lines a client brings along.
_MOST_BEFORE = 64


class Conversation:
    """A thread of `subject` with `bot`: `title` where it is kept already.

    `take` gets the notes; `now` gives Unix seconds.
    """

    def __init__(
        self,
        thread: str,
        *,
        subject: str,
        bot: str,
        take: Callable[[Note], None],
        now: Callable[[], float],
        title: str = "",
    ) -> None:
        self.thread = thread
        self._subject = subject
        self._bot = bot
        self._take = take
        self._now = now
        self._title = title
        self._began_s = now()
        self._before: dict[str, Note] = {}

    @property
    def spoken_in(self) -> bool:
        """Whether the person has said anything in it: then it is a thread."""
        return bool(self._title)

    def said(self, item: str, role: Role, text: str) -> None:
        """A line was said, or what stands of it changed; blank, it was not heard and is no line."""
        if role == "user" and not self.spoken_in and (title := title_of(text)):
            self._title = title
            before, self._before = list(self._before.values()), {}
            for note in before:
                self._take(replace(note, title=title))
        note = Note(
            self.thread, self._subject, self._bot, self._title, self._began_s, line_of(item, role, text, self._now())
        )
        if self.spoken_in:
            self._take(note)
        elif note.line.text or note.line.item in self._before:
            self._before[note.line.item] = note
            while len(self._before) > _MOST_BEFORE:
                del self._before[next(iter(self._before))]
