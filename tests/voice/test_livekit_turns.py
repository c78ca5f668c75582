"""Which stream the words of an answer belong to, and what a pass says."""

from __future__ import annotations

from typing import Any

import pytest

from voice.livekit import LiveKit, room_pass
from voice.livekit.passes import Asked
from voice.livekit.turns import Begin, End, Turns, Write

KEY, SECRET = "key", "a secret of thirty-two letters or more"


def begun(response: str) -> dict[str, Any]:
    return {"type": "response.output_item.added", "response_id": response, "item": {"id": f"item-{response}"}}


def words(response: str, text: str) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "response_id": response, "delta": text}


def done(response: str, status: str = "completed", why: str = "") -> dict[str, Any]:
    details = {"error": {"message": why}} if why else None
    return {"type": "response.done", "response": {"id": response, "status": status, "status_details": details}}


def test_a_turn_has_one_stream_from_its_first_word_to_how_it_ended() -> None:
    turns = Turns()
    assert turns.asked("t1") == []
    assert turns.take(begun("r1")) == [Begin("t1", "item-r1")]
    assert turns.take(words("r1", "Yes")) == [Write("t1", "Yes")]
    assert turns.take(done("r1")) == [End("t1", "completed")]
    assert turns.take(words("r1", "late")) == []


def test_a_turn_that_was_passed_over_is_closed_too() -> None:
    turns = Turns()
    turns.asked("t1")
    assert turns.asked("t2") == [Begin("t1"), End("t1", "cancelled")]
    assert turns.take(begun("r1")) == [Begin("t2", "item-r1")]
    assert turns.asked("t3") == []
    assert turns.take(done("r1", "cancelled")) == [End("t2", "cancelled")]
    assert turns.cancelled() == [Begin("t3"), End("t3", "cancelled")]
    assert turns.cancelled() == []


def test_a_fault_closes_the_turn_in_words() -> None:
    turns = Turns()
    turns.asked("t1")
    refused = {"type": "error", "error": {"message": "no", "code": "invalid_value"}}
    assert turns.take(refused) == [Begin("t1"), End("t1", "failed", "no")]
    assert turns.take(refused) == []


def test_a_turn_that_waits_for_its_thread_is_answered_where_that_cannot_be_read() -> None:
    turns = Turns()
    turns.asked("t1")
    assert turns.take({"type": "error", "error": {"message": "away", "code": "thread_away"}}) == []
    assert turns.waiting == "t1"
    turns.asked("t2")
    turns.take(begun("r2"))
    assert turns.take(done("r2", "failed", "the model fell over")) == [End("t2", "failed", "the model fell over")]


def test_what_is_spoken_belongs_to_no_stream() -> None:
    turns = Turns()
    assert turns.take(begun("r1")) + turns.take(words("r1", "Hello")) + turns.take(done("r1")) == []


@pytest.mark.parametrize("audio", [True, False])
def test_a_pass_lets_one_name_into_one_room_and_asks_for_the_worker(audio: bool) -> None:
    from livekit.api import TokenVerifier

    made = room_pass(LiveKit("ws://127.0.0.1:7880", KEY, SECRET, audio=audio), "the-grant", "room-1")
    claims = TokenVerifier(KEY, SECRET).verify(made["token"])
    assert (made["url"], made["agent"], made["audio"]) == ("ws://127.0.0.1:7880", "copilot", audio)
    assert (claims.video.room, claims.video.room_join, claims.video.can_publish) == ("room-1", True, audio)
    assert not claims.video.room_admin
    assert not claims.video.room_create
    (dispatch,) = claims.room_config.agents
    assert dispatch.agent_name == "copilot"
    assert Asked.read(dispatch.metadata) == Asked("the-grant", claims.identity)


@pytest.mark.parametrize("metadata", ["", "[]", "{}", '{"grant": 7}', "no JSON", "[" * 100_000], ids=lambda m: m[:8])
def test_a_job_that_is_none_of_ours_is_told_apart(metadata: str) -> None:
    with pytest.raises(ValueError, match="a job for this worker has the metadata"):
        Asked.read(metadata)
