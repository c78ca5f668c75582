"""Where in a text the filter is: what has been opened, what is due, what stands before.

State only; `blocks.py` and `inline.py` read and write it, and `speakable.py` keeps one for each answer. The one rule:
whatever is here follows from the characters that were decided, never from how they arrived.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# How many characters are decided and what they give.
Found = tuple[int, str]


@dataclass(slots=True)
class Place:
    """Where one filter is."""

    line_start: bool = True
    item_start: bool = False
    in_item: bool = False  # an indented line goes on with the item above it
    table: bool = False  # pipes part cells in this line
    loose_table: bool = False  # and in all lines until a blank one
    block: bool = False  # the line is a heading, an item or a row: its end is a pause
    pause: bool = False  # a pause is due before the next text
    fence: str = ""
    hidden: tuple[str, ...] = ()  # what ends the span that is being dropped; small letters
    open: list[str] = field(default_factory=list)
    before: str = ""  # the source character before the view
    skip_space: bool = False

    def begin_block(self, *, item: bool = False) -> None:
        """A heading, an item or a row begins."""
        self.line_start = False
        self.pause = self.block = True
        self.item_start = self.in_item = item
