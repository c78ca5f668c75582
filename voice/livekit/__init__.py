"""Conversations in LiveKit's rooms: who may join, the worker that answers there, text and sound.

LiveKit's own server distributes rooms and dispatches jobs; nothing of that is here. It needs the extra `livekit`.
"""

from voice.livekit.passes import LiveKit, room_pass
from voice.livekit.worker import Worker

__all__ = ["LiveKit", "Worker", "room_pass"]
