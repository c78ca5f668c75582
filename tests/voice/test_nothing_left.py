"""Anything at any time, on virtual time: what one event opens, holds or reserves is let go by whatever comes next.

The one rule: whatever happened, the next question is answered and sounds, whole.
"""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from leaving import ANSWERS, Talk

from firstword.testing.clock import run_virtually
from voice.answer import OUT_HZ


@functools.cache
def whole(call: bool) -> int:
    """What the last answer is in samples, where nothing happened before."""

    async def main() -> int:
        talk = Talk(call=call, ours=True)
        await asyncio.sleep(1)
        count = await talk.sounds_whole(spoken=False)
        await talk.session.close()
        return count

    return run_virtually(main())


def others() -> list[str]:
    """The tasks there are beside the one that asks."""
    return [repr(task.get_coro()) for task in asyncio.all_tasks() if task is not asyncio.current_task()]


after_s = st.sampled_from([0.0, 0.0, 0.02, 0.1, 0.5, 2.5])
texts = st.sampled_from(["when does it open", "mhm", "", "it opens at nine in the morning", "no stop that please"])
verdicts = st.sampled_from(["complete", "incomplete"])
modalities = st.sampled_from([["audio"], ["text"]])
vad = {"type": "server_vad"}
updates = st.one_of(
    st.builds(lambda one: {"output_modalities": one}, modalities),
    st.builds(
        lambda one: {"audio": {"input": {"turn_detection": one}}},
        st.sampled_from([None, vad, {**vad, "create_response": False}, {**vad, "interrupt_response": False}]),
    ),
    st.builds(lambda one: {"firstword": {"mode": one}}, st.sampled_from(["open", "push", "typed", "muted"])),
    st.just({"firstword": {"greet": True}}),
    st.builds(lambda one: {"firstword": {"preempt": one}}, st.booleans()),
    st.just({"audio": {"input": {"format": {"rate": 8_000}}, "output": {"speed": 99}}}),
)
steps = st.one_of(
    st.tuples(st.just("speech"), after_s),
    st.tuples(st.just("words"), texts, verdicts, after_s),
    st.tuples(st.just("partial"), texts, after_s),
    st.tuples(st.just("stop"), after_s),
    st.tuples(st.just("write"), st.just("how late is it open"), after_s),
    st.tuples(st.just("respond"), st.one_of(st.none(), modalities), after_s),
    st.tuples(st.just("truncate"), st.sampled_from([0, 300, 9_000]), after_s),
    st.tuples(st.just("noise"), st.sampled_from([3, 12, 40]), after_s),
    st.tuples(st.just("update"), updates, after_s),
    st.tuples(st.just("door"), st.sampled_from(sorted(ANSWERS)), st.just(0.0)),
    st.tuples(
        st.sampled_from(
            [
                "response.cancel",
                "output_audio_buffer.clear",
                "input_audio_buffer.commit",
                "input_audio_buffer.clear",
                "conversation.item.delete",
                "conversation.item.retrieve",
            ]
        ),
        after_s,
    ),
)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(plan=st.lists(steps, max_size=25), call=st.booleans(), ours=st.booleans())
def test_whatever_happens_all_of_it_ends_and_the_next_answer_sounds_whole(
    plan: list[tuple[Any, ...]], call: bool, ours: bool
) -> None:
    wanted = whole(call)

    async def main() -> None:
        talk = Talk(call=call, ours=ours)
        for step in plan:
            await talk.do(step)
        talk.ear.stop()
        await asyncio.sleep(90)
        talk.watcher.all_is_closed()
        assert talk.session.state.phase == "listening"
        assert not talk.session.state.wanted
        assert talk.door.open == 0
        talk.send(
            "session.update",
            session={
                "output_modalities": ["audio"],
                "audio": {"input": {"turn_detection": vad}},
                "firstword": {"mode": "open"},
            },
        )
        for spoken in (False, True):
            assert await talk.sounds_whole(spoken=spoken) == wanted
        # The ear's and the beat: whatever was made for an answer is gone.
        assert len(others()) == 2
        await talk.session.close()
        await asyncio.sleep(0.1)
        assert others() == []

    run_virtually(main())


@settings(max_examples=60, deadline=None, derandomize=True)
@given(plan=st.lists(steps, max_size=15), after=st.lists(steps, max_size=4), call=st.booleans())
def test_whenever_the_client_leaves_nothing_of_it_goes_on(
    plan: list[tuple[Any, ...]], after: list[tuple[Any, ...]], call: bool
) -> None:
    async def main() -> None:
        talk = Talk(call=call, ours=True)
        for step in plan:
            await talk.do(step)
        closing = asyncio.create_task(talk.session.close())
        for step in after:  # a data channel goes on to deliver
            await talk.do((*step[:-1], 0.0))
        await closing
        for step in after:
            await talk.do((*step[:-1], 0.0))
        await asyncio.sleep(0.1)  # what was told to stop has
        assert others() == []
        assert talk.door.open == 0

    run_virtually(main())


@pytest.mark.parametrize("call", [True, False], ids=["call", "socket"])
def test_the_whole_answer_is_some_sound(call: bool) -> None:
    assert whole(call) > OUT_HZ * 0.5
