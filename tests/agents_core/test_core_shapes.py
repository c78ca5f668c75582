"""Histories that began on one provider, asked of the other; calls and their results kept together."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from core_house import BOT, ask, content
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_core import Bots, OpenAIProvider, Profile, Question
from agents_core.audience import holding
from agents_core.compile import compile_folder
from agents_core.events import Line
from agents_core.loop import Call, Step
from agents_core.prompt import question
from agents_core.providers.anthropic_shape import AnthropicAnswer, conversation, request
from agents_core.providers.pairs import INTERRUPTED, paired
from agents_core.providers.stream import Answer


def call(id_: str, name: str = "catalog", arguments: str = '{"phrase": "tea"}') -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def asked(*calls: dict[str, Any], text: str = "") -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


def result(id_: str, text: str = "3.50") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": text}


SYSTEM, HELLO = {"role": "system", "content": "You are X."}, {"role": "user", "content": "Hi."}


def test_a_history_that_began_at_openai_is_asked_of_anthropic() -> None:
    steps = [asked(call("call:0.a"), call("call:0.b", "about_me", "")), result("call:0.a"), result("call:0.b", "")]
    system, turns = conversation([SYSTEM, HELLO, {"role": "assistant", "content": "Yes? "}, HELLO, *steps])
    assert system == "You are X."
    assert [(turn["role"], [block["type"] for block in turn["content"]]) for turn in turns] == [
        ("user", ["text"]),
        ("assistant", ["text"]),
        ("user", ["text"]),
        ("assistant", ["tool_use", "tool_use"]),
        ("user", ["tool_result", "tool_result"]),
    ]
    uses, results = turns[3]["content"], turns[4]["content"]
    assert [use["id"] for use in uses] == [one["tool_use_id"] for one in results] == ["call_0_a", "call_0_b"]
    assert [use["input"] for use in uses] == [{"phrase": "tea"}, {}]
    assert turns[1]["content"][0]["text"] == "Yes?"
    assert results[1]["content"] == "(nothing)"


def test_a_history_that_began_at_anthropic_is_asked_of_openai() -> None:
    """Whoever answered, a step is the same; so the second asking goes on at the other provider."""
    theirs = AnthropicAnswer()
    for event in (
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "One moment."}},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "toolu_1", "name": "catalog", "input": {}},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
    ):
        theirs.push(json.dumps(event))
    whole = theirs.whole()
    messages = (SYSTEM, HELLO, asked(*(call(c.id, c.name, c.arguments) for c in whole.calls)), result("toolu_1"))
    body = OpenAIProvider("http://x", "m").body(Question(messages))
    assert body["messages"][-2]["tool_calls"][0]["id"] == body["messages"][-1]["tool_call_id"] == "toolu_1"
    assert whole.finish_reason == "tool_calls"


async def test_steps_are_the_same_whoever_took_them(tmp_path: Path) -> None:
    compiled = compile_folder(content(tmp_path))
    steps = (
        Step(0, "model", text="Wait.", calls=(Call("toolu_1", "f", "{}"),)),
        Step(1, "tool", "4", call_id="toolu_1"),
    )
    given_ = question(compiled.bots["guide"], compiled.house, ask("2+2?"), steps, Profile())
    turns = request(given_, "m", Profile())["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert turns[2]["content"][0] == {"type": "tool_result", "tool_use_id": "call_0_0", "content": "4"}


def test_fk11_a_result_whose_call_was_cut_away_goes_with_it() -> None:
    rounds = [message for n in range(3) for message in (asked(call(f"c{n}")), result(f"c{n}"))]
    assert paired([HELLO, *rounds[1:]]) == [HELLO, *rounds[2:]]


def test_fk13_a_call_that_came_to_nothing_gets_a_result_that_says_so() -> None:
    assert paired([HELLO, asked(call("a"), call("b")), result("b"), HELLO]) == [
        HELLO,
        asked(call("a"), call("b")),
        result("a", INTERRUPTED),
        result("b"),
        HELLO,
    ]


MESSAGES = st.lists(
    st.one_of(
        st.just(SYSTEM),
        st.text(max_size=4).map(lambda text: {"role": "user", "content": text}),
        st.text(max_size=4).map(lambda text: {"role": "assistant", "content": text}),
        st.lists(st.sampled_from("abc"), unique=True, max_size=3).map(lambda ids: asked(*map(call, ids))),
        st.sampled_from("abc").map(result),
    ),
    max_size=12,
)


@settings(max_examples=200, deadline=None)
@given(MESSAGES)
def test_whatever_went_in_the_request_keeps_their_rules(messages: list[dict[str, Any]]) -> None:
    _, turns = conversation(messages)
    assert not turns or turns[0]["role"] == "user"
    for before, after in itertools.pairwise(turns):
        assert before["role"] != after["role"]
        calls = [block["id"] for block in before["content"] if block["type"] == "tool_use"]
        assert (
            calls
            == [block["tool_use_id"] for block in after["content"] if block["type"] == "tool_result"][: len(calls)]
        )
    for turn in turns:
        assert turn["content"]
        for block in turn["content"]:
            assert block["type"] != "text" or (block["text"].strip() and block["text"] == block["text"].rstrip())


def test_the_request_is_what_anthropic_takes() -> None:
    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
    asked_ = Question((SYSTEM, HELLO), tools=(tool,), lead="Well, ")
    body = request(asked_, "m", Profile(max_tokens=7, temperature=0.5))
    assert (body["model"], body["max_tokens"], body["temperature"], body["stream"]) == ("m", 7, 0.5, True)
    assert body["tools"] == [{"name": "f", "description": "d", "input_schema": {"type": "object"}}]
    assert body["messages"][-1] == {"role": "assistant", "content": [{"type": "text", "text": "Well,"}]}
    broken = asked(call("c", "f", "no JSON"))
    uses = conversation([HELLO, broken, result("c", "error: f: the arguments are not JSON")])[1]
    assert (uses[1]["content"][0]["input"], uses[2]["content"][0]["is_error"]) == ({}, True)


@pytest.mark.parametrize(
    ("reason", "named"),
    [("end_turn", "stop"), ("max_tokens", "length"), ("tool_use", "tool_calls"), ("refusal", "refusal")],
)
def test_why_an_answer_ended_has_one_name(reason: str, named: str) -> None:
    theirs = AnthropicAnswer()
    message = {"type": "message", "content": [{"type": "text", "text": "Hi."}], "stop_reason": reason}
    assert theirs.push(json.dumps(message)) == "Hi."
    assert theirs.whole().finish_reason == named


def test_an_error_event_is_whose_its_name_says() -> None:
    """An error inside a stream has no status; its code or type has to do."""
    for error, whose, rest_s in (
        ({"type": "overloaded_error"}, "provider", 0),
        ({"code": "insufficient_quota"}, "key", 3600),
        ({"type": "rate_limit_error"}, "key", 60),
        ({"type": "invalid_request_error", "message": "too long"}, "ours", 0),
        ({"code": 502, "message": "bad gateway"}, "provider", 0),
        ("broken", "provider", 0),
        ({"code": None, "type": 7}, "provider", 0),
    ):
        for reading in (Answer(), AnthropicAnswer()):
            try:
                reading.push(json.dumps({"type": "error", "error": error}))
                raise AssertionError
            except Exception as fault:
                verdict = fault.verdict  # type: ignore[attr-defined]
                assert (verdict.whose, verdict.rest_s) == (whose, rest_s), error


def test_history_lines_are_not_lost_on_the_way() -> None:
    lines = (Line("user", "a"), Line("assistant", "b"))
    turns = conversation([{"role": line.role, "content": line.text} for line in lines])[1]
    assert [turn["content"][0]["text"] for turn in turns] == ["a", "b"]


async def test_the_last_step_there_is_must_be_an_answer(tmp_path: Path) -> None:
    """A history with calls is refused without its tools, so they are shown and none may be asked for."""
    text = BOT.replace("surfaces", "tools: [about_me]\nlimits: { steps: 3 }\nsurfaces")
    bots = Bots(content(tmp_path, guide=text), clock=float)
    offered = bots.offer(bots["guide"], holding("ann"))
    steps = (Step(0, "model", calls=(Call("c", "about_me", "{}"),)), Step(1, "tool", "{}", call_id="c"))
    first, last = (question(bots["guide"], bots.house, ask(), s, Profile(), offered) for s in ((), steps))
    ours = OpenAIProvider("http://x", "m")
    assert "tool_choice" not in ours.body(first)
    assert (ours.body(last)["tool_choice"], len(ours.body(last)["tools"])) == ("none", 1)
    assert "tool_choice" not in request(first, "m", Profile())
    assert request(last, "m", Profile())["tool_choice"] == {"type": "none"}
