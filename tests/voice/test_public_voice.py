"""What the room offers."""

from __future__ import annotations

import voice


def test_the_public_names() -> None:
    assert sorted(voice.__all__) == [
        "BotVoice", "DoorClient", "DoorDelta", "DoorError", "DoorTrace", "Limits", "Message", "ThreadAway",
        "ThreadNotThere", "TooMany", "VoiceError", "VoiceParts", "create_voice",
    ]  # fmt: skip
