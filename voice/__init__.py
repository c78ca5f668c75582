"""The conversation: the turn, the session that runs it, the Realtime transports. See README.md."""

from voice.calls import Calls
from voice.door import DoorClient, DoorDelta, DoorTrace, Message
from voice.errors import DoorError, ThreadAway, ThreadNotThere, TooMany, VoiceError
from voice.parts import BotVoice, IceServer, Limits, VoiceParts
from voice.places import places_of
from voice.realtime import create_voice

__all__ = [
    "BotVoice",
    "Calls",
    "DoorClient",
    "DoorDelta",
    "DoorError",
    "DoorTrace",
    "IceServer",
    "Limits",
    "Message",
    "ThreadAway",
    "ThreadNotThere",
    "TooMany",
    "VoiceError",
    "VoiceParts",
    "create_voice",
    "places_of",
]
