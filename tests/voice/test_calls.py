"""Calls: the Realtime door by WebRTC, with real connections on this machine's own addresses."""

from __future__ import annotations

import asyncio
import json
import sys

import httpx2
import numpy as np
import pytest
from aiortc import RTCPeerConnection, RTCSessionDescription
from openai import AsyncOpenAI
from test_realtime import IN_ORDER
from voice_house import SIGNER, House, Serve

from firstword.testing.caller import LINE_HZ, Caller, called, knock, offering
from firstword.testing.voices import ToneEngine
from sound import Pcm
from voice import IceServer, Limits

LONG = "One two three four five six seven eight nine ten. "
# What a WebRTC client hears of an answer: the sound is on its track, not among the events.
BY_CALL = [kind for kind in IN_ORDER if kind != "response.output_audio.delta"]


def tone(seconds: float) -> Pcm:
    return Pcm((0.5 * np.sin(np.arange(round(seconds * LINE_HZ)) / 12)).astype(np.float32), LINE_HZ)


def answer_of(client: Caller) -> list[str]:
    """The types of the last answer's events, each once, in order."""
    kinds = client.kinds()
    began = len(kinds) - 1 - kinds[::-1].index("response.created")
    return list(dict.fromkeys(kind for kind in kinds[began:] if kind in BY_CALL))


def audible_s(client: Caller) -> float:
    """Seconds of what was heard in which something sounds."""
    blocks = np.abs(client.sound().samples.reshape(-1, 48)).max(axis=1)
    return int((blocks > 0.05).sum()) / 1_000


async def ended(house: House) -> None:
    """Wait until no call is on and its listener is closed."""
    async with asyncio.timeout(30):
        while len(house.calls) or not all(listener.closed for listener in house.listeners):
            await asyncio.sleep(0.01)


async def test_a_spoken_question_is_heard_and_its_answer_sounds(serve: Serve) -> None:
    async with serve(["Yes, ", "I can hear you."]) as house:
        async with called(house.base_url, house.grant()) as client:
            client.microphone.speak(tone(0.6))
            await client.holds(lambda: house.listener.loudest > 0.4)
            assert house.listener.loudest == pytest.approx(0.5, abs=0.05)
            house.listener.say("can you hear me")
            await client.until("output_audio_buffer.stopped")
            assert answer_of(client) == BY_CALL
            kinds = client.kinds()
            assert kinds.index("output_audio_buffer.started") < kinds.index("response.done")
            assert "response.output_audio.delta" not in kinds
            assert client.last("response.output_audio_transcript.done")["transcript"] == "Yes, I can hear you."
            made = ToneEngine(seconds_per_char=0.01)
            whole_s = Pcm.join(list(made.speak("Yes, I can hear you."))).duration_s
            await client.holds(lambda: audible_s(client) > whole_s - 0.03)
            assert audible_s(client) == pytest.approx(whole_s, abs=0.05)
            assert client.sound().peak == pytest.approx(0.3, abs=0.06)
            assert house.door.asked[0]["messages"] == [{"role": "user", "content": "can you hear me"}]
        await ended(house)


async def test_what_is_pushed_to_the_listener_is_as_long_as_what_was_sent(serve: Serve) -> None:
    async with serve() as house, called(house.base_url, house.grant()) as client:
        before = (house.listener.pushed_s, client.microphone.sent_s)
        await client.holds(lambda: client.microphone.sent_s - before[1] > 1.0)
        # What is on its way is not there yet, for longer on a busy machine; what is lost would be missing for good.
        await client.holds(
            lambda: abs(house.listener.pushed_s - before[0] - client.microphone.sent_s + before[1]) < 0.2
        )


async def test_h1_s1_talking_over_it_silences_the_track_at_once_and_what_was_heard_stands(serve: Serve) -> None:
    async with (
        serve([LONG * 6], ["Of course."], engine=ToneEngine(seconds_per_char=0.05)) as house,
        called(house.base_url, house.grant()) as client,
    ):
        house.listener.say("count for me")
        await client.holds(lambda: audible_s(client) > 0.8)
        house.listener.start()
        house.listener.words("stop counting for me", kind="partial")
        done = await client.until("response.done")
        assert done["response"]["status"] == "cancelled"
        await client.until("output_audio_buffer.cleared")
        heard = client.last("response.output_audio_transcript.done")["transcript"]
        assert heard.endswith("—")
        assert 5 < len(heard) < 60
        sounded = audible_s(client)
        house.listener.words("stop counting")
        house.listener.end()
        await client.until("response.done", count=2)
        # The jitter buffer and the encoder may hold three frames; of the seconds that were made nothing else comes.
        assert audible_s(client) - sounded < 0.06 + len("Of course.") * 0.05 + 0.1
        assert [line["content"] for line in house.door.asked[1]["messages"]] == ["count for me", heard, "stop counting"]


