"""The Realtime door, knocked on by the official client, on real loopback sockets."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from openai import AsyncOpenAI
from openai.resources.realtime.realtime import AsyncRealtimeConnection
from openai.types.realtime import RealtimeServerEvent
from pydantic import TypeAdapter
from voice_house import House, Serve
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from firstword.testing.voices import ToneEngine
from sound import Pcm
from voice import BotVoice, Limits

FRAME = base64.b64encode(bytes(960)).decode()
IN_ORDER = [
    "response.created",
    "response.output_item.added",
    "conversation.item.added",
    "response.content_part.added",
    "response.output_audio_transcript.delta",
    "response.output_audio.delta",
    "response.output_audio.done",
    "response.output_audio_transcript.done",
    "response.content_part.done",
    "response.output_item.done",
    "conversation.item.done",
    "response.done",
]


@contextlib.asynccontextmanager
async def connected(house: House, **session: Any) -> AsyncIterator[AsyncRealtimeConnection]:
    async with (
        AsyncOpenAI(api_key=house.grant(), base_url=f"{house.base_url}/v1") as client,
        client.realtime.connect(model="firstword") as connection,
    ):
        assert (await connection.recv()).type == "session.created"
        await connection.session.update(session={"type": "realtime", **session})  # type: ignore[typeddict-item]
        assert (await connection.recv()).type == "session.updated"
        yield connection


async def until(connection: AsyncRealtimeConnection, kind: str) -> list[Any]:
    """Events up to and including the first of `kind`."""
    seen: list[Any] = []
    async with asyncio.timeout(20):
        while True:
            event = await connection.recv()
            seen.append(event)
            assert event.type == kind or event.type != "error", event
            if event.type == kind:
                return seen


async def received(connection: AsyncRealtimeConnection, sound_s: float) -> None:
    """Wait until the client holds that many seconds of the answer's sound."""
    held_s = 0.0
    while held_s < sound_s:
        delta = (await until(connection, "response.output_audio.delta"))[-1]
        held_s += len(base64.b64decode(delta.delta)) / 2 / 24_000


def order(events: list[Any], wanted: list[str]) -> list[str]:
    """The first appearances of `wanted` among the types of `events`; those of an answer within the last answer."""
    seen: list[str] = []
    created = [n for n, event in enumerate(events) if event.type == "response.created"]
    for event in events[created[-1] :] if wanted is IN_ORDER else events:
        if event.type in wanted and event.type not in seen:
            seen.append(event.type)
    return seen


def said(events: list[Any]) -> str:
    return next(event.transcript for event in events if event.type == "response.output_audio_transcript.done")


async def phase(house: House, kind: str) -> None:
    """Wait until the listener was asked for `kind`."""
    async with asyncio.timeout(30):
        while kind not in house.listener.asked:
            await asyncio.sleep(0.01)


async def test_a_spoken_question_is_answered_in_the_official_order(serve: Serve) -> None:
    async with serve(["Yes, ", "I can hear you."]) as house, connected(house) as connection:
        house.listener.say("can you hear me")
        events = await until(connection, "response.done")
        heard = [event for event in events if event.type == "conversation.item.input_audio_transcription.completed"]
        assert [event.transcript for event in heard] == ["can you hear me"]
        assert order(events, IN_ORDER) == IN_ORDER
        assert order(events, ["input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped",
                              "input_audio_buffer.committed", "response.created"]) == [
            "input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped",
            "input_audio_buffer.committed", "response.created"]  # fmt: skip
        assert said(events) == "Yes, I can hear you."
        assert events[-1].response.status == "completed"
        sound = b"".join(base64.b64decode(e.delta) for e in events if e.type == "response.output_audio.delta")
        assert Pcm.from_s16le(sound, 24_000).peak == pytest.approx(0.3, abs=0.02)
        assert house.door.asked[0]["messages"] == [{"role": "user", "content": "can you hear me"}]


async def test_a_typed_line_takes_the_same_path(serve: Serve) -> None:
    async with serve(["Hello."]) as house, connected(house) as connection:
        await connection.conversation.item.create(
            item={"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi there"}]}
        )
        await connection.response.create()
        events = await until(connection, "response.done")
        assert order(events, IN_ORDER) == IN_ORDER
        assert said(events) == "Hello."
        assert house.door.asked[0]["messages"][-1]["content"] == "hi there"


