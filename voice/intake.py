"""One message of a client, before it is an event: how large it may be, and whether it is JSON.

The same for every transport. It knows no socket. The one rule: only a message past every measure ends the connection;
anything else that is wrong is answered with an error.
"""

from __future__ import annotations

import json

from voice.client_events import ClientEvents
from voice.realtime_events import Wire, error_event

# 256 KiB of sound is 5 s at 24 kHz; base64 and its envelope make it a third more.
_SOUND_MESSAGE_BYTES = 360 * 1024
_CONTROL_MESSAGE_BYTES = 64 * 1024
TOO_LARGE = "a message may have 360 KiB at most; send sound in smaller stretches"


def take(raw: str | bytes, client: ClientEvents, wire: Wire) -> bool:
    """Carry out one message. False where it is too large for the connection to go on."""
    if len(raw) > _SOUND_MESSAGE_BYTES:
        return False
    try:
        event = json.loads(raw)
    except (ValueError, RecursionError):
        wire.send(error_event("this message is not JSON", code="invalid_json"))
        return True
    sound = isinstance(event, dict) and event.get("type") == "input_audio_buffer.append"
    if len(raw) > _CONTROL_MESSAGE_BYTES and not sound:
        wire.send(error_event("an event without sound may have 64 KiB at most", code="message_too_large"))
        return True
    client.take(event)
    return True