async def test_e3_a_cough_holds_the_track_and_every_sample_is_played_once(serve: Serve) -> None:
    engine = ToneEngine(seconds_per_char=0.03)
    async with serve([LONG], engine=engine) as house, called(house.base_url, house.grant()) as client:
        client.send("session.update", session={"type": "realtime", "firstword": {"events": True}})
        house.listener.say("count for me")
        await client.holds(lambda: audible_s(client) > 0.3)
        house.listener.start()
        await client.until("firstword.hold")
        house.listener.words("")
        house.listener.end()
        await client.until("firstword.hold", count=2)
        await client.until("output_audio_buffer.stopped")
        assert client.last("response.done")["response"]["status"] == "completed"
        whole_s = Pcm.join(list(ToneEngine(seconds_per_char=0.03).speak(LONG.strip()))).duration_s
        await client.holds(lambda: audible_s(client) > whole_s - 0.08)
        assert audible_s(client) == pytest.approx(whole_s, abs=0.1)


@pytest.mark.parametrize("ends", ["more words", "a cancel"])
async def test_an_answer_held_before_it_sounded_does_not_hold_the_next_one(serve: Serve, ends: str) -> None:
    async with serve(["..."], ["You can hear this."], ["You can hear this."]) as house:
        async with called(house.base_url, house.grant()) as client:
            client.send("session.update", session={"type": "realtime", "firstword": {"events": True}})
            house.listener.say("what was it")
            await client.until("response.created")
            house.listener.start()
            await client.until("firstword.hold")
            if ends == "more words":
                house.listener.words("what was it that you told me")
                house.listener.end()
            else:
                client.send("response.cancel")
                await client.until("response.done")
                house.listener.words("")
                house.listener.end()
                house.listener.say("so what was it")
            await client.until("output_audio_buffer.stopped")
            await client.holds(lambda: audible_s(client) > 0.1)
            assert [event["held"] for event in client.events if event["type"] == "firstword.hold"] == [True, False]


async def test_a_typed_line_over_the_data_channel_is_answered_in_text_without_a_sound(serve: Serve) -> None:
    async with (
        serve(["Hello."]) as house,
        called(house.base_url, house.grant(), session={"output_modalities": ["text"]}) as client,
    ):
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi there"}]}
        client.send("conversation.item.create", item=item)
        client.send("response.create")
        await client.until("response.done")
        assert client.last("response.output_text.done")["text"] == "Hello."
        assert "output_audio_buffer.started" not in client.kinds()


async def test_long_words_come_in_messages_of_1100_bytes(serve: Serve) -> None:
    words = "Ünïcödé " * 400
    async with (
        serve([words]) as house,
        called(house.base_url, house.grant(), session={"output_modalities": ["text"]}) as client,
    ):
        house.listener.say("a long one")
        await client.until("response.done")
        deltas = [
            (size, event)
            for size, event in zip(client.sizes, client.events, strict=True)
            if event["type"] == "response.output_text.delta"
        ]
        assert "".join(event["delta"] for _, event in deltas) == words
        assert max(size for size, _ in deltas) <= 1_100
        # What cannot be cut is joined again by the channel itself.
        assert client.last("response.output_text.done")["text"] == words.strip()
        assert max(client.sizes) > 1_100


async def test_bad_messages_are_errors_and_one_past_every_measure_ends_the_call(serve: Serve) -> None:
    async with serve(["Yes."]) as house:
        async with called(house.base_url, house.grant()) as client:
            for n, sent in enumerate(
                ["{", '{"type":"no.such.event"}', json.dumps({"type": "x", "y": "z" * 70_000})], 1
            ):
                client.channel.send(sent)
                await client.until("error", count=n)
            house.listener.say("still there")
            await client.until("response.done")
            assert client.connection.sctp is not None
            client.connection.sctp._remote_max_message_size = 1_000_000  # what the answer allowed was less
            client.channel.send("x" * 370_000)
            await client.holds(lambda: client.channel.readyState == "closed" or not len(house.calls))
        await ended(house)


