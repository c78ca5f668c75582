"""Reading streams as servers really send them, cut anywhere."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_core.errors import ProviderFault
from agents_core.providers.brief import Brief
from agents_core.providers.hidden import Hidden
from agents_core.providers.stream import LINE_BYTES, Answer, Events, Lines


def chunk(delta: dict[str, Any] | None = None, *, finish: str | None = None, **more: Any) -> bytes:
    body = {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def call(**piece: Any) -> bytes:
    return chunk({"tool_calls": [piece]})


STOP, DONE = chunk({}, finish="stop"), b"data: [DONE]\n\n"
END = STOP + DONE
WORDS = chunk({"role": "assistant", "content": None}) + chunk({"content": "Hé"}) + chunk({"content": "llo 👋"})
HELLO = "Héllo 👋"
FUNCTION_AT_0 = [call(index=0, function={"name": "f", "arguments": f'{{"u":{n}}}'}) for n in range(4)]
NAMED_EACH_TIME = [call(index=0, id="a", function={"name": "add", "arguments": part}) for part in ('{"u"', ":", "1}")]

STREAMS: dict[str, tuple[bytes, str, list[tuple[str, str]]]] = {
    "plain": (WORDS + END, HELLO, []),
    "crlf": ((WORDS + END).replace(b"\n", b"\r\n"), HELLO, []),
    "cr": ((WORDS + END).replace(b"\n", b"\r"), HELLO, []),
    "comments-and-other-fields": (b"\xef\xbb\xbf: hi\n\nid: 1\nretry: 5\nevent: m\n" + WORDS + END, HELLO, []),
    "SA13-keep-alive-wrapped-as-data": (b"data: : keepalive\n\n" + WORDS + b"data:\n\n" + END, HELLO, []),
    "SA11-line-separators-are-text": (chunk({"content": "a\u2028b\u2029c\u0085d"}) + END, "a\u2028b\u2029c\u0085d", []),
    "SA9-no-choices-first-and-last": (
        chunk(choices=[]) + chunk(choices=None) + WORDS + STOP + chunk(choices=[], usage={"prompt_tokens": 3}) + DONE,
        HELLO,
        [],
    ),
    "no-blank-lines": ((WORDS + END).replace(b"\n\n", b"\n"), HELLO, []),
    "no-done": (WORDS + STOP, HELLO, []),
    "no-last-newline": ((WORDS + END).rstrip(b"\n"), HELLO, []),
    "several-finish-reasons": (WORDS + STOP + END, HELLO, []),
    "null-delta": (chunk(None) + WORDS + END, HELLO, []),
    "content-in-parts": (chunk({"content": [{"type": "text", "text": "Hi"}]}) + END, "Hi", []),
    "SA1-all-calls-at-index-0": (
        call(index=0, id="a", function={"name": "f", "arguments": "{}"})
        + call(index=0, id="b", function={"name": "g", "arguments": '{"u":1}'})
        + END,
        "",
        [("f", "{}"), ("g", '{"u":1}')],
    ),
    "SA3-no-ids-whole-objects": (b"".join(FUNCTION_AT_0) + END, "", [("f", f'{{"u":{n}}}') for n in range(4)]),
    "SA5-name-repeated": (b"".join(NAMED_EACH_TIME) + END, "", [("add", '{"u":1}')]),
    "SA7-arguments-as-objects": (
        call(index=0, function={"name": "f", "arguments": {"u": 1}})
        + call(index=0, function={"name": "g", "arguments": {}})
        + END,
        "",
        [("f", '{"u": 1}'), ("g", "{}")],
    ),
    "arguments-in-pieces-no-index": (
        call(id="a", function={"name": "f", "arguments": ""}) + call(function={"arguments": '{"u":1}'}) + END,
        "",
        [("f", '{"u":1}')],
    ),
    "blank-arguments": (call(index=1, id="a", function={"name": "f", "arguments": " "}) + END, "", [("f", "{}")]),
}


def read(pieces: list[bytes]) -> tuple[str, list[tuple[str, str]]]:
    events, answer, words = Events(), Answer(), ""
    for piece in pieces:
        words += "".join(answer.push(event) for event in events.push(piece))
    words += "".join(answer.push(event) for event in events.end())
    return words, [(call.name, call.arguments) for call in answer.whole().calls]


@pytest.mark.parametrize(("stream", "words", "calls"), [pytest.param(*case, id=name) for name, case in STREAMS.items()])
def test_a_stream_cut_at_any_byte_reads_the_same(stream: bytes, words: str, calls: list[tuple[str, str]]) -> None:
    assert read([stream]) == (words, calls)
    for at in range(len(stream) + 1):
        assert read([stream[:at], stream[at:]]) == (words, calls), f"cut at {at}"
    assert read([bytes([byte]) for byte in stream]) == (words, calls)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(STREAMS)), st.lists(st.integers(0, 2000), max_size=8))
def test_a_stream_cut_many_times_reads_the_same(name: str, cuts: list[int]) -> None:
    stream, words, calls = STREAMS[name]
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    assert read([stream[a:b] for a, b in itertools.pairwise(edges)]) == (words, calls)


@pytest.mark.parametrize(
    ("stream", "sentence"),
    [
        pytest.param(WORDS, "broke off", id="FK3-cut-without-an-end"),
        pytest.param(b"data: {oops\n\n", "not JSON", id="a-chunk-that-is-not-JSON"),
        pytest.param(b"data: [1]\n\n", "not an object", id="a-chunk-that-is-a-list"),
        pytest.param(
            b'data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
            "Overloaded",
            id="FK1-an-error-event",
        ),
        pytest.param(b"data: " + b"x" * (LINE_BYTES + 1), "longer than", id="a-huge-line"),
    ],
)
def test_a_broken_stream_is_the_providers_fault(stream: bytes, sentence: str) -> None:
    with pytest.raises(ProviderFault, match=sentence) as raised:
        read([stream])
    assert raised.value.verdict.whose == "provider"


def test_nothing_after_done_counts() -> None:
    assert read([WORDS + END + b"data: {oops\n\n" + WORDS]) == (HELLO, [])


def test_usage_is_kept_and_nonsense_in_it_is_not() -> None:
    answer = Answer()
    for event in Events().push(chunk(choices=[], usage={"prompt_tokens": 9, "completion_tokens": -1}) + END):
        answer.push(event)
    usage = answer.whole().usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (9, 0)


def test_lines_end_at_cr_lf_and_crlf_alone() -> None:
    lines = Lines()
    assert lines.push("a\rb\nc\r\nd\u2028e".encode()) == ["a", "b", "c"]
    assert lines.end() == ["d\u2028e"]


@pytest.mark.parametrize(
    ("written", "heard"),
    [
        pytest.param('Yes. <tool_call>{"name":"f"}</tool_call> Done.', "Yes.  Done.", id="SA15-a-call-in-the-words"),
        pytest.param("</tool_call>Yes.", "Yes.", id="SA15-an-orphan"),
        pytest.param("<function=f>{}</function>Ok", "Ok", id="SA15-a-function"),
        pytest.param("<think>hm</think>Ok", "Ok", id="a-thought"),
        pytest.param("<think>never ends", "", id="a-thought-without-end"),
        pytest.param("Ok [TOOL_CALLS][{}]", "Ok ", id="the-rest-is-calls"),
        pytest.param("1 < 2 and [a] <tooth>", "1 < 2 and [a] <tooth>", id="what-only-looks-like-it"),
        pytest.param("ends with <", "ends with <", id="a-beginning-that-was-none"),
    ],
)
def test_markup_is_never_heard_wherever_it_is_cut(written: str, heard: str) -> None:
    for at in range(len(written) + 1):
        hidden = Hidden()
        assert hidden.push(written[:at]) + hidden.push(written[at:]) + hidden.flush() == heard
    hidden = Hidden()
    assert "".join(map(hidden.push, written)) + hidden.flush() == heard


@pytest.mark.parametrize(
    ("written", "whole", "spoken"),
    [
        pytest.param("One. Two. Three.", True, "One. Two.", id="two-of-three"),
        pytest.param("One. Two is cut of", False, "One. ", id="the-second-was-cut-off"),
        pytest.param("One. Two is not", True, "One. Two is not", id="the-model-ended-it"),
        pytest.param("One is cut of", False, "One is cut of", id="the-only-one-was-cut-off"),
        pytest.param("It is 3.5 today. Yes.", True, "It is 3.5 today. Yes.", id="a-number-is-no-end"),
    ],
)
def test_a_small_model_is_brief_wherever_it_is_cut(written: str, whole: bool, spoken: str) -> None:
    for at in range(len(written) + 1):
        brief = Brief(2)
        assert brief.push(written[:at]) + brief.push(written[at:]) + brief.flush(whole=whole) == spoken
    brief = Brief(2)
    assert "".join(map(brief.push, written)) + brief.flush(whole=whole) == spoken


def test_the_first_sentence_is_not_held_back() -> None:
    assert Brief(2).push("Well, I") == "Well, I"


NAMES = ("catalog", "search_site", "whats_on")


@pytest.mark.parametrize(
    ("written", "heard"),
    [
        pytest.param('Let me see. catalog(phrase="red shoes") Yes.', "Let me see.  Yes.", id="name-and-arguments"),
        pytest.param("**whats_on**()\nTwo things.", "\nTwo things.", id="a-bold-name"),
        pytest.param('**search_site(query="a (b)")** Done.', " Done.", id="bold-around-the-call"),
        pytest.param('- search_site(query="x")\nOk.', "- \nOk.", id="a-bullet"),
        pytest.param('`catalog(phrase="x")` Ok.', " Ok.", id="in-code"),
        pytest.param('functions.catalog({"phrase": "x"}) Ok.', " Ok.", id="with-its-namespace"),
        pytest.param('catalog: {"phrase": "x"} Ok.', " Ok.", id="name-and-object"),
        pytest.param('Ok.\n{"name": "catalog", "arguments": {"phrase": "a}b"}}\nDone.', "Ok.\n\nDone.", id="bare-JSON"),
        pytest.param('[{"name": "catalog", "arguments": {}}] Ok.', " Ok.", id="a-list-of-JSON"),
        pytest.param('{"tool": "unknown", "parameters": {}}', "", id="JSON-of-an-unknown-tool"),
        pytest.param('```json\n{"name": "catalog", "arguments": {}}\n```\nOk.', "\nOk.", id="a-JSON-fence"),
        pytest.param('```tool_code\ncatalog(phrase="x")\n```Ok.', "Ok.", id="a-fenced-call"),
        pytest.param("[Calling catalog with red shoes] Ok.", " Ok.", id="a-bracketed-marker"),
        pytest.param("[tool_call: x] Ok.", " Ok.", id="a-bracketed-marker-of-nobody"),
        pytest.param('Action: catalog\nAction Input: {"phrase": "x"}\nOk.', "\n\nOk.", id="react"),
        pytest.param("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Ok.", "Ok.",
                     id="channels"),
        pytest.param("<Thinking>hm</THINKING>Ok.", "Ok.", id="capital-marks"),
        pytest.param("<think>a</think><think>b</think>Ok.", "Ok.", id="two-thoughts"),
        pytest.param('Ok. catalog(phrase="x', "Ok. ", id="broken-off-in-a-call"),
        pytest.param('Ok.\n{"name": "cat', "Ok.\n", id="broken-off-in-JSON"),
        pytest.param("The catalog (all of it) is big, catalog(s) too.",
                     "The catalog (all of it) is big, catalog(s) too.", id="an-english-word"),
        pytest.param("See [the catalog](/catalog), a *catalog* of {things}.",
                     "See [the catalog](/catalog), a *catalog* of {things}.", id="a-link-and-bold"),
        pytest.param('{"colour": "red"} is JSON, and so is {"name": "Ann"}.',
                     '{"colour": "red"} is JSON, and so is {"name": "Ann"}.', id="other-JSON"),
        pytest.param("```python\nprint(1)\n```", "```python\nprint(1)\n```", id="other-code"),
        pytest.param("Action is what we need. Input: none. To call is to act.",
                     "Action is what we need. Input: none. To call is to act.", id="words-that-begin-like-it"),
        pytest.param("It is in the catalog", "It is in the catalog", id="ends-with-a-name"),
        pytest.param("[1] and [2], `a`", "[1] and [2], `a`", id="citations"),
    ],
)  # fmt: skip
def test_calls_written_as_words_are_never_heard_wherever_they_are_cut(written: str, heard: str) -> None:
    def listen(*pieces: str) -> str:
        hidden = Hidden(NAMES)
        return "".join(map(hidden.push, pieces)) + hidden.flush()

    assert listen(written) == heard
    for at in range(len(written) + 1):
        assert listen(written[:at], written[at:]) == heard, f"cut at {at}"
    assert listen(*written) == heard


def test_a_model_whose_template_opens_the_thought_is_heard_after_it() -> None:
    hidden = Hidden(inside=True)
    assert hidden.push("so the an") + hidden.push("swer is</thi") + hidden.push("nk>Four.") + hidden.flush() == "Four."
    lost = Hidden(inside=True)
    assert lost.push("it never ends") + lost.flush() == ""


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(["catalog", "(", ")", "{", '"name"', ":", '"catalog"', "}", "```", "json", "\n", " ", "*", "**",
                         "[", "]", "Action:", "<think>", "</think>", "é", "word", "`", "x=1", "functions.", "<",
                         "tool"]),
        max_size=14,
    ),
    st.lists(st.integers(0, 80), max_size=6),
)  # fmt: skip
def test_what_is_heard_is_the_same_wherever_the_words_are_cut(parts: list[str], cuts: list[int]) -> None:
    written = "".join(parts)
    whole = Hidden(NAMES)
    heard = whole.push(written) + whole.flush()
    edges = [0, *sorted(min(cut, len(written)) for cut in cuts), len(written)]
    pieces = Hidden(NAMES)
    assert "".join(pieces.push(written[a:b]) for a, b in itertools.pairwise(edges)) + pieces.flush() == heard
