"""The parts of a call without its connection: packets in order, sound without holes, frames in time, messages."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest
from aiortc.rtcrtpreceiver import RTCRtpReceiver
from hypothesis import given
from hypothesis import strategies as st

from sound import Pcm
from voice.call_sound import HEARD_HZ, Beat, Incoming, Outgoing
from voice.channel import MESSAGE_BYTES, Channel, encode, split
from voice.jitter import HOLE_PACKETS, SoonBuffer
from voice.outbox import Outbox
from voice.peer import _answer_soon

FRAME = HEARD_HZ // 50
WORDS = ["response.output_text.delta", "response.output_audio_transcript.delta"]


@dataclass
class Packet:
    sequence_number: int
    timestamp: int = 0
    _data: bytes = field(default=b"x")


def through(numbers: list[int], empty: frozenset[int] = frozenset()) -> list[int | None]:
    """What comes out of the buffer after each packet; a frame is named by its packet's timestamp."""
    buffer = SoonBuffer()
    out = []
    for number in numbers:
        packet = Packet(number % 65536, timestamp=number, _data=b"" if number in empty else b"x")
        lost, frame = buffer.add(packet)
        assert lost is False
        out.append(None if frame is None else frame.timestamp)
    return out


def test_packets_in_their_order_leave_at_once() -> None:
    assert through(list(range(65_530, 65_560))) == list(range(65_530, 65_560))


@pytest.mark.parametrize(
    ("came", "left"),
    [
        ([1, 3, 2, 4, 5], [1, None, 2, 3, 4]),
        ([1, 3, 4, 5, 6, 7], [1, None, None, 3, 4, 5]),
        ([1, 3, 4, 5, 2, 6, 7], [1, None, None, 3, 4, 5, 6]),
        ([1, 2, 2, 3, 3], [1, 2, None, 3, None]),
        ([1, 2, 3, 50_000, 50_001, 50_002, 50_003], [1, 2, 3, 50_000, 50_001, 50_002, 50_003]),
        ([70, 71, 5_000, 5_001, 5_002, 5_003], [70, 71, None, None, 5_000, 5_001]),
    ],
    ids=["two swapped", "one lost", "one too late", "one twice", "a sender that began again behind", "and ahead"],
)
def test_a_hole_is_waited_for_and_no_longer(came: list[int], left: list[int | None]) -> None:
    assert through(came) == left


def test_an_empty_packet_is_padding_and_no_end() -> None:
    assert through([1, 2, 3, 4], empty=frozenset({2})) == [1, None, 3, 4]


@given(st.integers(0, 65_535), st.lists(st.sampled_from(["in order", "swapped", "lost", "twice"]), max_size=60))
def test_frames_never_go_back_and_never_wait_for_more_than_a_hole(start: int, road: list[str]) -> None:
    numbers: list[int] = [start]
    n = start + 1
    for how in road:
        numbers += {"in order": [n], "swapped": [n + 1, n], "lost": [], "twice": [n, n]}[how]
        n += 2 if how == "swapped" else 1
    left = [frame for frame in through(numbers) if frame is not None]
    assert left == sorted(set(left))
    sent = sorted(set(numbers))
    if left and not any(how == "lost" for how in road):
        assert sent[len(left) - 1] == left[-1], "nothing that came is left out"
    assert len(sent) - len(left) <= road.count("lost") + HOLE_PACKETS


def test_aiortc_still_has_its_buffer_where_ours_is_put() -> None:
    receiver = RTCRtpReceiver("audio", SimpleNamespace(state="new"))  # type: ignore[arg-type]
    _answer_soon(receiver)
    assert isinstance(receiver._RTCRtpReceiver__jitter_buffer, SoonBuffer)  # type: ignore[attr-defined]
    _answer_soon(SimpleNamespace())


def tone(frames: int = 1) -> Pcm:
    return Pcm((0.5 * np.sin(np.arange(frames * FRAME) / 5)).astype(np.float32), HEARD_HZ)


