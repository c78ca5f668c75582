"""The official client, unchanged, with a grant as its key: plain, streamed, accumulating, sync and async."""

import asyncio
from collections.abc import Callable
from typing import Any

import openai
import pytest
from door_house import WORDS, House, house

from llm_door import Pace

QUESTION = [{"role": "system", "content": "ignored"}, {"role": "user", "content": "hi"}]


def client(at: House, key: str | None = None) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{at.base_url}/v1", api_key=key or at.grant(), max_retries=0)


async def on_a_thread(work: Callable[[], Any]) -> Any:
    return await asyncio.to_thread(work)


async def test_plain_and_sync() -> None:
    async with house() as at:

        def talk() -> tuple[str | None, str | None, int]:
            with client(at) as door:
                told = door.chat.completions.create(model="any", messages=QUESTION)  # type: ignore[arg-type]
                usage = told.usage.total_tokens if told.usage else 0
                return told.choices[0].message.content, told.choices[0].finish_reason, usage

        assert await on_a_thread(talk) == ("".join(WORDS), "stop", 16)


async def test_streamed_and_sync() -> None:
    async with house() as at:

        def talk() -> list[str | None]:
            with client(at) as door:
                stream = door.chat.completions.create(model="any", messages=QUESTION, stream=True)  # type: ignore[call-overload]
                # A naive client reads choices[0] of every chunk: unasked usage would break it.
                return [chunk.choices[0].delta.content for chunk in stream]

        assert await on_a_thread(talk) == ["", *WORDS, None]


async def test_accumulating_and_sync() -> None:
    async with house() as at:

        def talk() -> object:
            with client(at) as door:
                options = {"include_usage": True}
                with door.chat.completions.stream(model="any", messages=QUESTION, stream_options=options) as stream:  # type: ignore[arg-type]
                    for _ in stream:
                        pass
                    return stream.get_final_completion()

        told = await on_a_thread(talk)
    assert told.choices[0].message.role == "assistant"  # type: ignore[attr-defined]
    assert told.choices[0].message.content == "".join(WORDS)  # type: ignore[attr-defined]
    assert told.usage.total_tokens == 16  # type: ignore[attr-defined]


async def test_async_all_three_and_with_tools_that_are_ignored() -> None:
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
    async with house() as at, openai.AsyncOpenAI(base_url=f"{at.base_url}/v1", api_key=at.grant()) as door:
        create = door.chat.completions.create
        plain = await create(model="any", messages=QUESTION, tools=tools)  # type: ignore[call-overload]
        stream = await create(model="any", messages=QUESTION, stream=True, tools=tools)  # type: ignore[call-overload]
        streamed = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        async with door.chat.completions.stream(model="any", messages=QUESTION) as gathering:  # type: ignore[arg-type]
            gathered = (await gathering.get_final_completion()).choices[0].message.content
        raw = await door.chat.completions.with_raw_response.create(model="any", messages=QUESTION)  # type: ignore[arg-type]
    assert plain.choices[0].message.content == streamed == gathered == "".join(WORDS)
    assert plain.choices[0].message.tool_calls is None
    assert raw.headers["x-firstword-run"] == "run-4"


async def test_a_stream_that_was_silent_for_a_while_is_read_through() -> None:
    pace = Pace(comment_s=0.005)
    async with house(pace=pace) as at, openai.AsyncOpenAI(base_url=f"{at.base_url}/v1", api_key=at.grant()) as door:
        messages = [{"role": "user", "content": "hang after three"}]
        stream = await door.chat.completions.create(model="any", messages=messages, stream=True)  # type: ignore[call-overload]
        words = []
        async for chunk in stream:
            words.append(chunk.choices[0].delta.content or "")
            if len(words) == 4:
                asyncio.get_running_loop().call_later(0.03, at.core.go_on.set)
    assert "".join(words) == "".join(WORDS)


@pytest.mark.parametrize(
    ("text", "says"), [("breaks", "provider cut the answer off"), ("ends without an ending", "fault of the server")]
)
async def test_a_break_is_raised_by_the_client_with_our_words(text: str, says: str) -> None:
    async with house() as at, openai.AsyncOpenAI(base_url=f"{at.base_url}/v1", api_key=at.grant()) as door:
        messages = [{"role": "user", "content": text}]
        stream = await door.chat.completions.create(model="any", messages=messages, stream=True)  # type: ignore[call-overload]
        with pytest.raises(openai.APIError, match=says):
            _ = [chunk async for chunk in stream]


@pytest.mark.parametrize(
    ("key", "body", "raised", "says"),
    [
        ("no.grant", {}, openai.AuthenticationError, "grant is not valid"),
        (None, {"n": 3}, openai.BadRequestError, "one answer"),
        (None, {"messages": []}, openai.BadRequestError, "nothing a user said"),
    ],
    ids=["401", "400 n", "400 messages"],
)
async def test_a_refusal_is_the_clients_own_exception(
    key: str | None, body: dict[str, object], raised: type[Exception], says: str
) -> None:
    async with house() as at, openai.AsyncOpenAI(base_url=f"{at.base_url}/v1", api_key=key or at.grant()) as door:
        with pytest.raises(raised, match=says):
            await door.chat.completions.create(**{"model": "any", "messages": QUESTION, **body})  # type: ignore[call-overload]


async def test_a_failed_answer_is_not_asked_for_again_by_the_client() -> None:
    """It retries a 5xx twice unless it is told not to; the core has tried everybody already."""
    async with house() as at, openai.AsyncOpenAI(base_url=f"{at.base_url}/v1", api_key=at.grant()) as door:
        messages = [{"role": "user", "content": "fails at once"}]
        with pytest.raises(openai.InternalServerError, match="over capacity"):
            await door.chat.completions.create(model="any", messages=messages)  # type: ignore[arg-type]
    assert len(at.core.asks) == 1


async def test_models_are_the_bot_of_the_grant() -> None:
    async with house() as at, openai.AsyncOpenAI(base_url=f"{at.base_url}/v1", api_key=at.grant()) as door:
        assert [model.id async for model in door.models.list()] == ["guide"]
        assert (await door.models.retrieve("guide")).owned_by == "firstword"
        with pytest.raises(openai.NotFoundError):
            await door.models.retrieve("other")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
