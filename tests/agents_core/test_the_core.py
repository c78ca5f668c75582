"""The core: bots as files, a pure decision, runs as rows, and one stream that ends once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

import agents_core
from agents_core import Ask, Core, Delta, Done, Event, Failed, ScriptProvider, Trace, UnknownBot, check_bots

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
        worker=False,
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
        pytest.param("---\nname: X\nsurfaces: [voice]\ntools: [fly]\n---\nBody.\n", 4, "fly", id="no such tool"),
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


def test_the_names_that_other_rooms_use() -> None:
    assert agents_core.__all__ == [
        "WINDOWS",
        "Act",
        "Alarm",
        "Answered",
        "AnthropicProvider",
        "Ask",
        "AskRefused",
        "Bot",
        "BotVoice",
        "Bots",
        "Busy",
        "Ceilings",
        "Component",
        "ContentRefused",
        "Core",
        "CoreError",
        "Deadline",
        "Delta",
        "Done",
        "Ending",
        "Event",
        "Failed",
        "Handed",
        "Line",
        "LocalProvider",
        "Memory",
        "MiniLM",
        "OpenAIProvider",
        "OverLimit",
        "Passages",
        "Patience",
        "Profile",
        "Provider",
        "ProviderFault",
        "Question",
        "Refusal",
        "ScriptProvider",
        "Started",
        "Tally",
        "Tool",
        "Trace",
        "Uncounted",
        "UnknownBot",
        "Usage",
        "Whole",
        "Words",
        "all_files",
        "check_bots",
        "compile_folder",
    ]
    assert all(hasattr(agents_core, name) for name in agents_core.__all__)
