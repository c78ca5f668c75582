"""What the door refuses.

    DoorRefusal
    └── RequestRefused    the request's body cannot be served; its message says what to send

A wrong grant is `grant.GrantRefused`, and what the core refuses is `agents_core.errors.AskRefused`.
"""

from __future__ import annotations


class DoorRefusal(Exception):
    """Anything the door refuses on purpose; the message is for whoever wrote the client."""


class RequestRefused(DoorRefusal):
    """The body cannot be served: a 400. `param` is the field at fault, if one is."""

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param
