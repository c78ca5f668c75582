"""Answers become written in the middle of a call, and spoken again: each is silent or sounds as it was chosen."""

from __future__ import annotations

from test_calls import LONG, audible_s
from voice_house import Serve

from firstword.testing.caller import called
from firstword.testing.voices import ToneEngine


async def test_a_written_answer_that_was_held_does_not_hold_the_spoken_one_after_it(serve: Serve) -> None:
    async with (
        serve(["...", "Read this."], ["You can hear this."]) as house,
        called(house.base_url, house.grant(), session={"output_modalities": ["text"]}) as client,
    ):
        client.send("session.update", session={"type": "realtime", "firstword": {"events": True}})
        house.listener.say("what was it")
        await client.until("response.created")
        house.listener.start()
        await client.until("firstword.hold")
        house.door.go.set()
        await client.until("response.done")
        house.listener.words("")
        house.listener.end()
        client.send("session.update", session={"type": "realtime", "output_modalities": ["audio"]})
        await client.until("session.updated", count=3)
        house.listener.say("so what was it")
        await client.until("output_audio_buffer.stopped")
        await client.holds(lambda: audible_s(client) > 0.1)
        assert [event["held"] for event in client.events if event["type"] == "firstword.hold"] == [True, False]


async def test_an_answer_that_is_thought_about_as_answers_become_written_makes_no_sound(serve: Serve) -> None:
    async with serve(["...", "Read ", "this."], ["You can hear this."]) as house:
        async with called(house.base_url, house.grant()) as client:
            house.listener.say("what was it")
            await client.until("response.created")
            client.send("session.update", session={"type": "realtime", "output_modalities": ["text"]})
            await client.until("session.updated")
            house.door.go.set()
            assert (await client.until("response.done"))["response"]["status"] == "completed"
            assert client.last("response.output_audio_transcript.done")["transcript"] == "Read this."
            assert "output_audio_buffer.started" not in client.kinds()
            client.send("session.update", session={"type": "realtime", "output_modalities": ["audio"]})
            await client.until("session.updated", count=2)
            house.listener.say("so what was it")
            await client.until("output_audio_buffer.stopped")
            await client.holds(lambda: audible_s(client) > 0.1)


async def test_an_answer_that_sounds_as_answers_become_written_falls_silent_and_is_written_to_its_end(
    serve: Serve,
) -> None:
    whole = LONG.strip() + " Eleven."
    async with serve([LONG, "...", "Eleven."], engine=ToneEngine(seconds_per_char=0.2)) as house:
        async with called(house.base_url, house.grant()) as client:
            house.listener.say("count for me")
            await client.holds(lambda: audible_s(client) > 0.1)
            client.send("session.update", session={"type": "realtime", "output_modalities": ["text"]})
            await client.until("output_audio_buffer.cleared")
            house.door.go.set()
            assert (await client.until("response.done"))["response"]["status"] == "completed"
            assert client.last("response.output_audio_transcript.done")["transcript"] == whole
            assert audible_s(client) < 0.2 * len(LONG) / 2
