"""The streaming filter between what a model writes and what is read aloud: marks, emoji, reasoning and tool calls go.

It cleans and does not cut, and it does not read numbers (see `cut.py`, `reading.py`); what a mark is, is decided in
`blocks.py`, `inline.py` and `hidden.py`. The one rule: every decision is made on as much text as decides it, so that
the result is the same whatever the sizes of the deltas.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from tts.blocks import at_line_start, in_fence
from tts.hidden import inside
from tts.inline import inline
from tts.place import Found, Place

# What is held undecided at most: characters, and seconds since the last delta.
HELD_CHARACTERS = 2_000
HELD_S = 2.0
# A mark at the very end ("Hi!", which could open an image) waits only as long as an end of a sentence does.
HELD_BRIEFLY_S = 0.15


def speakable(text: str) -> str:
    """All of `text`, cleaned at once."""
    cleaner = Speakable()
    return cleaner.push(text) + cleaner.flush()


class Speakable:
    """One answer's filter: `push` deltas, `due` when time passes, `flush` at the end; each gives text to be read."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buffer = ""
        self._held_since_s: float | None = None
        self._place = Place()
        self._tail = ""  # the last two characters given

    @property
    def due_s(self) -> float | None:
        """When `due` would let go of what is held, on the clock; None where nothing is held."""
        if self._held_since_s is None or self._place.fence or self._place.hidden:
            return None
        return self._held_since_s + (HELD_BRIEFLY_S if len(self._buffer) <= 2 else HELD_S)

    def push(self, delta: str) -> str:
        """What can be read once `delta` is there."""
        self._buffer += delta
        return self._drain(final=False)

    def due(self, now_s: float) -> str:
        """What was held for too long, as it is."""
        if self.due_s is None or now_s < self.due_s:
            return ""
        return self._drain(final=True)

    def flush(self) -> str:
        """The end: all that is still held, unless it is reasoning or a tool call."""
        return self._drain(final=True)

    def _drain(self, *, final: bool) -> str:
        out: list[str] = []
        done = 0
        whole = self._buffer
        while done < len(whole):
            view = whole[done : done + HELD_CHARACTERS]
            found = self._step(view, final=final or len(view) >= HELD_CHARACTERS)
            if found is None:
                break
            used, text = found
            out.append(self._given(text))
            if used:
                self._place.before = view[used - 1]
            done += used
        self._buffer = whole[done:]
        if not self._buffer:
            self._held_since_s = None
        elif done or self._held_since_s is None:
            self._held_since_s = self._clock()
        return "".join(out)

    def _step(self, view: str, *, final: bool) -> Found | None:
        """How many characters are decided and what they give; None where more text must come first."""
        place = self._place
        if place.fence:
            return in_fence(view, place, final=final)
        if place.hidden:
            return inside(view, place, final=final)
        if place.line_start:
            return at_line_start(view, place, final=final)
        return inline(view, place, final=final)

    def _given(self, text: str) -> str:
        """`text` with the pause that is due before it, and without the space that a dropped mark left over."""
        place = self._place
        if place.skip_space and text:
            place.skip_space = False
            if text[0] == " " and (not self._tail or self._tail[-1].isspace()):
                text = text[1:]
        if place.pause and text.strip("\n"):
            if self._tail:
                missing = 2 - (len(self._tail) - len(self._tail.rstrip("\n")))
                text = "\n" * max(0, missing) + text.lstrip(" ")
            place.pause = False
        if text:
            self._tail = (self._tail + text)[-2:]
        return text
