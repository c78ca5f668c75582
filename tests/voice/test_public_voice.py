"""What the room offers."""

from __future__ import annotations

import voice


def test_the_public_names() -> None:
    assert sorted(voice.__all__) == [
        "BotVoice", "Calls", "DoorClient", "DoorDelta", "DoorError", "DoorTrace", "IceServer", "Limits", "Message",
        "ThreadAway", "ThreadNotThere", "TooMany", "VoiceError", "VoiceParts", "create_voice",
        "places_of",
    ]  # fmt: skip
