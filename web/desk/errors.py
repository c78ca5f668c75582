"""What can be wrong at the desk. Every message is a sentence for the owner.

DeskError
├── NoSuchBot       there is no file of that name
├── Unreadable      the file cannot be taken apart into fields
├── Stale           somebody published since the form was read
├── Unfit           the compile refuses what would be published
└── NothingToUndo   nothing was published from here, or the file was changed elsewhere since
"""

from __future__ import annotations

from collections.abc import Sequence

from agents_core import Refusal


class DeskError(Exception):
    """The base of these. `code` is for programs."""

    code = "desk"


class NoSuchBot(DeskError):
    """There is no such bot's file."""

    code = "not_found"


class Unreadable(DeskError):
    """The file cannot be shown as fields, or a change cannot be put into it."""

    code = "unreadable"


class Stale(DeskError):
    """The file is not the one that was seen."""

    code = "stale"


class Unfit(DeskError):
    """The compile refuses it."""

    code = "refused"

    def __init__(self, refusals: Sequence[Refusal]) -> None:
        super().__init__("not published: " + str(refusals[0]))
        self.refusals = tuple(refusals)


class NothingToUndo(DeskError):
    """Undoing would lose something, or there is nothing."""

    code = "nothing_to_undo"
