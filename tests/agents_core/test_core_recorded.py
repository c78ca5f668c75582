"""Whole streams as they come over the wire, in both shapes, cut at every byte: the same words, calls, usage and fault.

`llama-cpp.sse` is a recording of the model that ships; the others are written as each server's documentation gives its
events.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_core import Profile, Question, Whole
from agents_core.errors import ProviderFault
from agents_core.providers.anthropic_shape import AnthropicAnswer
from agents_core.providers.stream import Answer
from agents_core.providers.wire import Heard

FOLDER = Path(__file__).with_name("streams")
STREAMS = {file.stem: file.read_bytes() for file in sorted(FOLDER.glob("*.sse"))}
TOOLS = tuple({"type": "function", "function": {"name": name}} for name in ("catalog", "about_me", "whats_on"))
# Words, calls as (id, name, arguments), tokens in and out (None where none were said), how it ended or whose fault.
EXPECTED: dict[str, tuple[str, list[tuple[str, str, str]], tuple[int, int] | None, str]] = {
    "anthropic-error-later": ("Half", [], None, "provider"),
    "anthropic-thought-and-calls": (
        "One moment.",
        [("toolu_1", "catalog", '{"phrase": "thé"}'), ("toolu_2", "about_me", "{}")],
        (125, 40),
        "tool_calls",
    ),
    "anthropic-words": ("Grüß Gott! 👋", [], (125, 9), "stop"),
    "azure-filter-first": ("Yes.", [], (5, 2), "stop"),
    "call-in-words": ("Let me look. \nTea costs 3.50.", [], None, "stop"),
    "cr-only-no-done": ("Old server.", [], None, "stop"),
    "llama-cpp": ("Zoë is a friendly and curious creature with a warm smile.", [], (40, 15), "stop"),
    "ollama-objects": (
        "",
        [("call_1", "catalog", '{"phrase": "tea"}'), ("call_2", "whats_on", "{}")],
        None,
        "tool_calls",
    ),
    "openai-error-later": ("Half an", [], None, "provider"),
    "openai-two-calls": (
        "",
        [("call_a", "catalog", '{"phrase":"café"}'), ("call_b", "about_me", "{}")],
        None,
        "tool_calls",
    ),
    "openai-words": ("Grüße an alle 👋🏽.", [], (17, 6), "stop"),
    "openrouter-crlf-comments": ("One two\u2028three", [], (4, 3), "stop"),
    "reasoning-beside": ("Four.", [], (9, 8), "stop"),
    "thought-in-words": ("\n\nIt is four.", [], None, "stop"),
}


def read(name: str, *pieces: bytes) -> tuple[str, list[tuple[str, str, str]], tuple[int, int] | None, str]:
    reading = AnthropicAnswer() if name.startswith("anthropic") else Answer()
    heard = Heard(reading, Question((), tools=TOOLS), Profile())
    words = ""
    try:
        for piece in pieces:
            for said in heard.push(piece):
                words += said
        said, whole = heard.end()
    except ProviderFault as fault:
        return words, [], None, fault.verdict.whose
    assert isinstance(whole, Whole)
    usage = whole.usage and (whole.usage.prompt_tokens, whole.usage.completion_tokens)
    return words + said, [(c.id, c.name, c.arguments) for c in whole.calls], usage, whole.finish_reason


def test_every_stream_has_what_it_comes_to() -> None:
    assert sorted(STREAMS) == sorted(EXPECTED)


@pytest.mark.parametrize("name", STREAMS)
def test_a_recorded_stream_cut_at_every_byte_comes_to_the_same(name: str) -> None:
    stream, expected = STREAMS[name], EXPECTED[name]
    assert read(name, stream) == expected
    for at in range(len(stream) + 1):
        assert read(name, stream[:at], stream[at:]) == expected, f"cut at byte {at}"
    assert read(name, *(bytes([byte]) for byte in stream)) == expected


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(STREAMS)), st.lists(st.integers(0, 6000), max_size=12))
def test_a_recorded_stream_cut_many_times_comes_to_the_same(name: str, cuts: list[int]) -> None:
    stream = STREAMS[name]
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    assert read(name, *(stream[a:b] for a, b in itertools.pairwise(edges))) == EXPECTED[name]


@pytest.mark.parametrize("name", [name for name, (_, _, _, end) in EXPECTED.items() if end != "provider"])
def test_a_stream_that_ends_too_soon_is_the_providers_fault_or_whole_as_it_stands(name: str) -> None:
    """Never a half answer that looks finished: until its end was said, being cut is a fault."""
    stream, expected = STREAMS[name], EXPECTED[name]
    for at in range(0, len(stream), 7):
        words, calls, usage, end = read(name, stream[:at])
        assert end == "provider" or (words, calls, end) == (expected[0], expected[1], expected[3]), f"at byte {at}"
        assert end != "provider" or (calls, usage) == ([], None)
        assert expected[0].startswith(words)
