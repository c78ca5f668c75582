"""What a provider, a model or a tool wrote: halves of letters, NUL, and JSON without a floor."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from core_house import Told, ask, content, told
from hypothesis import given
from hypothesis import strategies as st

from agents_core import Core, Delta, Profile, ProviderFault, Question
from agents_core.foreign import Letters, letters, read_json
from agents_core.providers.classify import said
from agents_core.providers.stream import Answer
from agents_core.providers.wire import Heard

DEEP = "[" * 100_000


@given(st.text(), st.sets(st.integers(0, 40)))
def test_words_that_are_cut_by_the_units_of_utf_16_come_out_as_they_were(words: str, cuts: set[int]) -> None:
    units = words.encode("utf-16-le")
    at = [0, *sorted(cut * 2 for cut in cuts if cut * 2 < len(units)), len(units)]
    pieces = [units[a:b].decode("utf-16-le", "surrogatepass") for a, b in pairwise(at)]
    whole = Letters()
    assert "".join(map(whole.push, pieces)) + whole.flush() == words.replace("\0", "")


@given(st.text(st.characters(), max_size=20))
def test_whatever_comes_can_be_written_down(words: str) -> None:
    pieces = Letters()
    assert "\0" not in letters(words).encode().decode()
    assert "".join(map(pieces.push, words)) + pieces.flush() == letters(words)


def test_a_half_that_stays_alone_is_a_mark_and_nothing_else_is_lost() -> None:
    pieces = Letters()
    assert [*map(pieces.push, ("a\ud83d", "b", "\udc1f", "c\ud83d")), pieces.flush()] == [
        "a", "\ufffdb", "\ufffd", "c", "\ufffd",
    ]  # fmt: skip


def test_an_emoji_that_a_server_cut_in_two_is_heard_whole() -> None:
    heard = Heard(Answer(), Question(()), Profile())
    stream = (
        b'data: {"choices":[{"delta":{"content":"A fish \\ud83d"}}]}\n\n'
        b'data: {"choices":[{"delta":{"content":"\\udc1f!"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    )
    assert "".join(heard.push(stream)) + heard.end()[0] == "A fish 🐟!"


async def test_an_answer_with_half_a_letter_or_a_nul_in_it_is_kept(tmp_path: Path) -> None:
    core = await Core.open(
        content=content(tmp_path),
        database_url=f"sqlite+aiosqlite:///{tmp_path / 'core.db'}",
        providers=[Told(["A fish \ud83d", "\udc1f\0, and \ud83d."])],
        worker=False,
    )
    events = await told(core, ask())
    assert any(isinstance(event, Delta) for event in events)
    record = await core.record(events[0].run)
    await core.close()
    assert (record.state, record.answer) == ("done", "A fish 🐟, and \ufffd.")


def test_json_without_a_floor_is_no_json() -> None:
    with pytest.raises(ValueError, match="too deep"):
        read_json(DEEP)
    assert said(f'{{"error": {DEEP}') == '{"error": ' + "[" * 290
    with pytest.raises(ProviderFault, match="not JSON") as raised:
        list(Heard(Answer(), Question(()), Profile()).push(f"data: {DEEP}\n\n".encode()))
    assert raised.value.verdict.whose == "provider"
