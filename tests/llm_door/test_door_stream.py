"""The stream, byte by byte, as real uvicorn writes it."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from door_house import USAGE, WORDS, House, house

from agents_core import Delta, Done, Event, Started
from llm_door import Pace
from llm_door.answer import Answer
from llm_door.wire import Wire


async def ask(at: House, text: str, headers: dict[str, str] | None = None, **body: Any) -> httpx2.Response:
    asked = {"messages": [{"role": "user", "content": text}], "stream": True, **body}
    key = {"Authorization": f"Bearer {at.grant()}", **(headers or {})}
    async with httpx2.AsyncClient(trust_env=False) as client:
        return await client.post(f"{at.base_url}/v1/chat/completions", json=asked, headers=key)


def chunks(answer: httpx2.Response) -> list[dict[str, Any]]:
    """The JSON of each event, after the bytes were held to the rules."""
    raw = answer.content
    assert raw.isascii(), "W14"
    assert raw.endswith(b"data: [DONE]\n\n"), "O3"
    found = []
    for event in raw.decode().split("\n\n")[:-1]:
        assert "\n" not in event, "one line an event (W8, W14)"
        assert event.startswith(("data: ", ": ")), "W8"
        if event.startswith("data: ") and event != "data: [DONE]":
            found.append(json.loads(event[6:]))
    assert raw.count(b"[DONE]") == 1
    return found


async def test_the_stream_has_its_headers_and_names_its_run() -> None:
    async with house() as at:
        answer = await ask(at, "hi")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache, no-transform"
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.headers["x-firstword-run"] == "run-1"


@pytest.mark.parametrize("usage", [False, True], ids=["W7 not asked", "W7 asked"])
async def test_an_answer_is_role_words_finish_and_usage_where_asked(usage: bool) -> None:
    async with house() as at:
        told = chunks(await ask(at, "hi", stream_options={"include_usage": usage}))
    assert told[0]["choices"] == [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}], (
        "O1 W1"
    )
    if usage:
        last = told.pop()
        assert last["choices"] == []
        assert last["usage"] == {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}
    assert told[-1]["choices"] == [{"index": 0, "delta": {}, "finish_reason": "stop"}], "O6 W2"
    middle = [chunk["choices"][0] for chunk in told[1:-1]]
    assert [choice["delta"] for choice in middle] == [{"content": word} for word in WORDS], "role once, no empty delta"
    assert all(choice["finish_reason"] is None and choice["index"] == 0 for choice in middle), "O5"
    assert len({(chunk["id"], chunk["created"], chunk["model"], chunk["object"]) for chunk in told}) == 1, "O13 W13"
    assert told[0]["model"] == "guide"
    assert not any("usage" in chunk or "firstword" in chunk for chunk in told)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("breaks", "the provider cut the answer off"),
        ("raises midway", "through a fault of the server's own"),
        ("ends without an ending", "through a fault of the server's own"),
    ],
)
async def test_w10_w12_a_cut_answer_never_looks_finished(text: str, says: str) -> None:
    async with house() as at:
        told = chunks(await ask(at, text, stream_options={"include_usage": True}))
    assert says in told[-1]["error"]["message"]
    assert set(told[-1]["error"]) == {"message", "type", "param", "code"}
    assert all(chunk["choices"][0]["finish_reason"] is None for chunk in told[:-1])
    assert [chunk["choices"][0]["delta"].get("content") for chunk in told[1:-1]] == list(WORDS[:3])


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("text", "status", "says"),
    [
        ("fails at once", 502, "over capacity"),
        ("unknown bot", 404, "no bot is called"),
        ("refused", 403, "does not answer on this surface"),
        ("over the limit", 429, "what you may spend on guide in a day is used up"),
    ],
)
async def test_w11_before_the_first_byte_an_error_is_a_real_status(
    text: str, status: int, says: str, stream: bool
) -> None:
    async with house() as at:
        answer = await ask(at, text, stream=stream)
    assert answer.status_code == status
    assert says in answer.json()["error"]["message"]
    assert answer.headers["x-should-retry"] == "false"


async def test_what_a_fault_says_is_told_to_nobody(caplog: pytest.LogCaptureFixture) -> None:
    async with house() as at:
        answer = await ask(at, "raises")
        again = await ask(at, "raises", stream=False)
    assert "canary" not in answer.text + again.text + caplog.text
    assert "RuntimeError" in caplog.text


async def test_a_silent_stream_says_that_it_lives() -> None:
    async with (
        house(pace=Pace(comment_s=0.01)) as at,
        httpx2.AsyncClient(trust_env=False) as client,
        client.stream(
            "POST",
            f"{at.base_url}/v1/chat/completions",
            json={"messages": [{"role": "user", "content": "hang"}], "stream": True},
            headers={"Authorization": f"Bearer {at.grant()}"},
        ) as answer,
    ):
        raw = b""
        async for piece in answer.aiter_bytes():
            raw += piece
            if raw.count(b": still here\n\n") == 3:
                at.core.go_on.set()
    assert raw.index(b'"role"') < raw.index(b": still here")
    assert raw.endswith(b"data: [DONE]\n\n")


async def test_the_role_comes_before_the_run_where_the_core_is_slow() -> None:
    async with (
        house(pace=Pace(first_event_s=0.01)) as at,
        httpx2.AsyncClient(trust_env=False) as client,
        client.stream(
            "POST",
            f"{at.base_url}/v1/chat/completions",
            json={"messages": [{"role": "user", "content": "late start"}], "stream": True},
            headers={"Authorization": f"Bearer {at.grant()}"},
        ) as answer,
    ):
        pieces = answer.aiter_bytes()
        first = await anext(pieces)
        at.core.go_on.set()
        rest = b"".join([piece async for piece in pieces])
    assert "x-firstword-run" not in answer.headers
    assert b'"role":"assistant"' in first
    assert rest.endswith(b"data: [DONE]\n\n")


async def test_an_answer_cut_short_by_a_ceiling_says_length() -> None:
    async with house() as at:
        told = chunks(await ask(at, "too many steps"))
        plain = (await ask(at, "too many steps", stream=False)).json()
    assert told[-1]["choices"][0]["finish_reason"] == plain["choices"][0]["finish_reason"] == "length"


async def test_our_own_client_gets_the_trace_and_what_it_is_busy_with() -> None:
    async with house() as at:
        told = chunks(await ask(at, "busy", headers={"X-Firstword-Trace": "1"}))
        plain = (await ask(at, "busy", headers={"X-Firstword-Trace": "1"}, stream=False)).json()
        stock = (await ask(at, "busy", stream=False)).json()
    asides = [chunk["firstword"] for chunk in told if "firstword" in chunk]
    assert asides[0] == {"busy": {"what": "looking up orders"}}
    assert asides[1]["ending"] == "answered"
    assert asides[1]["trace"]["run"] == "run-1"
    assert told[-1]["firstword"] == asides[1]
    assert plain["firstword"]["trace"]["provider"] == "script"
    assert "firstword" not in stock


async def test_without_stream_it_is_one_json_reply_of_the_same_turn() -> None:
    async with house() as at:
        answer = await ask(at, "hi", stream=False)
    told = answer.json()
    assert told["object"] == "chat.completion"
    assert told["choices"][0]["message"] == {"role": "assistant", "content": "".join(WORDS), "refusal": None}
    assert told["usage"]["total_tokens"] == USAGE.prompt_tokens + USAGE.completion_tokens
    assert answer.headers["x-firstword-run"] == "run-1"


async def test_the_first_word_is_written_before_the_next_is_asked_for() -> None:
    """Asking for the next goes down to the model's connection, which takes longer than writing a word."""
    order: list[str] = []

    async def events() -> AsyncIterator[Event]:
        yield Started("run-1")
        yield Delta("Nine.")
        order.append("asked for the next")
        yield Done("answered", USAGE)

    async def receive() -> dict[str, Any]:
        return await asyncio.Future()

    async def send(message: Any) -> None:
        if b"Nine." in message.get("body", b""):
            order.append("written")

    wire = Wire(id="c", created=1, model="guide")
    answer = Answer(events, lambda: wire, stream=True, include_usage=False, pace=Pace())
    await answer({"type": "http"}, receive, send)
    assert order == ["written", "asked for the next"]