async def test_text_alone_makes_no_sound(serve: Serve) -> None:
    async with serve(["Hello."]) as house, connected(house, output_modalities=["text"]) as connection:
        house.listener.say("hello")
        events = await until(connection, "response.done")
        assert not [event for event in events if "audio" in event.type and event.type.startswith("response")]
        assert next(event.text for event in events if event.type == "response.output_text.done") == "Hello."
        house.listener.say("and again")
        await until(connection, "response.done")
        assert [message["content"] for message in house.door.asked[1]["messages"]] == ["hello", "Hello.", "and again"]


async def test_h1_an_interrupted_answer_is_remembered_as_it_was_heard(serve: Serve) -> None:
    long = "One two three four five six seven eight nine ten. " * 6
    async with (
        serve([long], ["Of course."], engine=ToneEngine(seconds_per_char=0.05)) as house,
        connected(house) as connection,
    ):
        house.listener.say("count for me")
        await until(connection, "response.output_audio.delta")
        await phase(house, "answer_heard")
        # The server is at most 320 ms ahead, so by then more than half a second has been played.
        await received(connection, 0.92)
        house.listener.start()
        house.listener.words("stop counting for me", kind="partial")
        events = await until(connection, "response.done")
        assert events[-1].response.status == "cancelled"
        heard = said(events)
        assert heard.endswith("—")
        assert long.startswith(heard[:-1])
        assert len(heard) < 60
        house.listener.words("stop counting")
        house.listener.end()
        after = await until(connection, "response.done")
        assert said(after) == "Of course."
        items = {event.item_id for event in after if event.type == "response.output_audio.delta"}
        assert len(items) == 1
        assert [message["content"] for message in house.door.asked[1]["messages"]] == [
            "count for me",
            heard,
            "stop counting",
        ]


async def test_a_cough_is_held_and_played_on(serve: Serve) -> None:
    text = "One two three four five six seven eight nine ten. "
    async with serve([text], engine=ToneEngine(seconds_per_char=0.02)) as house, connected(house) as connection:
        house.listener.say("count for me")
        first = await until(connection, "response.output_audio.delta")
        house.listener.start()
        house.listener.words("")
        house.listener.end()
        events = first + await until(connection, "response.done")
        assert events[-1].response.status == "completed"
        sound = b"".join(base64.b64decode(e.delta) for e in events if e.type == "response.output_audio.delta")
        made = ToneEngine(seconds_per_char=0.02)
        whole = Pcm.join(list(made.speak(text.strip())))
        assert len(sound) // 2 == pytest.approx(len(whole), abs=2_400)


async def test_a_voice_that_stopped_working_is_told_with_the_first_answer_since_and_no_more(serve: Serve) -> None:
    broken, own = ToneEngine(breaks_on="e"), ToneEngine(seconds_per_char=0.01)
    async with serve(["Yes."], ["Yes."], engine=broken, fallback=own) as house:
        async with connected(house, firstword={"events": True}) as connection:
            traces = []
            for _ in range(2):
                house.listener.start()
                house.listener.words("Hello there")
                house.listener.end()
                traces.append((await until(connection, "firstword.trace"))[-1].to_dict())
    assert own.spoken == ["Yes.", "Yes."]
    assert [trace["fallen"] for trace in traces] == ["the tone engine was told to break on this piece", None]


async def test_a_speculation_that_the_person_talks_over_is_thrown_away_and_never_seen(serve: Serve) -> None:
    async with serve(["...", "Half."], ["Whole."]) as house, connected(house, firstword={"events": True}) as connection:
        house.listener.start()
        house.listener.words("I would like")
        async with asyncio.timeout(30):
            while not house.door.asked:
                await asyncio.sleep(0.01)
        house.listener.start()
        house.listener.words("I would like tea")
        house.listener.end()
        events = await until(connection, "response.done")
        assert said(events) == "Whole."
        assert sum(event.type == "response.created" for event in events) == 1
        trace = (await until(connection, "firstword.trace"))[-1].to_dict()
        assert trace["wasted"] == 1
        assert trace["speculated"] is True
        assert trace["provider"] == "script"
        assert trace["tokens"] == {"prompt": 7, "completion": 5}
        async with asyncio.timeout(30):
            while not house.door.left:
                await asyncio.sleep(0.01)


