"""The limits of a session on real sockets and virtual time: what ends it and what is refused, in which words."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from voice_house import House, serve
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from firstword.testing.clock import run_virtually
from voice import Limits


def clock() -> float:
    return asyncio.get_running_loop().time()


def served(limits: Limits, later_s: list[float] | None = None) -> contextlib.AbstractAsyncContextManager[House]:
    """A server on the loop's virtual time, and `later_s` seconds after it."""
    return serve(limits=limits, clock=lambda: clock() + sum(later_s or ()))


@contextlib.asynccontextmanager
async def talking(house: House, subject: str = "ada") -> AsyncIterator[ClientConnection]:
    headers = {"Authorization": f"Bearer {house.grant(subject)}"}
    address = f"{house.base_url.replace('http', 'ws')}/v1/realtime"
    async with connect(address, additional_headers=headers, ping_interval=None) as socket:
        await socket.recv()
        await socket.send('{"type": "session.update", "session": {"type": "realtime"}}')
        yield socket


async def refused(house: House, subject: str = "ada") -> InvalidStatus:
    with pytest.raises(InvalidStatus) as no:
        async with talking(house, subject):
            pass
    return no.value


async def ended(socket: ClientConnection) -> tuple[float, int, str]:
    """How long it lasted from now, and the close code and its words."""
    began = clock()
    with contextlib.suppress(ConnectionClosed):
        async for _ in socket:
            pass
    assert socket.close_code is not None
    return clock() - began, socket.close_code, socket.close_reason or ""


async def write(socket: ClientConnection, text: str) -> None:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    session = {"firstword": {"events": True}, "output_modalities": ["text"]}
    for event in (
        {"type": "session.update", "session": session},
        {"type": "conversation.item.create", "item": item},
        {"type": "response.create"},
    ):
        await socket.send(json.dumps(event))


def words_of(no: InvalidStatus) -> dict[str, Any]:
    return dict(json.loads(no.response.body or b"{}")["error"])


def test_five_minutes_without_a_word_end_a_conversation_in_words() -> None:
    async def main() -> None:
        async with served(Limits()) as house, talking(house) as socket:
            lasted_s, code, words = await ended(socket)
            assert code == 1000
            assert "nobody has said a word" in words
            assert 300 <= lasted_s <= 310

    run_virtually(main())


def test_a_connection_on_which_nothing_comes_is_closed_in_words_and_frees_its_place() -> None:
    async def main() -> None:
        async with served(Limits(sessions=1)) as house:
            headers = {"Authorization": f"Bearer {house.grant()}"}
            address = f"{house.base_url.replace('http', 'ws')}/v1/realtime"
            async with connect(address, additional_headers=headers, ping_interval=None) as socket:
                lasted_s, code, words = await ended(socket)
                assert code == 1008
                assert "nothing came" in words
                assert 5 <= lasted_s < 10
            async with talking(house):
                pass

    run_virtually(main())


def test_a_word_begins_the_five_minutes_again() -> None:
    async def main() -> None:
        async with served(Limits()) as house, talking(house) as socket:
            await asyncio.sleep(290)
            await write(socket, "Still here.")
            lasted_s, _, words = await ended(socket)
            assert "nobody has said a word" in words
            assert 300 <= lasted_s <= 310

    run_virtually(main())


def test_an_hour_is_the_longest_however_much_is_said() -> None:
    async def main() -> None:
        async with served(Limits()) as house, talking(house) as socket:

            async def go_on() -> None:
                for n in range(20):
                    await write(socket, f"Word {n}.")
                    await asyncio.sleep(200)

            talk = asyncio.create_task(go_on())
            lasted_s, code, words = await ended(socket)
            talk.cancel()
            assert code == 1000
            assert "longest time" in words
            assert 3600 <= lasted_s <= 3610

    run_virtually(main())


def test_the_minutes_of_a_day_end_a_conversation_and_refuse_the_next() -> None:
    async def main() -> None:
        later_s: list[float] = []
        async with served(Limits(day_s=120.0), later_s) as house:
            async with talking(house) as socket:
                lasted_s, code, words = await ended(socket)
                assert code == 1000
                assert words.startswith("your 2 minutes of talking in 24 hours are spent")
                assert 120 <= lasted_s <= 130
            no = await refused(house)
            assert no.response.status_code == 429
            assert no.response.headers["x-should-retry"] == "false"
            assert "do not retry" in words_of(no)["message"]
            async with talking(house, "bo"):
                pass
            later_s.append(25 * 3600.0)
            async with talking(house):
                pass

    run_virtually(main())


def test_a_full_house_says_when_to_try_again_and_ones_own_limit_that_trying_is_useless() -> None:
    async def main() -> None:
        async with served(Limits(sessions=1, per_person=1)) as house, talking(house):
            full = await refused(house, "bo")
            assert (full.response.status_code, full.response.headers["x-should-retry"]) == (429, "true")
            assert int(full.response.headers["Retry-After"]) > 0
            mine = await refused(house)
            assert (mine.response.status_code, mine.response.headers["x-should-retry"]) == (429, "false")
            assert "Retry-After" not in mine.response.headers

    run_virtually(main())


def test_a_browser_can_ask_why_and_takes_no_place_by_asking() -> None:
    async def main() -> None:
        async with served(Limits(sessions=1)) as house, httpx2.AsyncClient(trust_env=False) as client:
            address = f"{house.base_url}/v1/realtime"
            headers = {"Authorization": f"Bearer {house.grant()}"}
            for _ in range(5):
                free = await client.get(address, headers=headers)
                assert (free.status_code, free.json()["error"]["code"]) == (426, "upgrade_required")
            async with talking(house):
                full = await client.get(address, headers=headers)
                assert (full.status_code, full.headers["x-should-retry"]) == (429, "true")
            assert (await client.get(address, headers={"Authorization": "Bearer nobody's"})).status_code == 401

    run_virtually(main())


def test_l8_connections_that_come_and_go_leave_every_place_free() -> None:
    async def main() -> None:
        async with served(Limits(sessions=2, per_person=2)) as house:
            for _ in range(40):
                async with talking(house):
                    pass
            async with talking(house), talking(house):
                assert (await refused(house)).response.status_code == 429

    run_virtually(main())


def test_an_operator_can_count_the_conversations_that_are_open() -> None:
    async def talk() -> None:
        async with served(Limits()) as house:
            counted = [house.places.taken]
            async with talking(house), talking(house, "grace"):
                counted.append(house.places.taken)
            while house.places.taken:
                await asyncio.sleep(0.01)
            assert counted == [0, 2]

    run_virtually(talk())
