"""Text turns through the rooms of a real LiveKit server."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from livekit_house import rooms_of

from firstword.testing.guest import Reply, joined
from firstword.testing.livekit import LiveKitServer
from voice import Limits

pytestmark = pytest.mark.timeout(180)


async def over(reply: Reply) -> Reply:
    await asyncio.wait_for(reply.over.wait(), 30)
    return reply


async def test_turns_are_answered_in_deltas_under_their_own_ids_with_the_grant(livekit_server: LiveKitServer) -> None:
    async with rooms_of(livekit_server, ["Four", " of", " them."], ["Five."]) as rooms:
        grant = rooms.grant()
        async with joined(rooms.pass_for(grant)) as guest:
            reply = await over(await guest.ask("How many are there?", "turn-1"))
            assert (reply.text, reply.status, reply.told["turn"]) == ("Four of them.", "completed", "turn-1")
            assert reply.deltas >= 2
            assert (await over(await guest.ask("And now?", "turn-2"))).text == "Five."
        assert rooms.door.grants == [grant, grant]
        said = [message["content"] for message in rooms.door.asked[1]["messages"]]
        assert said == ["How many are there?", "Four of them.", "And now?"]


async def test_whoever_else_is_in_the_room_is_not_answered(livekit_server: LiveKitServer) -> None:
    async with rooms_of(livekit_server, ["For you."]) as rooms:
        grant = rooms.grant()
        async with joined(rooms.pass_for(grant)) as guest, joined(rooms.pass_for(grant)) as stranger:
            theirs = await stranger.ask("And for me?")
            assert (await over(await guest.ask("Anything for me?"))).text == "For you."
            assert not theirs.begun.is_set()
        assert len(rooms.door.asked) == 1


async def test_an_interruption_cancels_upstream_and_the_next_turn_is_answered(livekit_server: LiveKitServer) -> None:
    async with rooms_of(livekit_server, ["Well,", "..."], ["Once upon", "..."], ["Here."]) as rooms:
        async with joined(rooms.pass_for()) as guest:
            first = await guest.ask("Tell me everything.")
            await asyncio.wait_for(first.begun.wait(), 20)
            await guest.cancel()
            assert (await over(first)).status == "cancelled"
            # A turn that comes while another is answered stops that one.
            second = await guest.ask("A story, then.")
            await asyncio.wait_for(second.begun.wait(), 20)
            third = await over(await guest.ask("No. Where are you?"))
            assert (third.text, third.status) == ("Here.", "completed")
            assert (await over(second)).status == "cancelled"
        assert rooms.door.left == 2


async def test_a_door_that_refuses_is_a_failed_turn_in_words(livekit_server: LiveKitServer) -> None:
    async with rooms_of(livekit_server, status=403) as rooms:
        async with joined(rooms.pass_for()) as guest:
            reply = await over(await guest.ask("May I?"))
        assert (reply.status, reply.told["why"]) == ("failed", "no more today")


async def test_a_job_without_a_grant_of_ours_is_not_taken(livekit_server: LiveKitServer) -> None:
    async with rooms_of(livekit_server, ["Yes."]) as rooms:
        foreign = rooms.grant()[:-1] + "A"
        genuine = rooms.grant()
        made = rooms.pass_for(genuine)
        from voice.livekit import room_pass

        forged = room_pass(rooms.livekit, foreign, "room-forged")
        async with joined(forged, wait_s=0) as alone, joined(made) as guest:
            assert (await over(await guest.ask("Are you there?"))).text == "Yes."
            assert not alone.agent_here.is_set()


async def test_a_lost_connection_comes_back_into_the_same_conversation(livekit_server: LiveKitServer) -> None:
    from livekit import rtc

    async with rooms_of(livekit_server, ["Blue."], ["Yes, blue."]) as rooms:
        async with joined(rooms.pass_for()) as guest:
            await over(await guest.ask("Which colour?"))
            await guest.room.simulate_scenario(rtc.SimulateScenarioKind.SIMULATE_FULL_RECONNECT)
            assert (await over(await guest.ask("Sure?"))).text == "Yes, blue."
        assert [message["content"] for message in rooms.door.asked[1]["messages"]][:2] == ["Which colour?", "Blue."]


async def test_of_two_joins_under_one_name_the_later_goes_on(livekit_server: LiveKitServer) -> None:
    async with rooms_of(livekit_server, ["One."], ["Two."]) as rooms:
        made = rooms.pass_for()
        async with joined(made) as first:
            await over(await first.ask("Say one."))
            async with joined(made) as second:
                await asyncio.wait_for(first.gone.wait(), 20)
                assert (await over(await second.ask("Say two."))).text == "Two."
        assert len(rooms.door.asked[1]["messages"]) == 3


async def test_a_worker_that_is_stopped_finishes_its_answer_and_says_goodbye(livekit_server: LiveKitServer) -> None:
    async with rooms_of(livekit_server, ["Nearly", "...", " done."]) as rooms:
        async with joined(rooms.pass_for()) as guest:
            reply = await guest.ask("Finish this.")
            await asyncio.wait_for(reply.begun.wait(), 20)
            stopping = asyncio.create_task(rooms.worker.stop(within_s=30))
            rooms.door.go.set()
            assert (await over(reply)).text == "Nearly done."
            await stopping
            await asyncio.wait_for(guest.agent_gone.wait(), 20)
            assert "this worker is being stopped" in guest.goodbye


async def test_a_person_has_so_many_rooms_at_once(livekit_server: LiveKitServer) -> None:
    async with rooms_of(livekit_server, ["Yes."], limits=replace(Limits(), per_person=1)) as rooms:
        async with joined(rooms.pass_for()) as guest, joined(rooms.pass_for(), wait_s=0) as second:
            assert (await over(await guest.ask("Are you there?"))).text == "Yes."
            assert not second.agent_here.is_set()


async def test_twenty_rooms_at_once_are_each_answered(livekit_server: LiveKitServer) -> None:
    limits = replace(Limits(), per_person=20)
    async with rooms_of(livekit_server, *(["Yes", " indeed."] for _ in range(40)), limits=limits) as rooms:

        async def talk() -> list[str]:
            async with joined(rooms.pass_for(), wait_s=60) as guest:
                return [(await over(await guest.ask(text))).text for text in ("Is this it?", "And this?")]

        answers = await asyncio.gather(*(talk() for _ in range(20)))
        assert answers == [["Yes indeed.", "Yes indeed."]] * 20


async def test_what_is_no_line_is_a_failed_turn(livekit_server: LiveKitServer) -> None:
    async with rooms_of(livekit_server, ["Fine."]) as rooms:
        async with joined(rooms.pass_for()) as guest:
            empty = await over(await guest.ask(" "))
            assert empty.status == "failed"
            assert "text" in empty.told["why"]
            endless = await over(await guest.ask("a" * 20_000))
            assert endless.status == "failed"
            assert (await over(await guest.ask("How are you?"))).text == "Fine."
