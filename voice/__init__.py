"""The conversation: the turn, the session that runs it, the Realtime WebSocket. See README.md."""

from voice.door import DoorClient, DoorDelta, DoorTrace, Message
from voice.errors import DoorError, ThreadAway, ThreadNotThere, TooMany, VoiceError
from voice.parts import BotVoice, Limits, VoiceParts
from voice.realtime import create_voice

__all__ = [
    "BotVoice",
    "DoorClient",
    "DoorDelta",
    "DoorError",
    "DoorTrace",
    "Limits",
    "Message",
    "ThreadAway",
    "ThreadNotThere",
    "TooMany",
    "VoiceError",
    "VoiceParts",
    "create_voice",
]
