"""The other end of a call: one WebRTC connection, made with aiortc.

Sound in, sound out, messages both ways; what they mean is `call.py`'s. It needs the extra `webrtc`. The one rule:
nothing of it outlives `close`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from fractions import Fraction

import numpy as np
from aiortc import (
    MediaStreamTrack,
    RTCConfiguration,
    RTCDataChannel,
    RTCIceServer,
    RTCPeerConnection,
    RTCSessionDescription,
)
from aiortc.exceptions import InvalidAccessError, InvalidStateError
from aiortc.mediastreams import MediaStreamError
from aiortc.sdp import candidate_from_sdp
from av import AudioFrame, AudioResampler

from sound import Pcm
from voice.answer import OUT_HZ
from voice.call_sound import HEARD_HZ, Beat, Incoming, Outgoing
from voice.errors import BadOffer
from voice.jitter import SoonBuffer
from voice.parts import IceServer

_log = logging.getLogger("firstword.voice")

_FRAME_S = 0.02
# Sound the loudspeaker may hold: six frames ride out a busy loop; a hold or a stop does not wait for them.
_AHEAD_S = 0.12
# So many silent frames are sent after sound; then nothing is, which costs neither end anything.
_LULL_FRAMES = 50
# No packet for this long: the sender saves on silence (Opus DTX sends one in 400 ms), or the network is away.
_QUIET_S = 0.12
# What may wait inside the data channel; more waits in the outbox, where it is bounded.
_CHANNEL_BYTES = 64 * 1024


class CallLoudspeaker(MediaStreamTrack):
    """The outgoing sound, 20 ms frames at 24 kHz in real time. `clock` gives monotonic seconds."""

    kind = "audio"
    ahead_s = _AHEAD_S

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._sound = Outgoing(round(_FRAME_S * OUT_HZ))
        self._beat = Beat(_FRAME_S)
        self._silent = 0

    def play(self, pcm: Pcm) -> None:
        """More sound at 24 kHz, in order."""
        self._sound.push(pcm)

    def hold(self, held: bool) -> None:
        """Stand still at this very frame, or go on with the next."""
        self._sound.hold(held)

    def clear(self) -> None:
        """Be silent at once."""
        self._sound.clear()

    async def recv(self) -> AudioFrame:
        """The next frame, when it is due."""
        if self.readyState != "live":
            raise MediaStreamError
        if not self._sound.waiting and self._silent >= _LULL_FRAMES:
            await self._sound.some()
        number, wait_s = self._beat.next(self._clock())
        await asyncio.sleep(wait_s)
        self._silent = 0 if self._sound.waiting else self._silent + 1
        samples = np.frombuffer(Pcm(self._sound.take(), OUT_HZ).to_s16le(), dtype="<i2")
        # Opus on WebRTC is stereo; widened by the encoder's own mixer, mono would lose 3 dB.
        frame = AudioFrame.from_ndarray(np.repeat(samples, 2).reshape(1, -1), format="s16", layout="stereo")
        frame.sample_rate, frame.time_base = OUT_HZ, Fraction(1, OUT_HZ)
        frame.pts = number * len(samples)
        return frame


class Peer:
    """One connection. `on_message` takes what arrives on its data channel, `on_open` is called when that opens."""

    def __init__(
        self,
        ice_servers: Sequence[IceServer],
        *,
        clock: Callable[[], float],
        on_open: Callable[[], None],
        on_message: Callable[[str | bytes], None],
    ) -> None:
        servers = [RTCIceServer(one.url, one.username or None, one.credential or None) for one in ice_servers]
        self._connection = RTCPeerConnection(RTCConfiguration(iceServers=servers))
        self._on_open = on_open
        self._on_message = on_message
        self._channel: RTCDataChannel | None = None
        self._track: asyncio.Future[MediaStreamTrack] = asyncio.get_running_loop().create_future()
        self._drained = asyncio.Event()
        self.loudspeaker = CallLoudspeaker(clock)
        self.settled = asyncio.Event()
        self.gone = asyncio.Event()
        self._connection.on("connectionstatechange", self._changed)
        self._connection.on("datachannel", self._opened)
        self._connection.on("track", self._tracked)

    @property
    def connected(self) -> bool:
        """There is a way through, and keys have been agreed on."""
        return self._connection.connectionState == "connected"

    async def answer(self, offer: str) -> str:
        """The SDP answer to `offer`. Raises `BadOffer` in words."""
        try:
            await self._connection.setRemoteDescription(
                RTCSessionDescription(_without_empty_candidates(offer), "offer")
            )
            kinds = [transceiver.kind for transceiver in self._connection.getTransceivers()]
            if "audio" not in kinds:
                raise BadOffer("the offer has no audio; add an audio transceiver before you create it")
            self._connection.addTrack(self.loudspeaker)
            for receiver in self._connection.getReceivers():
                _answer_soon(receiver)
            await self._connection.setLocalDescription(await self._connection.createAnswer())
        except BadOffer:
            raise
        except (ValueError, AssertionError, LookupError, AttributeError, TypeError) as fault:
            raise BadOffer(f"the offer is no SDP that can be answered ({type(fault).__name__})") from fault
        except (InvalidAccessError, InvalidStateError, ConnectionError) as fault:
            raise BadOffer(f"the offer cannot be answered: {fault}") from fault
        return str(self._connection.localDescription.sdp)

    async def add_candidates(self, fragment: str) -> None:
        """Take candidates that came after the offer (RFC 8840); an empty one is the end of them. Raises `BadOffer`."""
        mid = next((line[6:] for line in fragment.split() if line.startswith("a=mid:")), None)
        for line in fragment.splitlines():
            name, _, value = line.strip().removeprefix("a=").partition(":")
            try:
                if name == "end-of-candidates" or (name == "candidate" and not value.strip()):
                    await self._connection.addIceCandidate(None)
                elif name == "candidate":
                    candidate = candidate_from_sdp(value)
                    candidate.sdpMid, candidate.sdpMLineIndex = mid, None if mid else 0
                    await self._connection.addIceCandidate(candidate)
            except (ValueError, AssertionError, LookupError) as fault:
                raise BadOffer(f"{line.strip()[:80]!r} is no candidate") from fault

    async def sound(self) -> AsyncIterator[Pcm]:
        """The person's sound, 16 kHz mono without holes, until they are gone."""
        incoming, track = Incoming(), await self._track
        # FFmpeg's resampler is a millisecond late; the one in `sound` keeps up to 30 ms back at this ratio (measured).
        resampler = AudioResampler(format="fltp", layout="stereo", rate=HEARD_HZ)
        while True:
            try:
                async with asyncio.timeout(_QUIET_S):
                    frame = await track.recv()
            except TimeoutError:
                yield incoming.silence(_QUIET_S)
                continue
            except MediaStreamError:
                return
            if not isinstance(frame, AudioFrame):
                continue
            parts = [part.to_ndarray().mean(axis=0) for part in resampler.resample(frame)]
            heard = Pcm(np.concatenate([np.zeros(0, dtype=np.float32), *parts]), HEARD_HZ)
            yield incoming.push(heard, *_place(frame))

    async def send(self, message: str) -> None:
        """Send `message`, when the channel has room for it. Raises `ConnectionError` where it is closed."""
        channel = self._channel
        if channel is None or channel.readyState != "open":
            raise ConnectionError("the data channel is closed")
        while channel.bufferedAmount > _CHANNEL_BYTES:
            self._drained.clear()
            await self._drained.wait()
        channel.send(message)

    async def close(self) -> None:
        """Hang up. Safe to call twice."""
        self.gone.set()
        self.settled.set()
        self._track.cancel()
        await self._connection.close()

    def _changed(self) -> None:
        state = self._connection.connectionState
        if state in ("connected", "failed", "closed"):
            self.settled.set()
        if state in ("failed", "closed"):
            self.gone.set()

    def _opened(self, channel: RTCDataChannel) -> None:
        if self._channel is not None:
            return
        self._channel = channel
        channel.bufferedAmountLowThreshold = _CHANNEL_BYTES // 2
        channel.on("bufferedamountlow", self._drained.set)
        channel.on("message", self._on_message)
        channel.on("close", self.gone.set)
        self._on_open()

    def _tracked(self, track: MediaStreamTrack) -> None:
        if track.kind == "audio" and not self._track.done():
            self._track.set_result(track)


def _answer_soon(receiver: object) -> None:
    """Put our jitter buffer where aiortc has its own. The name is private and so may change: then sound is 80 ms late,
    a test says so, and nothing breaks."""
    name = "_RTCRtpReceiver__jitter_buffer"
    if hasattr(receiver, name):
        setattr(receiver, name, SoonBuffer())


def _place(frame: AudioFrame) -> tuple[int, int]:
    """Where in the call a frame begins and how long it is, in samples at 16 kHz."""
    scale = HEARD_HZ / frame.sample_rate
    return round((frame.pts or 0) * scale), round(frame.samples * scale)


def _without_empty_candidates(sdp: str) -> str:
    """`sdp` without the empty candidates by which Firefox says that there are no more."""
    kept = [line for line in sdp.splitlines() if line.strip() not in ("a=candidate:", "a=candidate")]
    return "\r\n".join(kept) + "\r\n"
