"""The core: bots as files, a pure decision, runs as rows, and one stream that ends once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_core import Ask, Ceilings, Core, Delta, Done, Event, Failed, ScriptProvider, Trace, UnknownBot, check_bots
from agents_core.loop import AskModel, CallTool, Finish, Run, Step, decide
from agents_core.providers.stream import Answer, Events
from agents_core.store import Store

GOOD = "---\nname: Guide\nsurfaces: [voice]\n---\nYou are the guide.\n"


def content(tmp_path: Path, **files: str) -> Path:
    folder = tmp_path / "content" / "bots"
    folder.mkdir(parents=True)
    for name, text in (files or {"guide": GOOD}).items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    return folder.parent


@pytest.fixture
async def core(tmp_path: Path) -> AsyncIterator[Core]:
    opened = await Core.open(
        content=content(tmp_path),
        database_url=f"sqlite+aiosqlite:///{tmp_path / 'core.db'}",
        providers=[ScriptProvider(stand_in="Nothing was scripted.")],
        sweep_s=0,
    )
    yield opened
    await opened.close()


def ask(text: str = "Hello?", *, script: tuple[str, ...] = ("One two three.",), bot: str = "guide") -> Ask:
    return Ask(bot=bot, text=text, asker="owner", subject="owner", room="r", script=script)


async def told(core: Core, question: Ask) -> list[Event]:
    return [event async for event in core.run_turn(question)]


async def test_a_run_answers_in_words_and_ends_once(core: Core) -> None:
    events = await told(core, ask())
    assert "".join(event.text for event in events if isinstance(event, Delta)) == "One two three."
    assert [type(event) for event in events if isinstance(event, Done | Failed)] == [Done]
    assert isinstance(events[-1], Done)
    (trace,) = [event for event in events if isinstance(event, Trace)]
    assert (trace.provider, trace.bot) == ("script", "guide")
    record = await core.record(trace.run)
    assert record is not None
    assert record.state == "done"


async def test_leaving_the_stream_cancels_the_run(core: Core) -> None:
    async with aclosing(core.run_turn(ask(script=("word " * 200,)))) as events:
        started = await anext(events)
        await anext(events)
    record = await core.record(started.run)
    assert record is not None
    assert record.state == "cancelled"


async def test_a_bot_that_is_not_there_is_refused_before_the_first_event(core: Core) -> None:
    with pytest.raises(UnknownBot):
        await told(core, ask(bot="nobody"))


async def test_rl1_two_hundred_rows_are_claimed_once_each_by_four_who_race(tmp_path: Path) -> None:
    store = Store(f"sqlite+aiosqlite:///{tmp_path / 'race.db'}")
    for n in range(200):
        await store.begin(f"run-{n}", ask())
    claimed: list[str] = []

    async def worker(name: str) -> None:
        while (held := await store.claim(name)) is not None:
            claimed.append(held.id)

    await asyncio.gather(*(worker(f"worker-{n}") for n in range(4)))
    await store.close()
    assert sorted(claimed) == sorted(f"run-{n}" for n in range(200))


CEILINGS = Ceilings(steps=3, spend=100, minutes=1.0)


@pytest.mark.parametrize(
    ("run", "steps", "now_s", "wanted"),
    [
        pytest.param(Run(CEILINGS, 0.0), (), 1.0, AskModel(), id="nothing yet"),
        pytest.param(Run(CEILINGS, 0.0, cancelled=True), (), 1.0, Finish("cancelled"), id="cancelled"),
        pytest.param(Run(CEILINGS, 0.0), (Step(0, "model", "Hi."),), 1.0, Finish("answered"), id="answered"),
        pytest.param(Run(CEILINGS, 0.0), (Step(0, "model", " "),), 1.0, Finish("nothing_to_add"), id="empty"),
        pytest.param(Run(CEILINGS, 0.0), (), 61.0, Finish("out_of_time"), id="late"),
        pytest.param(Run(Ceilings(0, 100, 1.0), 0.0), (), 1.0, Finish("out_of_steps"), id="no steps"),
        pytest.param(Run(Ceilings(3, 0, 1.0), 0.0), (), 1.0, Finish("out_of_money"), id="no money"),
    ],
)
def test_the_decision(run: Run, steps: tuple[Step, ...], now_s: float, wanted: object) -> None:
    assert decide(run, steps, now_s) == wanted


STEPS = st.lists(
    st.builds(
        Step,
        n=st.integers(0, 9),
        kind=st.sampled_from(["model", "tool"]),
        text=st.text(max_size=3),
        spent=st.integers(),
    ),
    max_size=6,
).map(tuple)


@given(steps=STEPS, now_s=st.floats(), began_s=st.floats(), cancelled=st.booleans())
@settings(max_examples=200)
def test_the_decision_never_raises(steps: tuple[Step, ...], now_s: float, began_s: float, cancelled: bool) -> None:
    decision = decide(Run(CEILINGS, began_s, cancelled), steps, now_s)
    assert isinstance(decision, AskModel | CallTool | Finish)
    if cancelled:
        assert decision == Finish("cancelled")


STREAM = (
    ': hello\r\n\r\ndata: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\r\n\r\n'
    'data: {"choices":[{"index":0,"delta":{"content":"Gr\u00fc\u00dfe, \u2028"}}]}\n\n'
    'data: {"choices":[]}\n\n'
    'data: {"choices":[{"index":0,"delta":{"content":"\u4f60\u597d"},"finish_reason":null}]}\n\n'
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
).encode()


def read(*parts: bytes) -> str:
    events, answer = Events(), Answer()
    words = "".join(answer.push(data) for part in parts for data in events.push(part))
    words += "".join(answer.push(data) for data in events.end())
    answer.whole()
    return words


@pytest.mark.parametrize("at", range(len(STREAM) + 1))
def test_sa11_a_stream_cut_at_any_byte_says_the_same(at: int) -> None:
    assert read(STREAM[:at], STREAM[at:]) == "Gr\u00fc\u00dfe, \u2028\u4f60\u597d"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param("---\nname: X\nsurfaces: [voice]\ntoools: 1\n---\nBody.\n", 4, "toools", id="unknown key"),
        pytest.param(
            "---\nname: X\nsurfaces: [support]\nvoice:\n  speed: 1.0\n---\nBody.\n", 4, "voice", id="no surface"
        ),
        pytest.param("---\nname: X\nsurfaces: [voice]\n", 1, "---", id="unclosed"),
        pytest.param(
            "---\nname: X\nsurfaces: [voice]\nvoice:\n  speed: 9.0\n---\nBody.\n", 5, "speed", id="out of range"
        ),
        pytest.param(
            "---\nname: X\nsurfaces: [voice]\ntools: [about_me]\n---\nBody.\n", 4, "tools", id="not acted on yet"
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    refusals = check_bots(content(tmp_path, good=GOOD, bad=text))
    assert [(Path(refusal.file).name, refusal.line) for refusal in refusals] == [("bad.md", line)]
    assert words in str(refusals[0])


def test_a_byte_order_mark_and_windows_lines_are_welcome(tmp_path: Path) -> None:
    assert check_bots(content(tmp_path, guide="\ufeff" + GOOD.replace("\n", "\r\n"))) == []


def test_the_bots_that_ship_are_well() -> None:
    assert check_bots(Path(__file__).parents[2] / "content") == []