async def test_truncate_says_what_was_heard(serve: Serve) -> None:
    async with serve(["One two three four five."], ["Yes."]) as house, connected(house) as connection:
        house.listener.say("count")
        done = await until(connection, "response.done")
        item = done[-1].response.output[0].id
        await connection.conversation.item.truncate(item_id=item, content_index=0, audio_end_ms=100)
        assert (await until(connection, "conversation.item.truncated"))[-1].audio_end_ms == 100
        house.listener.say("go on")
        await until(connection, "response.done")
        assert house.door.asked[1]["messages"][1]["content"] == "One two—"


async def test_push_to_talk_commits_and_asks(serve: Serve) -> None:
    async with (
        serve(["Yes."]) as house,
        connected(house, audio={"input": {"turn_detection": None}}) as connection,
    ):
        assert house.listener.mode == "push"
        await connection.input_audio_buffer.append(audio=FRAME)
        await connection.input_audio_buffer.commit()
        await connection.response.create()
        await phase(house, "commit")
        house.listener.say("are you there")
        assert said(await until(connection, "response.done")) == "Yes."


async def test_unknown_and_broken_events_are_errors_that_close_nothing(serve: Serve) -> None:
    async with serve(["Yes."]) as house, connected(house) as connection:
        for sent in (
            {"type": "no.such.event", "event_id": "e1"},
            {"type": "input_audio_buffer.append", "audio": "!"},
            {"type": "conversation.item.retrieve", "item_id": "nope"},
            {"type": "session.update", "session": {"audio": {"input": {"format": {"type": "audio/pcm", "rate": 3}}}}},
            {"type": "conversation.item.create", "item": {"type": "function_call_output"}},
            {"type": "response.cancel"},
        ):
            await connection.send(sent)  # type: ignore[arg-type]
            error = (await until(connection, "error"))[-1].error
            assert error.message
            assert error.event_id == sent.get("event_id")
        house.listener.say("still there")
        assert said(await until(connection, "response.done")) == "Yes."


async def test_a_door_that_refuses_fails_the_answer_in_words(serve: Serve) -> None:
    async with serve(status=429) as house, connected(house) as connection:
        house.listener.say("hello")
        response = (await until(connection, "response.done"))[-1].response
        assert response.status == "failed"
        assert "no more today" in response.to_dict()["status_details"]["error"]["message"]


async def test_s8_s10_an_engine_that_breaks_gives_the_turn_back_and_the_next_is_spoken(serve: Serve) -> None:
    engine = ToneEngine(seconds_per_char=0.01, breaks_on="bad")
    async with serve(["A bad one."], ["A good one."], engine=engine) as house, connected(house) as connection:
        house.listener.say("first")
        assert (await until(connection, "response.done"))[-1].response.status == "failed"
        house.listener.say("second")
        events = await until(connection, "response.done")
        assert events[-1].response.status == "completed"
        assert any(event.type == "response.output_audio.delta" for event in events)


async def test_a_greeting_is_said_to_a_client_that_asks_for_it(serve: Serve) -> None:
    bot = BotVoice(greeting="Good morning.")
    async with (
        serve(bot=bot) as house,
        connected(house, firstword={"events": False, "greet": True}) as connection,
    ):
        assert said(await until(connection, "response.done")) == "Good morning."
        assert house.door.asked == []


async def test_ours_are_sent_only_to_who_asked(serve: Serve) -> None:
    for asked in (True, False):
        async with serve(["Yes."]) as house, connected(house, firstword={"events": asked}) as connection:
            house.listener.say("hello")
            events = await until(connection, "response.done")
            assert any(event.type.startswith("firstword.") for event in events) is asked