async def test_the_official_client_opens_a_call_with_its_session_and_hangs_up(serve: Serve) -> None:
    client = offering()
    async with serve(["Hello."]) as house:
        async with AsyncOpenAI(api_key=house.grant(), base_url=f"{house.base_url}/v1", max_retries=0) as official:
            await client.connection.setLocalDescription(await client.connection.createOffer())
            answered = await official.realtime.calls.with_raw_response.create(
                sdp=client.connection.localDescription.sdp,
                session={"type": "realtime", "output_modalities": ["text"], "audio": {"output": {"speed": 1.25}}},
            )
            where = answered.headers["location"]
            await client.connection.setRemoteDescription(RTCSessionDescription(answered.text, "answer"))
            session = (await client.until("session.updated"))["session"]
            assert session["output_modalities"] == ["text"]
            assert session["audio"]["output"]["speed"] == 1.25
            assert where.startswith("/v1/realtime/calls/rtc_")
            await official.realtime.calls.hangup(where.rsplit("/", 1)[1])
        await ended(house)
        await client.connection.close()


async def test_a_call_is_its_holders_alone(serve: Serve) -> None:
    async with serve() as house, called(house.base_url, house.grant()) as client:
        name = next(iter(house.calls._running))
        async with httpx2.AsyncClient(trust_env=False, base_url=house.base_url) as http:
            for headers, status in (
                ({"Authorization": f"Bearer {house.grant('eve')}"}, 404),
                ({"Authorization": "Bearer nonsense"}, 401),
                ({}, 401),
            ):
                for method, path in (("POST", f"{name}/hangup"), ("PATCH", name)):
                    refused = await http.request(method, f"/v1/realtime/calls/{path}", headers=headers)
                    assert refused.status_code == status, (method, path)
                    assert refused.json()["error"]["message"]
        assert len(house.calls) == 1
        assert client.connection.connectionState == "connected"


async def test_r3_empty_candidates_are_accepted_in_the_offer_and_after_it(serve: Serve) -> None:
    """Firefox ends its candidates with an empty one; others send theirs one by one after the offer."""
    client = offering()
    async with serve() as house:
        await client.connection.setLocalDescription(await client.connection.createOffer())
        offer = client.connection.localDescription.sdp
        found = [line for line in offer.splitlines() if line.startswith("a=candidate:")]
        bare = "\r\n".join(line for line in offer.splitlines() if line not in (*found, "a=end-of-candidates"))
        answered = await knock(house.base_url, house.grant(), bare + "\r\na=candidate:\r\n")
        assert answered.status_code == 201
        await client.connection.setRemoteDescription(RTCSessionDescription(answered.text, "answer"))
        where = house.base_url + answered.headers["location"]
        async with httpx2.AsyncClient(trust_env=False) as http:
            headers = {"Authorization": f"Bearer {house.grant()}", "Content-Type": "application/trickle-ice-sdpfrag"}
            fragments = ["a=mid:0\r\n" + "\r\n".join(found), "a=mid:0\r\na=candidate:\r\n", "a=end-of-candidates"]
            for fragment in fragments:
                assert (await http.patch(where, content=fragment, headers=headers)).status_code == 204
            refused = await http.patch(where, content="a=candidate:nonsense", headers=headers)
            assert refused.status_code == 400
            assert "nonsense" in refused.json()["error"]["message"]
        await client.until("session.created")
        await client.connection.close()
        await ended(house)


async def test_r1_a_call_that_finds_no_way_through_is_over_and_frees_its_place(serve: Serve) -> None:
    client = offering()
    async with serve(limits=Limits(per_person=1, connect_s=0.2)) as house:
        await client.connection.setLocalDescription(await client.connection.createOffer())
        offer = client.connection.localDescription.sdp
        assert (await knock(house.base_url, house.grant(), offer)).status_code == 201
        await ended(house)
        assert (await knock(house.base_url, house.grant(), offer)).status_code == 201
        await ended(house)
    await client.connection.close()


