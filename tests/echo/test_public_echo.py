"""What the room offers."""

from __future__ import annotations

import echo


def test_the_public_names() -> None:
    assert sorted(echo.__all__) == [
        "Bar", "Canceller", "Judged", "Leak", "is_backchannel", "is_own", "is_reply", "is_stop", "level_of",
        "novel_words", "pitch_hz",
    ]  # fmt: skip