async def test_the_microphone_reaches_the_listener_at_its_own_rate(serve: Serve) -> None:
    tone = Pcm((0.5 * np.sin(np.arange(1_600) / 5)).astype(np.float32), 16_000)
    audio = {"input": {"format": {"type": "audio/pcm", "rate": 16_000}}}
    async with serve() as house, connected(house, audio=audio) as connection:
        data = tone.to_s16le()
        for part in (data[:701], data[701:]):
            await connection.input_audio_buffer.append(audio=base64.b64encode(part).decode())
        await connection.input_audio_buffer.clear()
        await until(connection, "input_audio_buffer.cleared")
        assert house.listener.pushed_s == pytest.approx(0.1)
        assert house.listener.loudest == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("headers", "protocols", "status"),
    [
        ({}, [], 403),
        ({"Authorization": "Bearer nonsense"}, [], 401),
        ({"Authorization": "Bearer {grant}", "Origin": "https://evil.example"}, [], 403),
        ({"Authorization": "Bearer {grant}", "Origin": "null"}, [], 403),
        ({"Origin": "https://shop.example"}, ["realtime"], 401),
        ({"Origin": "https://shop.example"}, ["realtime", "openai-insecure-api-key.{grant}"], 101),
        ({"Origin": "{own}"}, ["realtime", "openai-insecure-api-key.{grant}"], 101),
        ({"Authorization": "Bearer {grant}"}, [], 101),
    ],
)
async def test_the_origin_and_the_grant_are_checked_before_the_connection(
    serve: Serve, headers: dict[str, str], protocols: list[str], status: int
) -> None:
    async with serve() as house:
        told = {"grant": house.grant(), "own": house.base_url}
        knocking = connect(
            house.base_url.replace("http", "ws") + "/v1/realtime",
            additional_headers={name: value.format(**told) for name, value in headers.items()},
            subprotocols=[one.format(**told) for one in protocols] or None,  # type: ignore[misc]
        )
        if status == 101:
            async with knocking as socket:
                assert json.loads(await socket.recv())["type"] == "session.created"
            return
        with pytest.raises(InvalidStatus) as refused:
            await knocking
        assert refused.value.response.status_code == status
        assert json.loads(refused.value.response.body or b"{}")["error"]["message"]


async def test_one_more_than_the_limit_is_refused_in_words_and_leaving_frees_the_place(serve: Serve) -> None:
    async with serve(limits=Limits(sessions=3, per_person=1)) as house:
        url = house.base_url.replace("http", "ws") + "/v1/realtime"
        headers = {"Authorization": f"Bearer {house.grant()}"}
        async with connect(url, additional_headers=headers) as socket:
            await socket.recv()
            with pytest.raises(InvalidStatus) as refused:
                await connect(url, additional_headers=headers)
            assert refused.value.response.status_code == 429
        async with asyncio.timeout(30):
            while not house.listener.closed:
                await asyncio.sleep(0.01)
        async with connect(url, additional_headers=headers) as socket:
            await socket.recv()


async def test_l10_a_session_that_cannot_begin_leaves_nothing_behind(serve: Serve) -> None:
    async with serve(limits=Limits(per_person=1), listener_fails=True) as house:
        url = house.base_url.replace("http", "ws") + "/v1/realtime"
        for _ in range(3):
            with pytest.raises((InvalidStatus, ConnectionClosed)) as refused:
                await connect(url, additional_headers={"Authorization": f"Bearer {house.grant()}"})
            assert refused.value.response.status_code != 429  # type: ignore[union-attr]


async def test_a_message_over_the_cap_closes_with_words(serve: Serve) -> None:
    async with serve() as house:
        url = house.base_url.replace("http", "ws") + "/v1/realtime"
        async with connect(url, additional_headers={"Authorization": f"Bearer {house.grant()}"}) as socket:
            await socket.send(json.dumps({"type": "session.update", "session": {"x": "y" * 70_000}}))
            assert json.loads(await socket.recv())["type"] == "session.created"
            assert json.loads(await socket.recv())["error"]["code"] == "message_too_large"
            await socket.send("x" * 400_000)
            await socket.wait_closed()
            assert socket.close_code == 1009


async def test_every_event_is_one_that_a_strict_client_takes(serve: Serve) -> None:
    """The official client takes events unchecked; frameworks that validate them refuse a name that is not listed."""
    strict: TypeAdapter[Any] = TypeAdapter(RealtimeServerEvent)
    async with serve(["Hello ", "there."], ["And again."]) as house, connected(house) as connection:
        house.listener.say("hello")
        events = await until(connection, "response.done")
        await connection.session.update(session={"type": "realtime", "output_modalities": ["text"]})
        house.listener.say("in text")
        events += await until(connection, "response.done")
    for event in events:
        strict.validate_python(event.to_dict(), strict=False)
