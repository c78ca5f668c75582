"""The scribe while the database is away, locked, removed, killed and restarted: nothing is lost, all of it in order."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from database import Database
from firstword.testing.postgres import Postgres
from voice.kept import Kept
from voice.kept.lines import KeptLine, Note, overlaid
from voice.kept.scribe import Scribe


def note(n: int, text: str | None = None, item: int | None = None, thread: str = "t") -> Note:
    line = KeptLine(f"i{n if item is None else item}", "user", f"line {n}" if text is None else text, float(n))
    return Note(thread, "ada", "guide", "line 0", 0.0, line)


async def no_pause(_seconds: float) -> None:
    await asyncio.sleep(0)


class Desk:
    """Rows in memory. `faults` are raised by the next writes, one each; None lets a write through."""

    def __init__(self, faults: Sequence[Exception | None] = ()) -> None:
        self.faults = list(faults)
        self.lines: list[KeptLine] = []
        self.poison = ""

    async def write(self, notes: Sequence[Note]) -> None:
        await asyncio.sleep(0)
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, BrokenPipeError):
            # The commit went through and its answer was lost.
            self._put(notes)
        if fault is not None:
            raise fault
        if any(self.poison and self.poison in each.line.text for each in notes):
            raise ValueError("never")
        self._put(notes)

    def _put(self, notes: Sequence[Note]) -> None:
        self.lines = overlaid(self.lines, notes)

    async def bring_up(self) -> None:
        await asyncio.sleep(0)


AWAY = (ConnectionRefusedError, TimeoutError, BrokenPipeError)


@settings(max_examples=60, deadline=None)
@given(
    said=st.lists(st.tuples(st.integers(0, 8), st.text(alphabet="ab", max_size=3), st.booleans()), max_size=30),
    faults=st.lists(st.sampled_from([None, *AWAY]), max_size=12),
)
def test_whatever_fails_between_what_was_said_is_what_is_kept(
    said: list[tuple[int, str, bool]], faults: list[type[Exception] | None]
) -> None:
    async def talk() -> None:
        desk = Desk([fault() if fault else None for fault in faults])
        scribe = Scribe(desk, sleep=no_pause)
        scribe.start()
        notes = [note(n, text, item) for n, (item, text, _) in enumerate(said)]
        for each, (_, _, pause) in zip(notes, said, strict=True):
            scribe.take(each)
            if pause:
                await asyncio.sleep(0)
        await scribe.written()
        expected: list[KeptLine] = []
        for each in notes:
            expected = overlaid(expected, [each])
        assert sorted(line.item for line in desk.lines) == sorted(line.item for line in expected)
        assert {line.item: line.text for line in desk.lines} == {line.item: line.text for line in expected}
        await scribe.close()

    asyncio.run(talk())


async def test_lines_are_written_in_the_order_they_were_said() -> None:
    desk = Desk([ConnectionRefusedError() for _ in range(5)])
    scribe = Scribe(desk, sleep=no_pause)
    scribe.start()
    for n in range(500):
        scribe.take(note(n))
        await asyncio.sleep(0)
    await scribe.written()
    assert [line.text for line in desk.lines] == [f"line {n}" for n in range(500)]
    await scribe.close()


async def test_the_pause_grows_and_is_short_again_after_a_success() -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    desk = Desk([*[ConnectionRefusedError() for _ in range(9)], None, ConnectionRefusedError()])
    scribe = Scribe(desk, sleep=sleep)
    scribe.start()
    scribe.take(note(1))
    await scribe.written()
    scribe.take(note(2))
    await scribe.written()
    assert pauses[:9] == sorted(pauses[:9])
    assert pauses[0] < pauses[1] < pauses[2]
    assert max(pauses) <= 10.0
    assert pauses[9] == pauses[0]
    await scribe.close()


async def test_the_queue_is_bounded_and_what_waits_stays() -> None:
    desk = Desk()
    scribe = Scribe(desk, most=100, sleep=no_pause)
    for n in range(1_000):
        scribe.take(note(n))
    assert scribe.dropped == 900
    scribe.take(replace(note(5), line=KeptLine("i5", "user", "line 5 —", 5.0)))
    scribe.start()
    await scribe.written()
    assert [line.text for line in desk.lines] == [f"line {n}" if n != 5 else "line 5 —" for n in range(100)]
    assert scribe.dropped == 0
    await scribe.close()


async def test_one_line_that_can_never_be_written_does_not_hold_up_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    desk = Desk()
    desk.poison = "canary"
    scribe = Scribe(desk, sleep=no_pause)
    for n in range(10):
        scribe.take(note(n, "the canary" if n == 4 else None))
    scribe.start()
    await scribe.written()
    assert [line.text for line in desk.lines] == [f"line {n}" for n in range(10) if n != 4]
    assert "could not be kept" in caplog.text
    assert "canary" not in caplog.text
    await scribe.close()


def opened(url: str) -> Kept:
    names = iter(f"t{n}" for n in range(100))
    return Kept(Database(url), new_id=lambda: next(names), sleep=lambda _s: asyncio.sleep(0.02))


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.01)


async def texts(kept: Kept, thread: str = "t0") -> list[str]:
    return [line.text for line in (await kept.read("ada", thread))[1]]


async def test_talking_goes_on_while_postgresql_is_killed_and_its_lines_are_there_in_order(postgres: Postgres) -> None:
    postgres.start()
    kept = opened(postgres.fresh())
    await kept.open()
    talk = kept.begin("ada", "guide")
    for n in range(5):
        talk.said(f"i{n}", "user", f"line {n}")
    await kept.scribe.written()
    postgres.kill()
    for n in range(5, 40):
        talk.said(f"i{n}", "user", f"line {n}")
    talk.said("i4", "user", "line 4 —")
    await until(lambda: kept.scribe.away)
    postgres.start()
    async with asyncio.timeout(20):
        await kept.scribe.written()
    assert await texts(kept) == [f"line {n}" if n != 4 else "line 4 —" for n in range(40)]
    assert not kept.scribe.away
    await kept.close()


async def test_a_server_killed_again_and_again_loses_nothing_and_doubles_nothing(postgres: Postgres) -> None:
    postgres.start()
    kept = opened(postgres.fresh())
    await kept.open()
    talk = kept.begin("ada", "guide")
    said = 0
    for _ in range(4):
        for _ in range(150):
            talk.said(f"i{said}", "user", f"line {said}")
            said += 1
        # Killed with a transaction in flight, or not: whatever it comes to.
        await asyncio.sleep(0.01)
        postgres.kill()
        talk.said(f"i{said}", "user", f"line {said}")
        said += 1
        postgres.start()
    async with asyncio.timeout(30):
        await kept.scribe.written()
    assert await texts(kept) == [f"line {n}" for n in range(said)]
    await kept.close()


async def test_lines_wait_for_a_locked_sqlite_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("database.reach.BUSY_MS", 1)
    url = f"sqlite:///{tmp_path / 'here.db'}"
    kept, other = opened(url), Database(url)
    await kept.open()
    talk = kept.begin("ada", "guide")
    async with other.write():
        talk.said("i0", "user", "line 0")
        talk.said("i1", "user", "line 1")
        await until(lambda: kept.scribe.away)
    await kept.scribe.written()
    assert await texts(kept) == ["line 0", "line 1"]
    await kept.close()
    await other.close()


async def test_a_removed_sqlite_file_is_made_again_and_the_conversation_goes_on_in_it(tmp_path: Path) -> None:
    kept = opened(f"sqlite:///{tmp_path / 'folder' / 'here.db'}")
    await kept.open()
    talk = kept.begin("ada", "guide")
    talk.said("i0", "user", "line 0")
    await kept.scribe.written()
    shutil.rmtree(tmp_path / "folder")
    talk.said("i1", "user", "line 1")
    await until(lambda: kept.scribe.away)
    (tmp_path / "folder").mkdir()
    await kept.scribe.written()
    assert await texts(kept) == ["line 1"]
    assert [thread.title for thread in await kept.threads("ada")] == ["line 0"]
    await kept.close()


async def test_a_server_that_is_stopped_writes_its_last_lines(tmp_path: Path) -> None:
    kept = opened(f"sqlite:///{tmp_path / 'here.db'}")
    await kept.open()
    talk = kept.begin("ada", "guide")
    for n in range(200):
        talk.said(f"i{n}", "user", f"line {n}")
    await kept.close()
    again = opened(f"sqlite:///{tmp_path / 'here.db'}")
    await again.open()
    assert len(await texts(again)) == 200
    await again.close()


async def test_what_waits_reads_as_if_it_were_written(tmp_path: Path) -> None:
    kept = opened(f"sqlite:///{tmp_path / 'here.db'}")
    await kept.open()
    talk = kept.begin("ada", "guide")
    talk.said("i0", "user", "line 0")
    assert await texts(kept) == ["line 0"]
    talk.said("i1", "assistant", "An answer —")
    assert await texts(kept) == ["line 0", "An answer —"]
    await kept.close()
