"""The model is asked while the run's row is being written, where that buys nothing and nothing can refuse the run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest
from core_house import BOT, Told, ask, content, told

from agents_core import Ask, AskRefused, Ceilings, Core, Delta, Question, Started, Trace, Whole, Words

PER = BOT.replace("surfaces: [voice]\n", "surfaces: [voice]\nlimits:\n  per:\n    day: 100000\n")
REMEMBERS = BOT.replace("surfaces: [voice]\n", "surfaces: [voice]\nmemory: person\n")
TICKETS = BOT.replace("surfaces: [voice]\n", "surfaces: [voice]\ntools: raise_ticket\n")
DEADLINE_S = 30.0


class SlowRow:
    """The core's own `begin`, which waits to be told; `under_way` is set once it was called."""

    def __init__(self, core: Core) -> None:
        self.under_way, self.go_on = asyncio.Event(), asyncio.Event()
        self.fault: Exception | None = None
        self._begin = core._store.begin
        core._store.begin = self.begin  # type: ignore[method-assign]

    async def begin(self, *given: object, **named: object) -> object:
        self.under_way.set()
        await self.go_on.wait()
        if self.fault:
            raise self.fault
        return await self._begin(*given, **named)  # type: ignore[arg-type]


@asynccontextmanager
async def opened(folder: Path, provider: Told, bot: str = BOT) -> AsyncIterator[tuple[Core, SlowRow]]:
    url = f"sqlite+aiosqlite:///{folder / 'core.db'}"
    core = await Core.open(
        content=content(folder, guide=bot), database_url=url, providers=[provider], live=True, worker=False
    )
    # No outage, however long it takes: the row is only slow.
    core._beginning._soon = lambda beginning: _waited(beginning)  # type: ignore[method-assign, assignment]
    try:
        yield core, SlowRow(core)
    finally:
        await core.close()


async def _waited(beginning: asyncio.Task[object]) -> bool:
    await asyncio.wait({beginning})
    return True


async def asked_once(provider: Told) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not provider.asked:
            await asyncio.sleep(0)


async def test_the_model_reads_while_the_row_is_written_and_says_nothing_before_it_is(tmp_path: Path) -> None:
    provider = Told(["Nine."])
    async with opened(tmp_path, provider) as (core, row):
        events = core.run_turn(ask())
        first = asyncio.create_task(anext(events))
        await asked_once(provider)
        await asyncio.wait({first}, timeout=0.05)
        assert not first.done()
        row.go_on.set()
        async with asyncio.timeout(DEADLINE_S), aclosing(events):
            started = await first
            assert isinstance(started, Started)
            assert [event.text async for event in events if isinstance(event, Delta)] == ["Nine."]
        assert len(provider.asked) == 1
        record = await core.record(started.run)
        assert (record.state, record.answer) == ("done", "Nine.")


class Posts(Told):
    """Hands its question to a task of its own, as aiohttp does with a body."""

    def __init__(self, order: list[str]) -> None:
        super().__init__(["Nine."])
        self._order = order

    async def ask(self, question: Question) -> AsyncGenerator[Words | Whole, None]:
        posting = asyncio.create_task(self._post())
        async with aclosing(super().ask(question)) as chunks:
            async for chunk in chunks:
                yield chunk
        await posting

    async def _post(self) -> None:
        self._order.append("the question")


async def test_the_question_is_on_its_way_before_the_row_is_begun(tmp_path: Path) -> None:
    order: list[str] = []
    async with opened(tmp_path, Posts(order)) as (core, row):
        slow = core._store.begin
        row.go_on.set()

        async def begin(*given: object, **named: object) -> object:
            order.append("the row")
            return await slow(*given, **named)  # type: ignore[arg-type]

        core._store.begin = begin  # type: ignore[method-assign, assignment]
        await told(core, ask())
    assert order == ["the question", "the row"]


