"""What a person says while the page connects is not lost."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted import LOUD, Script, wait_for

from web.browser import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


def loud_frames(script: Script) -> int:
    """How many of the frames of 20 ms that the server was sent are loud."""
    sent = [event["audio"] for event in script.seen if event["type"] == "input_audio_buffer.append"]
    return sum(np.abs(np.frombuffer(base64.b64decode(frame), dtype="<i2")).max() > LOUD * 32768 for frame in sent)


def said_and_then_a_server(page: Any, script: Script, *, ended_ms: int) -> None:
    """The words of the recording are over, so long after the microphone opened, before the server answers."""
    page.wait_for_selector("#mic[aria-label*='microphone off']")
    page.wait_for_timeout(ended_ms + 1_500)
    script.busy = False


def test_what_is_said_before_there_is_a_connection_is_sent_with_it(
    visit: Callable[..., Any], wav: Callable[..., Path], script: Script
) -> None:
    script.busy = True
    page = visit(wav((0.2, 1.2)))
    page.click("#start:enabled")
    said_and_then_a_server(page, script, ended_ms=1_200)
    page.wait_for_selector("#transcript li[data-role=user]")
    assert 35 <= loud_frames(script) <= 55
    assert script.kinds()[0] == "session.update"


def test_what_is_said_while_the_connection_is_lost_is_sent_when_it_is_back(
    visit: Callable[..., Any], wav: Callable[..., Path], script: Script
) -> None:
    page = visit(wav((5.0, 6.0)))
    page.click("#start:enabled")
    until(page, "document.body.dataset.state === 'listening'")
    script.busy = True
    script.drop()
    page.wait_for_selector("#notice:has-text('connection was lost')")
    said_and_then_a_server(page, script, ended_ms=6_000)
    page.wait_for_selector("#transcript li[data-role=user]")
    assert 35 <= loud_frames(script) <= 55


def test_a_button_held_and_let_go_before_there_is_a_connection_is_a_turn(
    visit: Callable[..., Any], wav: Callable[..., Path], script: Script
) -> None:
    script.busy = True
    page = visit(wav((0.0, 12.0)))
    page.evaluate("localStorage.setItem('firstword.settings', JSON.stringify({ way: 'push' }))")
    page.reload()
    page.click("#start:enabled")
    page.wait_for_selector("#mic[aria-label*='speak']")
    for _ in range(2):
        page.click("#mic")
        page.wait_for_timeout(1500)
    assert not script.seen
    script.busy = False
    wait_for(page, lambda: script.kinds()[-2:], gives=["input_audio_buffer.commit", "response.create"])
    assert loud_frames(script) > 0