def test_what_the_network_lost_is_silence_of_its_length() -> None:
    incoming, sound = Incoming(), tone(50)
    places = [n * FRAME for n in range(50) if n not in (20, 21, 30)]
    heard = Pcm.join([incoming.push(sound.part(at, at + FRAME), at, FRAME) for at in places])
    assert len(heard) == 50 * FRAME
    assert not heard.samples[20 * FRAME : 22 * FRAME].any()
    assert np.array_equal(heard.samples[31 * FRAME :], sound.samples[31 * FRAME :])


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4)), max_size=20))
def test_time_and_sound_are_the_same_however_a_sender_saves_on_silence(gaps: list[tuple[int, int]]) -> None:
    """Frames, then packets left out; of each gap some was filled while it lasted, in steps of the waiting."""
    incoming = Incoming()
    at, heard = 0, len(incoming.push(tone(), 0, FRAME))
    for missing, filled in gaps:
        heard += sum(len(incoming.silence(0.02)) for _ in range(min(filled, missing)))
        at += (missing + 1) * FRAME
        heard += len(incoming.push(tone(), at, FRAME))
    assert heard == at + FRAME


def test_a_microphone_that_was_away_is_no_lost_sound_and_silence_before_the_first_frame_is_none() -> None:
    incoming = Incoming()
    assert len(incoming.silence(1.0)) == 0
    incoming.push(tone(), 0, FRAME)
    assert len(incoming.push(tone(), 100 * FRAME, FRAME)) == FRAME


@given(st.lists(st.integers(0, 700), max_size=12), st.lists(st.sampled_from(["take", "hold", "go on"]), max_size=30))
def test_holding_and_going_on_loses_nothing_and_repeats_nothing(pieces: list[int], acts: list[str]) -> None:
    outgoing, given_, got = Outgoing(480), 0, []
    for size in pieces:
        outgoing.push(Pcm(np.arange(given_ + 1, given_ + size + 1, dtype=np.float32), 24_000))
        given_ += size
    for act in [*acts, "go on", *["take"] * 20]:
        if act == "take":
            frame = outgoing.take()
            assert len(frame) == 480
            got += [round(float(sample)) for sample in frame if sample]
        else:
            outgoing.held = act == "hold"
    assert got == list(range(1, given_ + 1))


def test_a_stop_is_a_stop() -> None:
    outgoing = Outgoing(480)
    outgoing.push(Pcm(np.ones(4_800, dtype=np.float32), 24_000))
    outgoing.held = True
    outgoing.clear()
    assert not outgoing.take().any()
    outgoing.push(Pcm(np.ones(480, dtype=np.float32), 24_000))
    assert outgoing.take().all()


def test_frames_leave_without_drift_and_a_sender_that_was_away_goes_on_in_its_place() -> None:
    beat = Beat(0.02)
    assert beat.next(5.0) == (0, 0.0)
    number, wait_s = beat.next(5.013)
    assert (number, wait_s) == (1, pytest.approx(0.007))
    assert beat.next(5.1) == (2, 0.0)
    assert beat.next(5.1) == (3, 0.0)
    assert beat.next(9.007) == (200, 0.0)
    assert beat.next(9.01) == (201, pytest.approx(0.01))


@given(
    st.text(max_size=3_000), st.sampled_from(["response.output_text.delta", "response.output_audio_transcript.delta"])
)
def test_a_long_delta_is_cut_into_messages_that_say_the_same(text: str, kind: str) -> None:
    event = {"event_id": "event_1", "type": kind, "response_id": "r", "item_id": "i", "content_index": 0, "delta": text}
    parts = list(split(event))
    assert "".join(part["delta"] for part in parts) == text
    assert all(len(encode(part)) <= MESSAGE_BYTES for part in parts)
    assert len({part["event_id"] for part in parts}) == len(parts)
    assert all({**part, "delta": text, "event_id": "event_1"} == event for part in parts)
    if len(encode(event)) <= MESSAGE_BYTES:
        assert parts == [event]


def test_an_event_without_a_delta_is_left_to_the_channel_whole() -> None:
    event = {"type": "response.done", "response": {"text": "x" * 5_000}}
    assert list(split(event)) == [event]


async def test_before_the_channel_opens_fifty_events_wait_in_their_order_and_the_rest_is_counted() -> None:
    outbox = Outbox()
    channel = Channel(outbox)
    for n in range(70):
        channel.put({"type": "session.created", "n": n})
    channel.opened()
    channel.put({"type": "session.updated", "n": 99})
    got = [(await outbox.take())["n"] for _ in range(51)]
    assert got == [*range(50), 99]
    assert channel.dropped == 20


def test_a_message_is_ascii() -> None:
    assert encode({"type": "x", "delta": "é\u2028"}).isascii()
    assert json.loads(encode({"delta": "é\u2028"})) == {"delta": "é\u2028"}
