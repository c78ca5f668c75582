"""What can go wrong in a conversation.

VoiceError
├── BadOffer           what a client offered for a call cannot be answered
├── CannotJoin         a LiveKit server that takes no worker from us
├── DoorError          the door gave no answer; `status` is the HTTP status, 0 where there was none
├── ThreadAway         what was said before cannot be read at the moment
├── ThreadNotThere     no such kept conversation, or not this person's: the same answer
└── TooMany            no place for another conversation; the message says what to do
"""

from __future__ import annotations


class VoiceError(Exception):
    """The message says what happened and what to do, in words for the person."""


class BadOffer(VoiceError):
    """The offer, or a part of it, is not what WebRTC takes; the message says which."""


class CannotJoin(VoiceError):
    """The LiveKit server cannot be reached, or does not know our key."""


class DoorError(VoiceError):
    """The door could not be reached, refused, or broke off."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class ThreadNotThere(VoiceError):
    """No such conversation, or not this person's."""

    def __init__(self) -> None:
        super().__init__("that conversation is not here (any more), or it is not yours; begin another one")


class ThreadAway(VoiceError):
    """The database cannot be read at the moment."""

    def __init__(self) -> None:
        super().__init__("what was said before cannot be read at the moment; you can go on talking")


class TooMany(VoiceError):
    """The server, or this person, has as many conversations as it may have.

    `again_s` is when it is worth another try; None where a try alone changes nothing.
    """

    def __init__(self, message: str, *, again_s: float | None) -> None:
        super().__init__(message)
        self.again_s = again_s
