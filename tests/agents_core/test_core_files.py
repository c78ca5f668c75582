"""Bots as files: what is read, what is refused and where, and what goes on being served."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from core_house import BOT, ask, content

from agents_core import Bots, Ceilings, ContentRefused, Line, Profile, check_bots
from agents_core.compile import compile_folder
from agents_core.examples import lead, length, like, take_out
from agents_core.prompt import fixed, question, system, version

HEAD = "---\nname: X\nsurfaces: [voice]\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(HEAD + "limit: {}\n---\nB", [(4, "`limit`", "Did you mean `limits`?")], id="did-you-mean"),
        pytest.param(HEAD + "voice:\n  speeed: 1.0\n---\nB", [(5, "voice.speeed", "`speed`")], id="in-a-block"),
        pytest.param(HEAD + "zzz: 1\n---\nB", [(4, "`zzz`", "name, surfaces, for")], id="nothing-like-it"),
        pytest.param(
            HEAD + "skills: [a]\n---\nB", [(4, "no skill `a`", "There are all, body-law-money")], id="no-skill"
        ),
        pytest.param(HEAD + "tools: [about_mee]\n---\nB", [(4, "no tool", "Did you mean `about_me`?")], id="no-tool"),
        pytest.param(HEAD + "tools: catalog\n---\nB", [(4, "nothing to read", "catalog.toml")], id="a-tool-of-nothing"),
        pytest.param(HEAD + "for: [teir:gold]\n---\nB", [(4, "did you mean `tier:gold`", "The words")], id="audience"),
        pytest.param(HEAD + "serves: role\n---\nB", [(4, "names no role", "`role:`")], id="audience-of-no-name"),
        pytest.param(HEAD + "hears: [mention]\n---\nB", [(4, "wake it at a mention", "Take it out")], id="a-trigger"),
        pytest.param(
            HEAD + "hears:\n  - schedule: { every: week, on: [monday], at: 10:00 }\n---\nB",
            [(5, "wake it at a time", "Take it out")],
            id="FM3-a-schedule",
        ),
        pytest.param(HEAD + "answers: draft\n---\nB", [(4, "no desk", "directly")], id="a-draft-for-nobody"),
        pytest.param(HEAD + "offer: always\n---\nB", [(4, "no desk", "off")], id="an-offer-to-nobody"),
        pytest.param(HEAD + "offer: off\nanswers: directly\nhears: []\n---\nB", [], id="FM3-off-is-a-word"),
        pytest.param(HEAD + "memory: persn\n---\nB", [(4, "persn", "did you mean `person`?")], id="a-memory"),
        pytest.param(
            HEAD + "limits: { per: { yaer: 1 } }\n---\nB", [(4, "limits.per.yaer", "minute, hour")], id="no-window"
        ),
        pytest.param("---\nname: 1.10\nsurfaces: [voice]\n---\nB", [(2, "`1.10`", '"1.10"')], id="FM9-a-version"),
        pytest.param("---\nname: 0123\nsurfaces: [voice]\n---\nB", [(2, "`0123`", '"0123"')], id="FM9-a-number"),
        pytest.param(HEAD + "model: {{date}}\n---\nB", [(4, "front matter", "")], id="FM7-two-braces"),
        pytest.param(HEAD + "extends: nobody\n---\nB", [(4, "no bot `nobody`", "`good`")], id="extends-nobody"),
        pytest.param(HEAD + "extends: bad\n---\nB", [(4, "extends itself", "Take")], id="extends-itself"),
        pytest.param(
            "---\nname: X\nsurfaces: [support]\nvoice: {}\n---\nB",
            [(4, "`surfaces:` does not have `voice`", "take the `voice:`")],
            id="voice-without-its-surface",
        ),
        pytest.param("---\nname: 5\n---\nB", [(2, "`5`, which is not text", '"5"'), (2, "surfaces", "Add")], id="two"),
        pytest.param(HEAD + "voice: { visual: barr }\n---\nB", [(4, "barr", "did you mean `bar`?")], id="a-choice"),
        pytest.param(HEAD + "limits: { steps: 0 }\n---\nB", [(4, "limits.steps", "from 1")], id="out-of-range"),
        pytest.param(HEAD + "limits: { steps: yes }\n---\nB", [(4, "whole number", "digits")], id="yes-is-text"),
        pytest.param(HEAD + "voice: { voices: amy }\n---\nB", [(4, "not a list", "[amy]")], id="not-a-list"),
        pytest.param("---\nname: X\nsurfaces: [telephone]\n---\nB", [(3, "telephone", "`voice`")], id="no-surface"),
        pytest.param(HEAD + "name: Y\n---\nB", [(4, "written twice", "one")], id="twice"),
        pytest.param(HEAD + "voice: &v {}\n---\nB", [(4, "&v", "Write the value out")], id="an-anchor"),
        pytest.param(HEAD + "model: !!python/none x\n---\nB", [(4, "type of its own|YAML", "")], id="a-type"),
        pytest.param(HEAD + "a: [\n---\nB", [(5, "not YAML", "")], id="broken-yaml"),
        pytest.param("name: X\n", [(1, "does not begin", "---")], id="no-front-matter"),
        pytest.param(HEAD, [(1, "never closed", "---")], id="unclosed"),
        pytest.param("---\n- a\n---\nB", [(2, "not a list of keys", "name")], id="a-list"),
        pytest.param(HEAD + "---\n\n", [(5, "body is empty", "")], id="no-body"),
        pytest.param("\ufeff" + HEAD.replace("\n", "\r\n") + "---\r\nBody.\r\n", [], id="bom-and-crlf"),
        pytest.param(HEAD + "endings:\n  failed: 'no: on, off'\n---\nB", [], id="words-of-yaml-1.1"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, found: list[tuple[int, str, str]]) -> None:
    refusals = check_bots(content(tmp_path, bad=text, good=BOT))
    assert [(refusal.file, refusal.line) for refusal in refusals] == [("bots/bad.md", line) for line, _, _ in found]
    for refusal, (line, what, instead) in zip(refusals, found, strict=True):
        assert any(word in refusal.what for word in what.split("|"))
        assert instead in refusal.instead
        assert str(refusal).startswith(f"bots/bad.md:{line}: ")


def test_every_refusal_of_every_file_comes_at_once(tmp_path: Path) -> None:
    folder = content(tmp_path, a=HEAD + "x: 1\ny: 2\n---\nB", b="no", **{"Bad Name": BOT})
    (folder / "bots" / "c.markdown").write_text(BOT, "utf-8")
    (folder / "bots" / "d.md").write_bytes(b"---\nname: \xff\n---\nB")
    (folder / "house.toml").write_text('[endings]\nfialed = "x"\n', "utf-8")
    assert [(refusal.file, refusal.line) for refusal in check_bots(folder)] == [
        ("bots/Bad Name.md", 1),
        ("bots/a.md", 4),
        ("bots/a.md", 5),
        ("bots/b.md", 1),
        ("bots/c.markdown", 1),
        ("bots/d.md", 2),
        ("house.toml", 2),
    ]


def test_a_bot_is_its_file_and_the_houses_words(tmp_path: Path) -> None:
    text = HEAD + "limits: { spend: 0.1 }\nvoice: { gap: 0.2 }\nendings: { failed: Oh. }\n---\nYou are X.\n"
    folder = content(tmp_path, x=text)
    (folder / "house.toml").write_text('[endings]\nout_of_time = "Late."\n', "utf-8")
    compiled = compile_folder(folder)
    bot = compiled.bots["x"]
    assert compiled.refusals == ()
    assert bot.ceilings == Ceilings(12, 100_000, 10.0)
    assert bot.voice is not None
    assert bot.voice.gap_s == 0.2
    assert (bot.endings["failed"], bot.endings["out_of_time"], bot.endings["cancelled"]) == ("Oh.", "Late.", "")
    assert bot.as_json()["prompt"] == "You are X."


async def test_a_changed_file_is_served_and_a_refused_one_leaves_the_last_good(tmp_path: Path) -> None:
    now_s = [0.0]
    folder = content(tmp_path, guide=BOT, other=BOT)
    bots = Bots(folder, clock=lambda: now_s[0])

    async def write(text: str) -> None:
        (folder / "bots" / "guide.md").write_text(text, "utf-8")
        now_s[0] += 1.0
        await bots.fresh()

    await write(BOT.replace("Guide", "Leader"))
    assert bots["guide"].name == "Leader"
    await write(BOT.replace("name", "nmae"))
    assert bots["guide"].name == "Leader"
    assert [refusal.line for refusal in bots.refusals] == [2, 2]
    await write(BOT)
    assert (bots["guide"].name, bots.refusals) == ("Guide", ())
    (folder / "bots" / "other.md").unlink()
    await write(BOT + "More.")
    assert list(bots) == ["guide"]


@pytest.mark.parametrize(
    ("name", "is_noticed"),
    [
        ("people.toml", True),
        ("pages/a.md", True),
        ("commands/x.md", True),
        ("tools/spec.yaml", True),
        ("firstword.db", False),
        ("bots/.guide.md.swp", False),
    ],
)
async def test_a_look_notices_every_file_of_a_site_and_nothing_else(
    tmp_path: Path, name: str, is_noticed: bool
) -> None:
    now_s = [0.0]
    folder = content(tmp_path, guide=BOT)
    bots = Bots(folder, clock=lambda: now_s[0])
    before = bots.compiled
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("x", "utf-8")
    now_s[0] += 1.0
    await bots.fresh()
    assert (bots.compiled is not before) is is_noticed


def test_a_folder_without_one_good_bot_is_refused_with_its_reasons(tmp_path: Path) -> None:
    with pytest.raises(ContentRefused, match=r"bots/x\.md:1: "):
        Bots(content(tmp_path, x="no"), clock=float)
    with pytest.raises(ContentRefused, match="FIRSTWORD_CONTENT"):
        Bots(tmp_path / "nowhere", clock=float)


EXCHANGES = """You are X.

