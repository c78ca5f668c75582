"""A conversation and what is kept of it, on real loopback sockets and a real database."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from voice_house import House, Serve
from websockets.asyncio.client import ClientConnection, connect

from database import Database
from firstword.testing.postgres import Postgres
from firstword.testing.voices import ToneEngine
from voice import BotVoice
from voice.kept import Kept


@contextlib.asynccontextmanager
async def opened(url: str) -> AsyncIterator[Kept]:
    kept = Kept(Database(url), sleep=lambda _s: asyncio.sleep(0.02))
    await kept.open()
    yield kept
    await kept.close()


@pytest.fixture
async def kept(tmp_path: Path) -> AsyncIterator[Kept]:
    async with opened(f"sqlite:///{tmp_path / 'here.db'}") as there:
        yield there


class Client:
    """A client of the Realtime shape that says what is kept of it."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.session: dict[str, Any] = {}

    async def send(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def until(self, kind: str) -> list[dict[str, Any]]:
        """Events up to and including the first of `kind`."""
        seen: list[dict[str, Any]] = []
        async with asyncio.timeout(20):
            while not seen or seen[-1]["type"] != kind:
                seen.append(json.loads(await self.socket.recv()))
        return seen

    async def update(self, **ours: Any) -> list[dict[str, Any]]:
        await self.send("session.update", session={"firstword": {"events": True, **ours}})
        seen = await self.until("session.updated")
        self.session = seen[-1]["session"]["firstword"]
        return seen

    async def write(self, text: str, item: str | None = None) -> None:
        """A typed line that wants an answer."""
        part = {"type": "input_text", "text": text}
        named = {"id": item} if item else {}
        told = {"type": "message", "role": "user", "content": [part], **named}
        await self.send("conversation.item.create", item=told)
        await self.send("response.create")

    async def ask(self, text: str) -> None:
        """The same, and wait until all of the answer was played."""
        await self.write(text)
        await self.until("response.done")
        while (await self.until("firstword.state"))[-1]["state"] != "listening":
            pass


@contextlib.asynccontextmanager
async def talking(house: House, subject: str = "ada") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {house.grant(subject)}"}
    async with connect(f"{house.base_url.replace('http', 'ws')}/v1/realtime", additional_headers=headers) as socket:
        client = Client(socket)
        await client.until("session.created")
        yield client


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.01)


async def lines(kept: Kept, thread: str) -> list[tuple[str, str]]:
    await kept.scribe.written()
    return [(line.role, line.text) for line in (await kept.read("ada", thread))[1]]


async def test_each_line_is_kept_as_it_is_said(serve: Serve, kept: Kept) -> None:
    async with serve(["It is ", "noon."], kept=kept) as house, talking(house) as client:
        await client.update()
        thread = client.session["thread"]
        await client.ask("What time is it?")
        assert await lines(kept, thread) == [("user", "What time is it?"), ("assistant", "It is noon.")]
        assert [each.title for each in await kept.threads("ada", "guide")] == ["What time is it?"]


async def test_a_session_without_a_word_leaves_no_thread(serve: Serve, kept: Kept) -> None:
    greets = BotVoice(greeting="Ask me anything.")
    async with serve(kept=kept, bot=greets) as house, talking(house) as client:
        await client.update(greet=True)
        await client.until("response.done")
    await kept.scribe.written()
    assert await kept.threads("ada") == []


async def test_h1_what_is_kept_of_an_interrupted_answer_is_what_was_heard(serve: Serve, kept: Kept) -> None:
    slow = ToneEngine(seconds_per_char=0.05)
    answer = ["One two three four five six seven eight nine ten, and on it goes for very long."]
    async with serve(answer, kept=kept, engine=slow) as house, talking(house) as client:
        await client.update()
        await client.write("Count.")
        await client.until("response.output_audio.delta")
        for _ in range(40):
            await client.until("response.output_audio.delta")
        await client.send("response.cancel")
        await client.until("response.done")
        told = await lines(kept, client.session["thread"])
        assert told[0] == ("user", "Count.")
        assert told[1][0] == "assistant"
        assert told[1][1].endswith("—")
        assert answer[0].startswith(told[1][1].removesuffix("—"))


async def test_what_was_heard_stands_where_the_client_leaves_in_mid_answer(serve: Serve, kept: Kept) -> None:
    slow = ToneEngine(seconds_per_char=0.05)
    answer = ["One two three four five six seven eight nine ten, and on it goes for very long."]
    async with serve(answer, kept=kept, engine=slow) as house:
        async with talking(house) as client:
            await client.update()
            thread = client.session["thread"]
            await client.write("Count.")
            for _ in range(40):
                await client.until("response.output_audio.delta")
        await until(lambda: house.listener.closed)
        told = await lines(kept, thread)
        assert len(told) == 2
        assert told[1][1].endswith("—")


