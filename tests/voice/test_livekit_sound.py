"""Sound through the rooms of a real LiveKit server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
import pytest
from livekit_house import rooms_of

from firstword.testing.guest import MICROPHONE_HZ, Guest, joined
from firstword.testing.livekit import LiveKitServer
from sound import Pcm

pytestmark = pytest.mark.timeout(180)
LONG = "One two three four five six seven eight nine ten. " * 6


def tone(seconds: float) -> Pcm:
    return Pcm((0.5 * np.sin(np.arange(round(seconds * MICROPHONE_HZ)) / 4)).astype(np.float32), MICROPHONE_HZ)


def audible_s(guest: Guest, since: int = 0) -> float:
    """Seconds of what was heard in which something sounds."""
    return sum(pcm.duration_s for pcm in guest.heard[since:] if pcm.peak > 0.05)


async def holds(what: Callable[[], bool], limit_s: float = 30.0) -> None:
    async with asyncio.timeout(limit_s):
        while not what():
            await asyncio.sleep(0.02)


async def test_a_spoken_question_is_heard_and_its_answer_sounds(livekit_server: LiveKitServer) -> None:
    async with rooms_of(livekit_server, ["Yes, ", "I can hear you."], audio=True) as rooms:
        async with joined(rooms.pass_for()) as guest:
            await guest.send({"type": "session.update", "session": {"firstword": {"events": True}}})
            await guest.until("session.updated", 2)
            await guest.open_microphone()
            guest.say(tone(1.0))
            await holds(lambda: rooms.listener.loudest > 0.3)
            rooms.hears("can you hear me")
            await guest.until("output_audio_buffer.stopped")
            assert audible_s(guest) > 0.1
            done = await guest.until("response.done")
            assert done["response"]["status"] == "completed"
            heard = await guest.until("conversation.item.input_audio_transcription.completed")
            assert heard["transcript"] == "can you hear me"
            # A muted microphone is silence, and time goes on.
            pushed_s = rooms.listener.pushed_s
            await holds(lambda: rooms.listener.pushed_s > pushed_s + 0.5)


async def test_talking_over_it_makes_it_silent_and_what_was_heard_stands(livekit_server: LiveKitServer) -> None:
    async with rooms_of(livekit_server, [LONG], ["Sorry."], audio=True) as rooms:
        async with joined(rooms.pass_for()) as guest:
            await guest.open_microphone()
            rooms.hears("count to sixty")
            await holds(lambda: audible_s(guest) > 0.3)
            rooms.hears("stop that please")
            await guest.until("output_audio_buffer.cleared")
            await guest.until("response.done", 2)
        lines = [message["content"] for message in rooms.door.asked[1]["messages"]]
        assert lines[0] == "count to sixty"
        assert lines[-1] == "stop that please"
        assert lines[1].endswith("—")
        assert len(lines[1]) < len(LONG)


async def test_a_text_turn_in_a_room_with_sound_is_answered_in_both(livekit_server: LiveKitServer) -> None:
    async with rooms_of(livekit_server, ["Both it is, as you can hear."], audio=True) as rooms:
        async with joined(rooms.pass_for()) as guest:
            reply = await guest.ask("In writing, please.")
            await asyncio.wait_for(reply.over.wait(), 30)
            assert reply.text == "Both it is, as you can hear."
            await holds(lambda: audible_s(guest) > 0.1)
