"""What lets a page into a room: LiveKit's token, which also asks for our worker there.

It signs and keeps nothing. The one rule: the token lets one name into one room and asks for one worker with one grant;
what may be asked there, and until when, is the grant's to say.
"""

from __future__ import annotations

import datetime
import json
import uuid
from dataclasses import dataclass
from typing import Any

from livekit.api import AccessToken, RoomAgentDispatch, RoomConfiguration, VideoGrants

# The worker's name, and the topics of its text.
AGENT = "copilot"
INPUT = "copilot.input"
OUTPUT = "copilot.output"
# The Realtime events of a conversation with sound, as on a call's data channel.
EVENTS = "oai-events"
# The attribute that the worker shows once it takes turns: LiveKit tells of a participant before data reaches it.
READY = "copilot.ready"

# A token is for joining; whoever has joined stays without it, so it need not live longer than a grant.
_TTL = datetime.timedelta(minutes=30)
# An empty room is closed after so many seconds: time enough for a page that lost its network.
_EMPTY_S = 60


@dataclass(frozen=True, slots=True)
class LiveKit:
    """A LiveKit server, self-hosted or hosted: its address (ws://, wss://) and a key with its secret.

    `audio` says whether sound goes through its rooms too, or text alone.
    """

    url: str
    key: str
    secret: str
    audio: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What a job says of its conversation: the grant, and who alone is answered ("" is whoever comes first)."""

    grant: str
    identity: str = ""

    @classmethod
    def read(cls, metadata: str) -> Asked:
        """From a job's metadata. Raises `ValueError` where it is none of ours."""
        try:
            told = json.loads(metadata)
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict) or not isinstance(told.get("grant"), str):
            raise ValueError('a job for this worker has the metadata {"grant": "…", "identity": "…"}')
        identity = told.get("identity")
        return cls(told["grant"], identity if isinstance(identity, str) else "")


def room_pass(livekit: LiveKit, grant: str, room: str) -> dict[str, Any]:
    """What a page needs to join `room`: the server's address, a token for it, and whom to wait for."""
    identity = f"person-{uuid.uuid4().hex}"
    metadata = json.dumps({"grant": grant, "identity": identity})
    may = VideoGrants(
        room_join=True,
        room=room,
        can_publish=livekit.audio,
        can_publish_data=True,
        can_subscribe=True,
        can_publish_sources=["microphone"] if livekit.audio else [],
    )
    rooms = RoomConfiguration(empty_timeout=_EMPTY_S, agents=[RoomAgentDispatch(agent_name=AGENT, metadata=metadata)])
    token = AccessToken(livekit.key, livekit.secret).with_identity(identity).with_ttl(_TTL)
    signed = token.with_grants(may).with_room_config(rooms).to_jwt()
    return {"url": livekit.url, "token": signed, "agent": AGENT, "audio": livekit.audio}