> Is it free?
> What does it cost?
It costs
nothing.

> Who are you?
I am X.

More about X."""


def test_exchanges_are_taken_out_of_a_body() -> None:
    prose, exchanges = take_out(EXCHANGES)
    assert prose == "You are X.\n\nMore about X."
    assert [(len(e.questions), e.answer) for e in exchanges] == [(2, "It costs nothing."), (1, "I am X.")]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        pytest.param("How much does this cost me?", "It costs nothing.", id="another-way-to-ask"),
        pytest.param("Hey, who are you?", "I am X.", id="only-small-words"),
        pytest.param("Is it costing?", "It costs nothing.", id="another-form-of-the-word"),
        pytest.param("What is the capital of France?", None, id="about-something-else"),
        pytest.param("", None, id="nothing-asked"),
    ],
)
def test_the_exchange_that_is_like_a_question(asked: str, answer: str | None) -> None:
    _, exchanges = take_out(EXCHANGES)
    found = like(exchanges, asked)
    assert (found.answer if found else None) == answer
    assert like((), asked) is None


def test_a_lead_is_half_of_the_answer_and_of_a_short_one_all_but_the_last_word() -> None:
    free, who = take_out(EXCHANGES)[1]
    assert (lead(free), lead(who)) == ("It costs", "I am")
    assert lead(replace(free, answer="I speak English.")) == "I speak"
    assert lead(replace(free, answer="Yes.")) == ""
    assert lead(replace(free, answer="It runs on your own computer, here.")) == "It runs on"
    assert lead(replace(free, answer="It runs on your own computer, and you speak to it.")) == "It runs on your own"
    assert (length(free), length(replace(free, answer="Yes. It costs 3.5 euros. Or four?"))) == (1, 3)


def test_a_small_model_is_led_by_what_is_like_the_question_and_a_large_one_gets_all(tmp_path: Path) -> None:
    compiled = compile_folder(content(tmp_path, guide=HEAD + "---\n" + EXCHANGES))
    bot, house = compiled.bots["guide"], compiled.house
    asked = ask("What does it cost?", history=(Line("user", "Hi."),))
    small = question(bot, house, asked, (), Profile(small=True))
    # What it is about comes first, so that no other exchange begins with the same words.
    assert small.messages[0]["content"] == f"It costs nothing.\n\n{system(bot, house, asked, Profile(small=True))}"
    assert [m["content"] for m in small.messages[1:]] == [
        "Is it free?",
        "It costs nothing.",
        "What does it cost?",
    ]
    assert (small.lead, small.sentences) == ("It costs", 1)
    other = question(bot, house, ask("Where is France?"), (), Profile(small=True))
    assert (len(other.messages), other.lead, other.sentences) == (2, "", None)
    large = question(bot, house, asked, (), Profile())
    assert [m["content"] for m in large.messages[1:]] == ["Hi.", "What does it cost?"]
    assert (large.lead, large.sentences) == ("", None)
    assert "It costs nothing." in large.messages[0]["content"]
    assert "spoken aloud" in large.messages[0]["content"]
    assert "spoken aloud" not in small.messages[0]["content"]


def test_what_is_read_before_anybody_asks_is_how_a_question_begins(tmp_path: Path) -> None:
    compiled = compile_folder(content(tmp_path, guide=HEAD + "---\n" + EXCHANGES))
    bot, house, profile = compiled.bots["guide"], compiled.house, Profile(small=True)
    beginnings = [prefix[:-1] for prefix in fixed(bot, house, profile)]
    for asked in ("What does it cost?", "Who are you?", "Where is France?"):
        assert question(bot, house, ask(asked), (), profile).messages[:-1] in beginnings


def test_what_is_like_the_question_is_looked_for_once_and_by_small_models_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = compile_folder(content(tmp_path, guide=HEAD + "---\n" + EXCHANGES))
    looked: list[str] = []
    monkeypatch.setattr("agents_core.prompt.like", lambda known, asked: looked.append(asked) or like(known, asked))
    small = question(compiled.bots["guide"], compiled.house, ask("What does it cost?"), (), Profile(small=True))
    question(compiled.bots["guide"], compiled.house, ask("What does it cost?"), (), Profile())
    assert small.lead
    assert looked == ["What does it cost?"]


def test_the_fixed_prefix_is_the_same_for_every_question(tmp_path: Path) -> None:
    compiled = compile_folder(content(tmp_path))
    bot = compiled.bots["guide"]
    first, second = (question(bot, compiled.house, ask(text), (), Profile()).messages[0] for text in ("One?", "Two?"))
    assert first == second
    assert version(bot, compiled.house).startswith("guide-")


def test_history_is_cut_to_what_fits_and_begins_with_the_person(tmp_path: Path) -> None:
    compiled = compile_folder(content(tmp_path))
    said = tuple(Line("user" if n % 2 == 0 else "assistant", f"line {n} " + "x" * 40) for n in range(10))
    profile = Profile(history_lines=5, history_chars=200)
    given = question(compiled.bots["guide"], compiled.house, ask(history=said), (), profile).messages
    assert [m["content"].split(" x")[0] for m in given[1:-1]] == ["line 6", "line 7", "line 8", "line 9"]
