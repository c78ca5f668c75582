"""The pictures of a conversation: taken while an answer sounds, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted import Script

from web.pictures import AnswerTooShort, shoot_speaking

pytestmark = [pytest.mark.browser, pytest.mark.timeout(90)]

QUESTION = "What is the first word?"


def test_a_picture_is_taken_while_the_answer_sounds(visit: Callable[..., Any], script: Script, tmp_path: Path) -> None:
    script.answer_s = 8.0
    page = visit()
    page.wait_for_selector("#start:enabled")
    shoot_speaking(page, QUESTION, tmp_path / "page.png")
    assert page.get_attribute("body", "data-state") == "speaking"
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")


def test_an_answer_too_short_for_a_picture_is_told(visit: Callable[..., Any], script: Script, tmp_path: Path) -> None:
    script.answer_s = 0.02
    page = visit()
    page.wait_for_selector("#start:enabled")
    with pytest.raises(AnswerTooShort, match=f"“{QUESTION.rstrip('?')}.* --ask"):
        shoot_speaking(page, QUESTION, tmp_path / "page.png")
    assert script.starts > 1
