"""docs/commands.md says what a command does: its file is compiled, and every line of its table is asked."""

from __future__ import annotations

import re
from pathlib import Path

from core_house import BOT

from agents_core.audience import holding
from agents_core.library import Bots

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text("utf-8")


def test_the_page_shows_a_command_that_is_served_and_what_it_makes_of_what_is_typed(tmp_path: Path) -> None:
    (file,) = re.findall(r"This is `(commands/\S+\.md)`", PAGE)
    (text,) = re.findall(r"```\n(---.*?)```", PAGE, re.S)
    for name, words in {"bots/sous-chef.md": BOT, file: text}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(words, "utf-8")
    bots = Bots(tmp_path, clock=lambda: 0.0)
    assert bots.refusals == ()
    given = bots.offer(bots["sous-chef"], holding("ann"))
    rows = dict(re.findall(r"^\| `(/.*?)` \| (.*?) \|$", PAGE, re.M))
    assert len(rows) == 5
    assert {typed: given.asked(typed, "voice") for typed in rows} == rows