async def test_a_reopened_thread_is_what_the_model_sees(serve: Serve, kept: Kept) -> None:
    async with serve(["Ada."], ["You are Ada."], kept=kept) as house:
        async with talking(house) as client:
            await client.update()
            thread = client.session["thread"]
            await client.ask("I am Ada.")
        async with talking(house) as client:
            # The question goes out with the update: it waits until the thread has been read.
            updating = {"firstword": {"events": True, "thread": thread}}
            await client.send("session.update", session=updating)
            await client.write("Who am I?")
            seen = await client.until("response.done")
            assert [event["session"]["firstword"] for event in seen if event["type"] == "session.updated"] == [
                {"events": True, "preempt": True, "thread": thread, "lines": 2}
            ]
        assert [line["content"] for line in house.door.asked[1]["messages"]] == ["I am Ada.", "Ada.", "Who am I?"]
        told = await lines(kept, thread)
        assert [text for _, text in told][:3] == ["I am Ada.", "Ada.", "Who am I?"]
        assert len(await kept.threads("ada")) == 1


async def test_not_yours_and_not_there_are_the_same_words_and_talking_goes_on(serve: Serve, kept: Kept) -> None:
    async with serve(["Fine."], ["Fine."], ["Fine."], kept=kept) as house:
        async with talking(house) as client:
            await client.update()
            hers = client.session["thread"]
            await client.ask("Mine alone.")
        refusals = []
        for subject, thread in (("bo", hers), ("bo", "thread_of_nobody")):
            async with talking(house, subject) as client:
                seen = await client.update(thread=thread)
                refusals.append([event["error"] for event in seen if event["type"] == "error"])
                assert client.session["thread"] not in (hers, thread)
                await client.ask("May I?")
        assert refusals[0] == refusals[1]
        assert refusals[0][0]["code"] == "thread_not_there"
        assert house.door.asked[1]["messages"] == [{"role": "user", "content": "May I?"}]
        assert await lines(kept, hers) == [("user", "Mine alone."), ("assistant", "Fine.")]


async def test_a_thread_comes_before_anything_is_said(serve: Serve, kept: Kept) -> None:
    async with serve(["One."], kept=kept) as house, talking(house) as client:
        await client.update()
        await client.ask("First?")
        seen = await client.update(thread="thread_another")
        assert any("before anything is said" in event["error"]["message"] for event in seen if event["type"] == "error")


async def test_lines_told_again_under_their_ids_are_not_kept_twice(serve: Serve, kept: Kept) -> None:
    async with serve(["Yes."], ["Sure."], kept=kept) as house:
        async with talking(house) as client:
            await client.update()
            thread = client.session["thread"]
            await client.write("Are you there?", "item_mine")
            await client.until("response.done")
            while (await client.until("firstword.state"))[-1]["state"] != "listening":
                pass
        async with talking(house) as client:
            await client.update(thread=thread)
            await client.write("Are you there?", "item_mine")
            await client.until("response.done")
        told = await lines(kept, thread)
        assert [text for role, text in told if role == "user"] == ["Are you there?"]


async def test_without_kept_conversations_a_thread_is_refused_and_talking_goes_on(serve: Serve) -> None:
    async with serve(["Hello."]) as house, talking(house) as client:
        seen = await client.update(thread="thread_any")
        assert [event["error"]["code"] for event in seen if event["type"] == "error"] == ["thread_not_there"]
        assert "thread" not in client.session
        await client.ask("Hello?")


async def test_killing_the_database_in_mid_conversation_stops_nobody_and_loses_nothing(
    serve: Serve, postgres: Postgres
) -> None:
    postgres.start()
    answers = [[f"Answer {n}."] for n in range(4)]
    async with opened(postgres.fresh()) as kept, serve(*answers, kept=kept) as house, talking(house) as client:
        await client.update()
        thread = client.session["thread"]
        await client.ask("Question 0?")
        await kept.scribe.written()
        postgres.kill()
        await client.ask("Question 1?")
        await client.ask("Question 2?")
        assert kept.scribe.away
        async with talking(house) as other:
            seen = await other.update(thread=thread)
            assert [event["error"]["code"] for event in seen if event["type"] == "error"] == ["thread_away"]
            assert (other.session["thread"], other.session["lines"]) == (thread, None)
        postgres.start()
        await client.ask("Question 3?")
        told = [text for n in range(4) for text in (f"Question {n}?", f"Answer {n}.")]
        assert [text for _, text in await lines(kept, thread)] == told