@pytest.mark.parametrize(
    ("bot", "question", "costs"),
    [
        (BOT, ask(), True),
        (PER, ask(), False),
        (REMEMBERS, ask(), False),
        (BOT, ask(ceilings=Ceilings(spend=0)), False),
        (BOT, ask(script=("Said.",)), False),
    ],
    ids=["what costs", "limits", "remembers", "no money", "a script"],
)
async def test_nobody_is_asked_before_the_row_where(tmp_path: Path, bot: str, question: Ask, costs: bool) -> None:
    provider = Told(["Nine."], costs=costs)
    async with opened(tmp_path, provider, bot) as (core, row):
        turn = asyncio.create_task(told(core, question))
        async with asyncio.timeout(DEADLINE_S):
            await row.under_way.wait()
            for _ in range(20):
                await asyncio.sleep(0)
            assert provider.asked == []
            row.go_on.set()
            await turn


async def test_leaving_before_the_row_is_there_closes_the_model(tmp_path: Path) -> None:
    provider = Told(["hang"])
    async with opened(tmp_path, provider) as (core, _):
        turn = asyncio.create_task(told(core, ask()))
        await asked_once(provider)
        turn.cancel()
        await asyncio.wait({turn})
        assert turn.cancelled()
        assert provider.closed == 1


async def test_a_row_that_cannot_be_written_closes_the_model(tmp_path: Path) -> None:
    provider = Told(["hang"])
    async with opened(tmp_path, provider) as (core, row):
        row.fault = ValueError("no such column")
        row.go_on.set()
        with pytest.raises(ValueError, match="no such column"):
            await told(core, ask())
        assert provider.closed == len(provider.asked) == 1


async def test_without_a_row_the_answer_that_is_read_already_is_the_one_that_is_given(tmp_path: Path) -> None:
    provider = Told(["Nine."])
    async with opened(tmp_path, provider) as (core, row):
        row.fault = ConnectionRefusedError("away")
        row.go_on.set()
        events = await told(core, ask())
        assert [event.text for event in events if isinstance(event, Delta)] == ["Nine."]
        assert not next(event for event in events if isinstance(event, Trace)).recorded
        assert len(provider.asked) == 1


async def test_what_was_asked_with_a_tool_that_needs_a_row_is_let_go_of_and_asked_without_it(tmp_path: Path) -> None:
    provider = Told(["hang"], ["Nine."])
    async with opened(tmp_path, provider, TICKETS) as (core, row):
        turn = asyncio.create_task(told(core, ask()))
        await asked_once(provider)
        row.fault = ConnectionRefusedError("away")
        row.go_on.set()
        events = await turn
        assert [event.text for event in events if isinstance(event, Delta)] == ["Nine."]
        assert [[tool["function"]["name"] for tool in one.tools] for one in provider.asked] == [["raise_ticket"], []]
        assert provider.closed == 2


async def test_a_row_that_is_written_in_the_moment_of_leaving_is_nobodys_to_answer(tmp_path: Path) -> None:
    provider = Told(["hang"])
    async with opened(tmp_path, provider) as (core, row):
        turn = asyncio.create_task(told(core, ask()))
        await asked_once(provider)
        written = core._store.begin

        async def begin(*given: object, **named: object) -> object:
            held = await written(*given, **named)  # type: ignore[arg-type]
            turn.cancel()
            return held

        core._store.begin = begin  # type: ignore[method-assign]
        turn.cancel()
        await asyncio.wait({turn})
        row.go_on.set()
        turn = asyncio.create_task(told(core, ask()))
        await asyncio.wait({turn})
        assert turn.cancelled()
        assert [record.state for record in await core._store.recent()] == ["cancelled"]


async def test_whoever_asks_while_the_process_stops_is_told_so(tmp_path: Path) -> None:
    provider = Told(["hang"])
    async with opened(tmp_path, provider) as (core, _):
        turn = asyncio.create_task(told(core, ask()))
        await asked_once(provider)
        await core.close()
        with pytest.raises(AskRefused, match="is stopping"):
            await turn
