from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written import written

from firstword.testing.clock import VirtualClock
from tts import Speakable, speakable
from tts.words import is_speakable

CHANGE = [
    pytest.param(
        "Here is **the first clause, continuing bold**.", "Here is the first clause, continuing bold.", id="T16"
    ),
    pytest.param("<think>x</think>Hi.", "Hi.", id="T21"),
    pytest.param("<think>never closed", "", id="TT3-unclosed"),
    pytest.param("🎉🎉", "", id="T23"),
    pytest.param("an *odd* one", "an odd one", id="T25"),
    pytest.param("# Title\nBody here.", "Title\n\nBody here.", id="TT1-heading"),
    pytest.param("- one\n- two\n\nEnd.", "one\n\ntwo\n\nEnd.", id="list"),
    pytest.param("- [ ] todo\n- [x] done", "todo\n\ndone", id="tasks"),
    pytest.param("> quoted\n> more", "quoted\nmore", id="quote"),
    pytest.param("| a | b |\n|---|---|\n| c | d |\nAfter.", "a, b\n\nc, d\n\nAfter.", id="table"),
    pytest.param("See [the docs](https://x.example/z) and ![a map](u.png).", "See the docs and a map.", id="link"),
    pytest.param("Go to https://www.example.com/a?b=c. Then", "Go to example.com. Then", id="url"),
    pytest.param("At http://127.0.0.1:80/x now", "At a link now", id="url-without-a-name"),
    pytest.param("claim [1]. More[^2] text [12, 13].", "claim. More text.", id="citations"),
    pytest.param("```python\nprint(1)\n```\nDone.", "Code, on the screen.\n\nDone.", id="code-block"),
    pytest.param("Use `x = 1` now", "Use x = 1 now", id="code"),
    pytest.param('{"name": "f", "arguments": {"a": 1}}', "", id="tool-call-json"),
    pytest.param('<tool_call>{"x": 1}</tool_call>Hi', "Hi", id="tool-call-tag"),
    pytest.param("今天很好🎉。你好", "今天很好。你好", id="emoji-in-cjk"),
    pytest.param("👨‍👩‍👧 all ✓ │ ok", "all ok", id="joined-emoji-and-boxes"),
    pytest.param("***both*** and ~~gone~~ and ==lit==", "both and gone and lit", id="emphasis"),
    pytest.param("a <b>bold</b> move", "a bold move", id="html"),
]

STAY = [
    pytest.param("test_case_one, 3 * 7 = 21, __dunder__ and ~~ alone", id="T18"),
    pytest.param("5*3, snake_case, 5 < 10, C#, 2 ** 3, a == b", id="marks"),
    pytest.param("1986. A great year", id="year"),
    pytest.param("今天天气很好。我们去公园吧！", id="cjk"),
    pytest.param("क्‍ष और ज्ञ", id="joiner-in-a-letter"),
    pytest.param("Wait <th", id="half-a-tag"),
    pytest.param("A [bracket] (stays). Hi!", id="brackets"),
    pytest.param('{"a": 1} is a set', id="json-that-is-no-call"),
    pytest.param("**never closed and `neither", id="unclosed"),
    pytest.param("A → B, #1 and #tag at x@y.z", id="read-by-engines"),
    pytest.param("  two  spaces \n and\n\nlines ", id="spaces"),
]


def _written() -> Iterator[tuple[str, str, str]]:
    """(kind, text, what is read) for each line of `filter.txt` and `filter-more.txt`."""
    kind = ""
    for line in written("filter"):
        if line.startswith("[") and line.endswith("]") and " ⇒" not in line:
            kind = line.strip("[]")
        elif line and not line.startswith("//"):
            text, arrow, read = line.replace("¶", "\n").partition(" ⇒")
            yield kind, text, read[1:] if arrow else text


WRITTEN = [pytest.param(text, read, id=f"{kind}: {text[:24]}") for kind, text, read in _written()]


@pytest.mark.parametrize(("text", "read"), WRITTEN)
def test_marks_go_and_words_stay(text: str, read: str) -> None:
    assert speakable(text) == read


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11, 50])
def test_marks_go_whatever_the_sizes_of_the_deltas(size: int) -> None:
    for _, text, read in _written():
        assert in_deltas(text, [size] * len(text)) == read, text


@pytest.mark.parametrize(("text", "read"), CHANGE)
def test_what_must_change_does(text: str, read: str) -> None:
    assert speakable(text) == read


@pytest.mark.parametrize("text", STAY)
def test_what_must_stay_stays(text: str) -> None:
    assert speakable(text) == text


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11, 50])
@pytest.mark.parametrize("text", [*[pytest.param(case.values[0], id=case.id) for case in CHANGE], *STAY])
def test_the_sizes_of_the_deltas_change_nothing(text: str, size: int) -> None:
    assert in_deltas(text, [size] * len(text)) == speakable(text)


MARKS = """
* ** _ ` ``` ~~ <think> </think> < [ ]( ) ] | --- ! { } $ $$ \\( \\) &amp; & [think] [/think] <function> </function>
<!--
--> |> [1]: Action: --- <| 【1】 <br> ^2 a@b.example> ( =
""".split()  # noqa: SIM905
WORDS = [
    "word",
    "h",
    "www.",
    "https://a.example/b",
    "🎉",
    "你好",
    "3",
    ".",
    "\\",
    "\u200b",
    "--- | ---",
    "Action Input:",
]
BREAKS = [" ", "\n", "\n\n", "- ", "# ", "1. ", "> ", '"']
MARKUP = st.lists(st.sampled_from([*MARKS, *WORDS, *BREAKS]), max_size=24).map("".join)


@given(text=MARKUP, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12))
@settings(max_examples=300, deadline=None)
def test_any_markup_cut_anywhere_reads_the_same(text: str, sizes: list[int]) -> None:
    assert in_deltas(text, sizes) == speakable(text)


@pytest.mark.parametrize("opener", ["`", "[", "<tool", "**", '{"name": ', "```", "http", "|", "#", "!["])
def test_what_is_held_is_bounded_in_characters(opener: str) -> None:
    text = opener + "word " * 900
    assert in_deltas(text, [7]) == speakable(text)
    cleaner = Speakable()
    given_back = "".join(cleaner.push(text[start : start + 50]) for start in range(0, len(text), 50))
    assert "word" in given_back or opener == "```"


def test_what_is_held_is_let_go_after_two_seconds() -> None:
    clock = VirtualClock()
    cleaner = Speakable(clock=clock)
    assert cleaner.push("See [the") == "See"
    assert cleaner.due(clock.forward(1.9)) == ""
    assert cleaner.due(clock.forward(0.2)) == " [the"


def test_reasoning_is_not_let_go_with_time() -> None:
    clock = VirtualClock()
    cleaner = Speakable(clock=clock)
    assert cleaner.push("<think>secret") == ""
    assert cleaner.due(clock.forward(60)) == ""
    assert cleaner.push(" thought" * 900 + "</think>Hi.") == "Hi."


def test_a_tag_in_two_deltas_is_a_tag() -> None:
    assert in_deltas("<think>a</think>b", [3, 4, 1, 8]) == "b"


def test_marks_alone_have_nothing_to_say() -> None:
    assert not is_speakable(speakable("🎉 ** … ─── ✓"))


def in_deltas(text: str, sizes: list[int]) -> str:
    cleaner = Speakable()
    out, at, n = "", 0, 0
    while at < len(text):
        size = sizes[n % len(sizes)]
        out += cleaner.push(text[at : at + size])
        at, n = at + size, n + 1
    return out + cleaner.flush()
