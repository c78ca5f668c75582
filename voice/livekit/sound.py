"""The sound of a conversation in a room: our track out, the person's track in.

LiveKit's own library paces, encodes, and fills what the network lost. The one rule: what waits in that library cannot
be held back any more, so little waits there; the rest waits here, where a hold or a stop takes hold at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np
from livekit import rtc

from sound import Pcm
from voice.answer import OUT_HZ
from voice.call_sound import HEARD_HZ, Outgoing

_FRAME_S = 0.02
# Sound that the library may hold: three frames ride out a busy loop.
_QUEUE_MS = 60
# And what playout may be ahead of it.
_AHEAD_S = 0.12
# No frame for this long: the microphone is muted, and time goes on for the listener all the same.
_QUIET_S = 0.12


class RoomLoudspeaker:
    """The outgoing sound at 24 kHz; `run` feeds it for as long as the conversation lasts."""

    ahead_s = _AHEAD_S

    def __init__(self) -> None:
        self._source = rtc.AudioSource(OUT_HZ, 1, queue_size_ms=_QUEUE_MS)
        self.track = rtc.LocalAudioTrack.create_audio_track("voice", self._source)
        self._sound = Outgoing(round(_FRAME_S * OUT_HZ))

    def play(self, pcm: Pcm) -> None:
        """More sound at 24 kHz, in order."""
        self._sound.push(pcm)

    def hold(self, held: bool) -> None:
        """Stand still, or go on with the next frame."""
        self._sound.hold(held)

    def clear(self) -> None:
        """Be silent at once."""
        self._sound.clear()
        self._source.clear_queue()

    async def run(self) -> None:
        """Hand on each frame when there is room for it."""
        while True:
            if not self._sound.waiting:
                await self._sound.some()
                continue
            frame = Pcm(self._sound.take(), OUT_HZ)
            await self._source.capture_frame(rtc.AudioFrame(frame.to_s16le(), OUT_HZ, 1, len(frame)))

    async def close(self) -> None:
        """Let the track go. Safe to call twice."""
        await self._source.aclose()


async def heard(track: rtc.Track) -> AsyncIterator[Pcm]:
    """The person's sound, 16 kHz mono, until the track ends; a muted microphone is silence."""
    stream = rtc.AudioStream.from_track(
        track=track, sample_rate=HEARD_HZ, num_channels=1, frame_size_ms=round(_FRAME_S * 1000)
    )
    coming: asyncio.Task[rtc.AudioFrameEvent] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(anext(stream))
            done, _ = await asyncio.wait([coming], timeout=_QUIET_S)
            if not done:
                yield Pcm.silence(_QUIET_S, HEARD_HZ)
                continue
            try:
                frame = coming.result().frame
            except StopAsyncIteration:
                return
            coming = None
            yield Pcm(np.asarray(frame.data, dtype=np.float32) / np.float32(32_768), HEARD_HZ)
    finally:
        if coming is not None:
            coming.cancel()
        await stream.aclose()
