"""Calls and what they came to, kept together.

Not a translation: it works on messages in OpenAI's shape, before anybody's. Every provider refuses a call without a
result and a result without its call, and both come to be: a history is cut, a run dies between the two. The one rule:
what is given to a provider holds each call once, with its result right behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

INTERRUPTED = "error: this was interrupted before it came to anything"


def paired(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages, with a result for every call and no result without one."""
    given: list[dict[str, Any]] = []
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if message["role"] == "tool":
            continue  # its call is not there any more
        given.append(message)
        calls = message.get("tool_calls") or ()
        if not calls:
            continue
        results: dict[str, dict[str, Any]] = {}
        while at < len(messages) and messages[at]["role"] == "tool":
            results.setdefault(messages[at].get("tool_call_id", ""), messages[at])
            at += 1
        for call in calls:
            missing = {"role": "tool", "tool_call_id": call["id"], "content": INTERRUPTED}
            given.append(results.get(call["id"], missing))
    return given
