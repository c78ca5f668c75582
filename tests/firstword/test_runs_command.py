"""`firstword runs`: the rows of answers, from another process than the one that makes them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agents_core import Ask
from agents_core.loop import Step
from agents_core.store import Store
from firstword.commands.runs import runs


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"sqlite+aiosqlite:///{tmp_path / 'firstword.db'}"
    monkeypatch.setenv("FIRSTWORD_DATABASE_URL", url)

    async def write() -> None:
        store = Store(url)
        held = await store.begin("over", Ask("guide", "Hello?", "ann", "ann", "r1"), "w1")
        step = Step(0, "model", text="Hi.", provider="told", model="told-1", spent=7)
        await store.finish(held, "done", ending="answered", answer="Hi.", steps=(step,))
        await store.begin("waiting", Ask("guide", "Hello?", "ann", "ann", "r1"))
        await store.close()

    asyncio.run(write())
    return url


def say(*words: str) -> Result:
    return CliRunner().invoke(runs, words)


def test_the_latest_are_listed_without_what_was_said(rows: str) -> None:
    told = json.loads(say("list", "--json").output)["runs"]
    assert [(run["id"], run["state"]) for run in told] == [("waiting", "todo"), ("over", "done")]
    assert "Hi." not in say("list").output
    assert len(say("list", "--limit", "1").output.splitlines()) == 1


def test_a_run_is_shown_step_by_step_with_what_it_cost(rows: str) -> None:
    told = json.loads(say("show", "over", "--json").output)
    assert (told["answer"], told["steps"][0]["spent"], told["steps"][0]["provider"]) == ("Hi.", 7, "told")
    assert say("show", "over").output.splitlines()[0] == "done, answered, attempt 1"
    assert "there is no run 'none'" in say("show", "none").output


def test_a_run_is_cancelled_once(rows: str) -> None:
    assert say("cancel", "waiting").output == "cancelled\n"
    assert say("cancel", "waiting").exit_code == 1
    assert "there is nothing to cancel" in say("cancel", "over").output


def test_only_what_is_over_is_forgotten_and_only_when_it_is_old(rows: str) -> None:
    assert say("forget", "--days", "1").output == "0 runs are gone\n"
    assert say("forget", "--days", "0").output == "1 runs are gone\n"
    assert [run["id"] for run in json.loads(say("list", "--json").output)["runs"]] == ["waiting"]