@pytest.mark.parametrize(
    ("offer", "says"),
    [
        ("", "no audio"),
        ("hello", "no audio"),
        ("v=0\r\nm=audio\r\n", "no SDP"),
        ("v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n", "no audio"),
        ("x" * 70_000, "64 KiB"),
        ("data alone", "no audio"),
    ],
    ids=["nothing", "words", "half a line", "no audio", "too large", "data alone"],
)
async def test_an_offer_that_cannot_be_answered_is_refused_in_words(serve: Serve, offer: str, says: str) -> None:
    if offer == "data alone":
        connection = RTCPeerConnection()
        connection.createDataChannel("oai-events")
        await connection.setLocalDescription(await connection.createOffer())
        offer = connection.localDescription.sdp
        await connection.close()
    async with serve(limits=Limits(per_person=1)) as house:
        for _ in range(2):
            refused = await knock(house.base_url, house.grant(), offer)
            assert refused.status_code == 400
            assert says in refused.json()["error"]["message"]
        await ended(house)


@pytest.mark.parametrize("session", ["{", "[]", "[" * 3_000], ids=["broken", "no object", "deep"])
async def test_a_session_that_cannot_be_read_is_refused_in_words(serve: Serve, session: str) -> None:
    async with serve() as house, httpx2.AsyncClient(trust_env=False) as http:
        refused = await http.post(
            f"{house.base_url}/v1/realtime/calls",
            data={"sdp": "v=0", "session": session},
            headers={"Authorization": f"Bearer {house.grant()}"},
        )
        assert refused.status_code == 400
        assert "session" in refused.json()["error"]["message"]


async def test_who_may_not_come_in_is_refused_before_the_offer_is_read(serve: Serve) -> None:
    async with serve(limits=Limits(per_person=0)) as house:
        assert (await knock(house.base_url, "nonsense", "v=0")).status_code == 401
        foreign = await knock(house.base_url, house.grant(), "v=0", Origin="https://evil.example")
        assert foreign.status_code == 403
        full = await knock(house.base_url, house.grant(), "v=0")
        assert full.status_code == 429
        assert "close one first" in full.json()["error"]["message"]


async def test_a_bot_that_is_not_there_is_a_404_and_a_server_that_stops_hangs_up(serve: Serve) -> None:
    async with serve() as house:
        gone = SIGNER.mint(bot="gone", subject="ada", room="room-1")
        assert (await knock(house.base_url, gone, "v=0")).status_code == 404
        async with called(house.base_url, house.grant()) as client:
            await house.calls.close()
            await client.holds(lambda: client.channel.readyState == "closed")
        await ended(house)


async def test_without_webrtc_the_door_says_what_to_use(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "voice.call", None)
    async with serve() as house:
        refused = await knock(house.base_url, house.grant(), "v=0")
        assert refused.status_code == 501
        assert "/v1/realtime" in refused.json()["error"]["message"]


async def test_ice_servers_are_told_to_whoever_holds_a_grant(serve: Serve) -> None:
    servers = (IceServer("stun:127.0.0.1:3478"), IceServer("turn:127.0.0.1:3479", "ada", "t"))
    async with (
        serve(ice_servers=servers) as house,
        httpx2.AsyncClient(trust_env=False, base_url=house.base_url) as http,
    ):
        assert (await http.get("/v1/realtime/calls")).status_code == 401
        told = await http.get("/v1/realtime/calls", headers={"Authorization": f"Bearer {house.grant()}"})
        assert told.json() == {
            "ice_servers": [
                {"urls": "stun:127.0.0.1:3478"},
                {"urls": "turn:127.0.0.1:3479", "username": "ada", "credential": "t"},
            ]
        }


async def test_no_word_and_no_key_of_a_call_is_in_a_log(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    caplog.set_level("DEBUG", "firstword")
    async with serve(["canary-answer"]) as house:
        grant = house.grant("canary-ada")
        async with called(house.base_url, grant) as client:
            house.listener.say("canary-question")
            await client.until("response.done")
            client.channel.send('{"type": "canary-event"')
            await client.until("error")
        await ended(house)
        await knock(house.base_url, grant, "canary-offer")
    written = caplog.text
    assert "canary" not in written
    assert grant not in written
