"""One answer being made: its events, its rows, its endings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from core_house import BOT, Told, ask, content, told

from agents_core import Ceilings, Core, Delta, Done, Failed, Line, Profile, Started, Trace, Usage, Whole
from agents_core.errors import AskRefused, LeaseLost, OverLimit, Verdict
from agents_core.loop import Call, Step
from agents_core.reckoning import cost, lower
from agents_core.store import Store

Opens = Callable[..., Awaitable[Core]]


@pytest.fixture
async def opens(tmp_path: Path) -> AsyncIterator[Opens]:
    cores: list[Core] = []

    async def open_(*providers: Told, bot: str = BOT, **more: object) -> Core:
        core = await Core.open(
            content=content(tmp_path / "site", guide=bot),
            database_url=f"sqlite+aiosqlite:///{tmp_path / 'db' / 'core.db'}",
            providers=providers,
            **{"worker": False, **more},
        )
        cores.append(core)
        return core

    yield open_
    for core in cores:
        await core.close()


def words(events: list[object]) -> str:
    return "".join(event.text for event in events if isinstance(event, Delta))


def endings(events: list[object]) -> list[object]:
    return [event for event in events if isinstance(event, Done | Failed)]


async def test_an_answer_is_started_said_traced_and_done(opens: Opens) -> None:
    core = await opens(Told(["Hel", "lo.", Whole(usage=Usage(9, 2))]))
    events = await told(core, ask())
    assert [type(event) for event in events] == [Started, Delta, Delta, Trace, Done]
    assert words(events) == "Hello."
    assert events[-1] == Done("answered", Usage(9, 2))
    trace = events[-2]
    assert (trace.provider, trace.model, trace.steps) == ("told", "told-model", 1)
    record = await core.record(events[0].run)
    assert (record.state, record.ending, record.answer, record.attempt) == ("done", "answered", "Hello.", 1)


async def test_a_bad_call_is_an_error_for_the_model_to_read(opens: Opens) -> None:
    provider = Told([Whole((Call("c1", "launch", "{}"),))], ["No such thing."])
    events = await told(await opens(provider), ask())
    assert words(events) == "No such thing."
    *_, called, answered = provider.asked[1].messages
    assert called["tool_calls"][0]["function"]["name"] == "launch"
    assert "no tool named 'launch'" in answered["content"]


async def test_a_model_that_only_calls_tools_runs_out_of_steps(opens: Opens) -> None:
    provider = Told([Whole((Call("c1", "launch", "{}"),))])
    events = await told(await opens(provider), ask(ceilings=Ceilings(steps=4)))
    assert [ending.ending for ending in endings(events)] == ["out_of_steps"]
    assert "as many steps as I may" in words(events)
    assert len(provider.asked) == 2


async def test_money_is_counted_against_what_answered(opens: Opens) -> None:
    dear = Profile(prompt_price=1000, completion_price=2000)
    provider = Told([Whole((Call("c1", "launch", "{}"),), usage=Usage(10, 5))], profile=dear)
    events = await told(await opens(provider), ask(ceilings=Ceilings(spend=20)))
    assert [ending.ending for ending in endings(events)] == ["out_of_money"]


@pytest.mark.parametrize("after", [1, 2, 3], ids=["once-started", "after-a-word", "after-two-words"])
async def test_leaving_cancels_the_run_and_closes_the_provider(opens: Opens, after: int) -> None:
    provider = Told(["one ", "two ", "hang"])
    core = await opens(provider)
    async with aclosing(core.run_turn(ask())) as turn:
        events = [await anext(turn) for _ in range(after)]
    record = await core.record(events[0].run)
    assert (record.state, record.ending) == ("cancelled", "cancelled")
    assert record.answer == words(events)
    assert provider.closed == len(provider.asked)


async def test_a_task_that_is_cancelled_while_the_model_thinks_leaves_a_cancelled_row(opens: Opens) -> None:
    provider = Told(["hang"])
    core = await opens(provider)
    runs: list[str] = []

    async def listen() -> None:
        async with aclosing(core.run_turn(ask())) as turn:
            runs.append((await anext(turn)).run)
            await anext(turn)

    task = asyncio.create_task(listen())
    while not (provider.asked and runs):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await core.record(runs[0])).state == "cancelled"
    assert provider.closed == 1


@pytest.mark.parametrize("where", ["here", "in another process"])
async def test_a_cancel_ends_an_answer_that_a_model_is_thinking_about(opens: Opens, tmp_path: Path, where: str) -> None:
    provider = Told(["Well, ", "hang"])
    core = await opens(provider)
    other = Store(f"sqlite+aiosqlite:///{tmp_path / 'db' / 'core.db'}")
    events = []
    async for event in core.run_turn(ask()):
        events.append(event)
        if isinstance(event, Delta) and len(events) == 2:
            assert await (core if where == "here" else other).cancel(events[0].run)
    assert [ending.ending for ending in endings(events)] == ["cancelled"]
    assert provider.closed == 1
    record = await core.record(events[0].run)
    assert (record.state, record.answer) == ("cancelled", "Well, ")
    assert [(step.text, step.cut) for step in await other.steps(record.id)] == [("Well, ", True)]
    assert not await core.cancel(events[0].run)
    await other.close()


@pytest.mark.parametrize("costs", [True, False], ids=["bought", "for nothing"])
async def test_a_cancel_before_the_model_is_asked_buys_nothing_and_says_nothing(opens: Opens, costs: bool) -> None:
    provider = Told(["never"], costs=costs)
    core = await opens(provider, live=True)
    events = []
    async for event in core.run_turn(ask()):
        if isinstance(event, Started):
            assert await core.cancel(event.run)
        events.append(event)
    assert [ending.ending for ending in endings(events)] == ["cancelled"]
    assert "never" not in words(events)
    # One that costs nothing may have been asked while the row was written; it is let go of.
    assert provider.closed == len(provider.asked)
    assert not (costs and provider.asked)


async def test_the_room_hears_the_ending_and_the_asker_the_reason(opens: Opens) -> None:
    bot = BOT.replace("surfaces", "endings: { failed: I lost it. }\nsurfaces")
    core = await opens(Told(["Well, ", Verdict("provider", 0, "the machine is on fire")]), bot=bot)
    events = await told(core, ask())
    assert words(events) == "Well, … I lost it."
    assert endings(events) == [Failed("the machine is on fire", "provider")]
    record = await core.record(events[0].run)
    assert (record.state, record.reason) == ("failed", "the machine is on fire")


async def test_a_holder_that_was_overtaken_writes_nothing_more(opens: Opens, tmp_path: Path) -> None:
    core = await opens(Told(["one ", "two "]), lease_s=-1.0)  # a lease that is over before it begins
    other = Store(f"sqlite+aiosqlite:///{tmp_path / 'db' / 'core.db'}")
    events = []
    async for event in core.run_turn(ask()):
        events.append(event)
        if isinstance(event, Started):
            held = await other.claim("other")
    assert [type(ending) for ending in endings(events)] == [Failed]
    record = await other.record(held.id)
    assert (record.state, record.fence, record.answer) == ("doing", 2, None)
    assert await other.steps(held.id) == ()
    await other.close()


async def test_a_run_whose_process_died_is_finished_by_another_and_not_begun_again(
    opens: Opens, tmp_path: Path
) -> None:
    dead = Store(f"sqlite+aiosqlite:///{tmp_path / 'db' / 'core.db'}", lease_s=-1.0)
    held = await dead.begin("run-1", ask(), "dead")
    await dead.renew(held, Step(0, "model", calls=(Call("c1", "launch", "{}"),)))
    provider = Told(["Done."])
    core = await opens(provider)
    assert await core.sweep() == 1
    record = await core.record("run-1")
    assert (record.state, record.answer, record.attempt) == ("done", "Done.", 2)
    assert [step.n for step in await dead.steps("run-1")] == [0, 1, 2]
    assert len(provider.asked) == 1
    with pytest.raises(LeaseLost):
        await dead.finish(held, "done")
    await dead.close()


async def test_a_closing_core_claims_nothing_rl5(opens: Opens) -> None:
    core = await opens(Told(["Hi."]))
    await core.close()
    assert await core.sweep() == 0
    with pytest.raises(AskRefused):
        await told(core, ask())


async def test_what_was_said_before_is_given_unless_the_bot_forgets(opens: Opens) -> None:
    said = (Line("assistant", "Hello, I am the guide."), Line("user", "Hi."), Line("assistant", "Yes?"))
    for bot, roles in (
        (BOT, ["system", "user", "assistant", "user"]),
        (BOT.replace("surfaces", "memory: none\nsurfaces"), ["system", "user"]),
    ):
        provider = Told(["Ok."])
        await told(await opens(provider, bot=bot), ask(history=said))
        assert [message["role"] for message in provider.asked[0].messages] == roles


async def test_a_bot_for_those_signed_in_and_a_surface_it_lacks_are_refused(opens: Opens) -> None:
    core = await opens(Told(["Hi."]), bot=BOT.replace("surfaces", "for: [authenticated]\nsurfaces"))
    with pytest.raises(AskRefused, match="signed in"):
        await told(core, replace(ask(), asker=""))
    with pytest.raises(AskRefused, match="surface"):
        await told(core, replace(ask(), surface="support"))


def test_the_smaller_of_two_ceilings_holds_each_by_itself() -> None:
    assert lower(Ceilings(1, 20, 3.0), Ceilings(2, 10, 4.0)) == Ceilings(1, 10, 3.0)


def test_a_cost_is_whole_millionths_rounded_up_rl9() -> None:
    assert cost(Usage(1, 0), Profile(prompt_price=1)) == 1
    assert sum(cost(Usage(1000, 0), Profile(prompt_price=100)) for _ in range(10)) == 1000


DEAR = Profile(prompt_price=0, completion_price=1_000_000)


async def test_a_bots_limits_hold_for_a_person_and_what_is_not_used_is_free_again(opens: Opens) -> None:
    bot = BOT.replace("surfaces", "limits: { spend: 0.20, per: { minute: 0.10, day: 0.15 } }\nsurfaces")
    provider = Told(["Hi.", Whole(usage=Usage(1, 60))], profile=DEAR)  # six hundredths an answer
    core = await opens(provider, bot=bot)
    async with aclosing(core.run_turn(ask())) as first:
        await anext(first)
        with pytest.raises(OverLimit, match="in a minute"):
            await told(core, ask())
        ben = await told(core, replace(ask(), asker="ben", subject="ben"))
        assert words(ben) == "Hi."
        rest = [event async for event in first]
    assert words(rest) == "Hi."
    assert (await core.spent("ann", "guide"))["minute"] == 60_000
    assert words(await told(core, ask())) == "Hi."  # begun with four hundredths left, and it is paid for
    with pytest.raises(OverLimit, match="in a minute"):
        await told(core, ask())
    assert len(provider.asked) == 3


async def test_what_costs_nothing_keeps_nobody_waiting(opens: Opens) -> None:
    bot = BOT.replace("surfaces", "limits: { per: { minute: 0.01 } }\nsurfaces")
    core = await opens(Told(["Hi."]), bot=bot)
    async with aclosing(core.run_turn(ask())) as first:
        await anext(first)
        assert words(await told(core, ask())) == "Hi."
    assert (await core.spent("ann", "guide"))["minute"] == 0


async def test_an_answer_that_is_left_costs_what_was_said_of_it(opens: Opens) -> None:
    bot = BOT.replace("surfaces", "limits: { per: { day: 9 } }\nsurfaces")
    core = await opens(Told(["twelve chars", "hang"], profile=DEAR), bot=bot)
    async with aclosing(core.run_turn(ask())) as turn:
        await anext(turn)
        assert (await anext(turn)).text == "twelve chars"
        assert (await core.spent("ann", "guide"))["day"] == 500_000
    assert (await core.spent("ann", "guide"))["day"] == 3_000


async def test_a_usage_that_is_nonsense_is_counted_by_the_words(opens: Opens) -> None:
    """A server that writes its -1 without a sign; what that would cost fits into no database."""
    bot = BOT.replace("surfaces", "limits: { spend: 0.20, per: { minute: 0.10 } }\nsurfaces")
    core = await opens(Told(["Hi there.", Whole(usage=Usage(9, 2**64 - 1))], profile=DEAR), bot=bot)
    events = await told(core, ask())
    assert events[-1] == Done("answered", replace(events[-1].usage, completion_tokens=2, estimated=True))
    assert (await core.record(events[0].run)).state == "done"
    assert (await core.spent("ann", "guide"))["minute"] == 2_000


async def test_a_leaving_that_is_broken_off_lets_go_of_the_run(opens: Opens) -> None:
    core = await opens(Told(["hang"]))
    under_way = asyncio.Event()

    async def finish(*_given: object, **_named: object) -> None:
        under_way.set()
        await asyncio.Event().wait()

    core._store.finish = finish  # type: ignore[method-assign, assignment]
    asking = asyncio.create_task(told(core, ask()))
    async with asyncio.timeout(30):
        while not core._keeper._grips:
            await asyncio.sleep(0)
        asking.cancel()
        await under_way.wait()
        asking.cancel()
        await asyncio.wait({asking})
    assert core._keeper._grips == {}


class Asked:
    """A site that counts how often it is asked who somebody is, and cannot say it where `fault` is set."""

    def __init__(self) -> None:
        self.asked, self.fault = 0, False

    async def held(self, person: str) -> frozenset[str]:
        self.asked += 1
        if self.fault:
            raise TimeoutError(f"nobody answers who {person} is")
        return frozenset({"anyone"})

    async def about(self, person: str) -> dict[str, object]:
        return {}


async def test_a_site_is_asked_once_who_somebody_is_and_where_it_cannot_say_no_row_is_left(opens: Opens) -> None:
    site = Asked()
    core = await opens(Told(["Hi."]), people=site)
    assert words(await told(core, ask())) == "Hi."
    assert site.asked == 1
    site.fault = True
    with pytest.raises(TimeoutError, match="nobody answers"):
        await told(core, ask())
    assert [record.state for record in await core._store.recent()] == ["done"]
