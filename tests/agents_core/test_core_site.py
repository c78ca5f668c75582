"""A whole site as files: skills, tools, commands, facts, and bots that extend one another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from core_house import BOT, NoDesk, ask, content

from agents_core import Bots, Profile, check_bots
from agents_core.audience import holding
from agents_core.compile import compile_folder
from agents_core.events import Passages
from agents_core.loop import Call
from agents_core.offer import OPEN_SKILL
from agents_core.prompt import question, system, version
from agents_core.site.builtin import BUILT_IN, on
from agents_core.site.search import Index, cut, stems
from agents_core.tools import Handed

HANDED = Handed("run-1", "c1", "guide", "voice", "r1", "en", NoDesk())
HEAD = "---\nname: X\nsurfaces: [voice]\n"
CATALOG = """
[[thing]]
sku = "T-1"
title = "Green tea"
kind = "tea"
price = "3.50"
[[thing]]
sku = "T-2"
title = "Iron tea pot"
kind = "pots"
tier = "gold"
"""
WHATS_ON = """
[[event]]
title = "Tasting"
at = 2026-12-03T18:00:00+01:00
where = "the shop"
[[event]]
title = "Winter fair"
at = 2026-11-28
until = 2026-12-01
[[event]]
title = "Past"
at = 2026-01-01
"""
PAGE = (
    "---\ntitle: Sending\naddress: /sending\n---\nWe send on Mondays.\n\n# Abroad\n\nParcels to C++ land take a week.\n"
)
MODULE = "async def run(handed, arguments):\n    return {'run': handed.run, 'city': arguments['city']}\n"
TOOL = "---\nmodule: weather.py\narguments: { city: { type: string } }\nrequired: [city]\n---\nThe weather of a city.\n"
SPEC = {
    "openapi": "3.1.0",
    "servers": [{"url": "https://api.example"}],
    "paths": {"/items": {"get": {"operationId": "list"}}, "/wipe": {"post": {"operationId": "wipe"}}},
}
SKILL = "---\ndescription: how we send things\ntools: [search_site]\n---\nSay the day.\n"


def site(folder: Path, **files: str) -> Path:
    """A site with facts, and these files: `tools__x` is `tools/x.md`."""
    content(folder, **{name: text for name, text in files.items() if "__" not in name})
    written = {"catalog.toml": CATALOG, "whats-on.toml": WHATS_ON, "pages/sending.md": PAGE}
    written |= {f"{name.replace('__', '/')}.md": text for name, text in files.items() if "__" in name}
    for name, text in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def refused(folder: Path) -> list[str]:
    return [f"{refusal.file}:{refusal.line}: {refusal.what}" for refusal in check_bots(folder)]


def bots_of(folder: Path) -> Bots:
    return Bots(folder, clock=float)


async def called(bots: Bots, name: str, arguments: Mapping[str, Any]) -> str:
    box = bots.offer(bots["guide"], holding("ann")).box(())
    return (await box.call(Call("c1", name, json.dumps(arguments)), HANDED)).text


def test_the_built_in_tools_are_exactly_five(tmp_path: Path) -> None:
    folder = site(tmp_path, guide=HEAD + f"tools: [{', '.join(BUILT_IN)}]\n---\nB")
    assert refused(folder) == []
    shown = bots_of(folder).offer(bots_of(folder)["guide"], holding("ann")).box(()).shown()
    assert {tool["function"]["name"] for tool in shown} == {
        "about_me",
        "catalog",
        "raise_ticket",
        "search_site",
        "whats_on",
    }
    for tool in shown:
        # There is no parameter in which to put somebody else.
        assert not {"person", "user", "subject", "asker", "email"} & set(tool["function"]["parameters"]["properties"])


@pytest.mark.parametrize(
    ("phrase", "first"),
    [
        pytest.param("iron tea", "T-2", id="a-phrase-in-a-title"),
        pytest.param("t-1", "T-1", id="a-sku"),
        pytest.param("gold", "T-2", id="a-tier"),
        pytest.param("how much is the green one?", "T-1", id="its-words-without-the-asking"),
        pytest.param("", "T-1", id="everything"),
    ],
)
async def test_the_catalog_is_searched_by_phrase_then_by_its_words(tmp_path: Path, phrase: str, first: str) -> None:
    bots = bots_of(site(tmp_path, guide=HEAD + "tools: catalog\n---\nB"))
    assert (await called(bots, "catalog", {"phrase": phrase})).startswith(f"sku: {first}")


async def test_nothing_like_it_is_said_and_a_search_gives_passages(tmp_path: Path) -> None:
    bots = bots_of(site(tmp_path, guide=HEAD + "tools: [catalog, search_site]\n---\nB"))
    assert await called(bots, "catalog", {"phrase": "how much is a helicopter"}) == (
        "Nothing here is like 'how much is a helicopter'."
    )
    box = bots.offer(bots["guide"], holding("ann")).box(())
    answered = await box.call(Call("c1", "search_site", '{"query": "parcels abroad"}'), HANDED)
    assert answered.text.startswith("[1] Sending: Abroad (/sending)\n")
    assert answered.events == (Passages(("Sending: Abroad",), ("/sending",)),)
    assert await called(bots, "search_site", {"query": "helicopter"}) == "The site says nothing about that."


def test_what_is_on_begins_today_and_ends_with_the_days(tmp_path: Path) -> None:
    facts = compile_folder(site(tmp_path)).facts
    assert facts.happenings is not None
    now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    assert [one.title for one in on(facts.happenings, now, 14)] == ["Winter fair", "Tasting"]
    assert [one.title for one in on(facts.happenings, now, 1)] == ["Winter fair"]


def test_ra1_a_word_in_every_passage_still_counts_and_ra5_words_are_told_apart() -> None:
    index = Index([*cut("Tea", "/t", "Tea is warm."), *cut("Pot", "/p", "A pot is for tea.")])
    assert [hit.address for hit in index.best("tea")] == ["/t", "/p"]
    assert [hit.address for hit in index.best("pots?")] == ["/p"]
    assert index.best("universe") == []
    assert Index([]).best("tea") == []
    assert stems("C++ and R&D at 3.5") == ["c++", "and", "r&d", "at", "3.5"]
    pairs = {"parcels": "parcel", "sending": "send", "delivered": "deliver", "news": "new", "universe": "universe"}
    assert {word: stems(word)[0] for word in pairs} == pairs


async def test_a_module_of_the_sites_own_is_a_tool(tmp_path: Path) -> None:
    folder = site(tmp_path, guide=HEAD + "tools: weather\n---\nB", tools__weather=TOOL)
    (folder / "tools" / "weather.py").write_text(MODULE, "utf-8")
    assert refused(folder) == []
    bots = bots_of(folder)
    assert json.loads(await called(bots, "weather", {"city": "Ulm", "person": "x"})) == {"run": "run-1", "city": "Ulm"}
    assert await called(bots, "weather", {}) == 'error: weather: "city" is a required property'


def test_a_spec_grants_its_file_or_one_operation_and_nothing_that_is_not_allowed(tmp_path: Path) -> None:
    text = "---\nopenapi: shop.json\noperations: [list]\n---\n"
    folder = site(tmp_path, guide=HEAD + "tools: shop\n---\nB", one=HEAD + "tools: shop_list\n---\nB", tools__shop=text)
    (folder / "tools" / "shop.json").write_text(json.dumps(SPEC), "utf-8")
    assert refused(folder) == []
    compiled = compile_folder(folder)
    assert compiled.bots["guide"].tools == compiled.bots["one"].tools == ("shop_list",)
    assert "shop_wipe" not in compiled.tools


@pytest.mark.parametrize(
    ("files", "said"),
    [
        pytest.param({"tools/x.md": "---\nbusy: b\n---\nB"}, ["tools/x.md:2: the tool is neither"], id="neither"),
        pytest.param({"tools/x.md": TOOL}, ["tools/x.md:2: there is no module `weather.py`"], id="no-module"),
        pytest.param(
            {"tools/x.md": TOOL, "tools/weather.py": "import nothing_like_it\n"},
            ["tools/x.md:2: `weather.py` cannot be loaded: ModuleNotFoundError"],
            id="a-broken-module",
        ),
        pytest.param(
            {"tools/x.md": TOOL, "tools/weather.py": "def run(a):\n  pass\n"},
            ["tools/x.md:2: `weather.py` has no `async def run(handed, arguments)`"],
            id="a-module-without-run",
        ),
        pytest.param(
            {"tools/x.md": TOOL.replace("string", "strnig"), "tools/weather.py": MODULE},
            ["tools/x.md:3: `arguments:` is no JSON schema"],
            id="no-schema",
        ),
        pytest.param(
            {"tools/x.md": TOOL.replace("[city]", "[town]"), "tools/weather.py": MODULE},
            ["tools/x.md:4: `town` is required and is no argument"],
            id="a-required-argument-that-is-none",
        ),
        pytest.param(
            {"tools/x.md": "---\nmodule: ../x.py\n---\nB"},
            ["tools/x.md:2: `../x.py` is not a file beside"],
            id="outside",
        ),
        pytest.param(
            {"tools/x.md": "---\nopenapi: s.json\noperations: [list]\n---\n"},
            ["tools/x.md:2: there is no file `s.json`"],
            id="no-spec",
        ),
        pytest.param(
            {"tools/x.md": "---\nopenapi: https://x/s.json\noperations: [a]\n---\n"},
            ["tools/x.md:2: the spec is an address"],
            id="a-spec-elsewhere",
        ),
        pytest.param(
            {"tools/x.md": "---\nopenapi: s.json\n---\n", "tools/s.json": json.dumps(SPEC)},
            ["tools/x.md:2: no operation is allowed"],
            id="nothing-allowed",
        ),
        pytest.param(
            {"tools/x.md": "---\nopenapi: s.json\noperations: [lst]\n---\n", "tools/s.json": json.dumps(SPEC)},
            ["tools/x.md:2: `s.json`: it has no operation `lst`"],
            id="no-such-operation",
        ),
        pytest.param(
            {"tools/x.md": "---\nopenapi: s.yaml\noperations: [a]\n---\n", "tools/s.yaml": "a: [\n"},
            ["tools/x.md:2: `s.yaml` cannot be read"],
            id="a-broken-spec",
        ),
        pytest.param(
            {
                "tools/x.md": "---\nopenapi: s.json\noperations: [list]\nheaders:\n  X-Key: $NOT_THERE\n---\n",
                "tools/s.json": json.dumps(SPEC),
            },
            ["tools/x.md:5: `$NOT_THERE` is not in the environment"],
            id="no-key",
        ),
        pytest.param(
            {"tools/x.md": "---\nmodule: w.py\nserver: https://x\n---\nB", "tools/w.py": MODULE},
            ["tools/x.md:3: `server:` says nothing for a tool with `module:`"],
            id="a-key-of-the-other-kind",
        ),
        pytest.param(
            {"tools/catalog.md": TOOL, "tools/weather.py": MODULE},
            ["tools/catalog.md:1: there is a tool named `catalog` already"],
            id="a-name-that-is-taken",
        ),
        pytest.param({"skills/x.md": "---\n{}\n---\nB"}, ["skills/x.md:2: `description` is missing"], id="skill"),
        pytest.param(
            {"skills/x.md": "---\ndescription: d\ntools: [fly]\n---\nB"},
            ["skills/x.md:3: there is no tool `fly`"],
            id="t",
        ),
        pytest.param({"skills/x.md": "---\ndescription: d\n---\n"}, ["skills/x.md:4: the body is empty"], id="no-body"),
        pytest.param(
            {"commands/x.md": "---\ndescription: d\nbot: nobody\n---\nB"},
            ["commands/x.md:3: there is no bot `nobody`"],
            id="a-command-to-nobody",
        ),
        pytest.param(
            {"commands/x.md": "---\ndescription: d\nbot: guide\nsurfaces: [support]\n---\nB"},
            ["commands/x.md:4: the bot `guide` is not on the surface `support`"],
            id="a-command-on-a-surface-its-bot-lacks",
        ),
        pytest.param(
            {"commands/x.md": "---\ndescription: d\nbot: guide\narguments:\n  - { name: a, kind: slider }\n---\n{a}"},
            ["commands/x.md:5: `arguments.1.kind` cannot be `slider`"],
            id="an-argument-no-control-can-draw",
        ),
        pytest.param(
            {"commands/x.md": "---\ndescription: d\nbot: guide\narguments: [{ name: a }]\n---\nSay\n{b}"},
            ["commands/x.md:4: `a` is not used", "commands/x.md:7: there is no argument `b`"],
            id="arguments-that-do-not-fit-the-body",
        ),
        pytest.param(
            {"catalog.toml": '[[thing]]\nsku = "a"\ntitle = "b"\n[[thing]]\nskuu = "c"\n'},
            ["catalog.toml:4: `sku`", "catalog.toml:4: `skuu`", "catalog.toml:4: `title`"],
            id="a-thing",
        ),
        pytest.param({"catalog.toml": "[[thngs]]\n"}, ["catalog.toml:1: there is no `thngs` here"], id="a-table"),
        pytest.param({"whats-on.toml": "[[event\n"}, ["whats-on.toml:1: it is not TOML"], id="no-toml"),
        pytest.param(
            {"whats-on.toml": '[[event]]\ntitle = "x"\nat = 2026-01-01T10:00:00\n'},
            ["whats-on.toml:1: `at` is no date"],
            id="a-moment-without-its-offset",
        ),
        pytest.param(
            {"people.toml": '[ann]\nholds = ["tier"]\n'},
            ["people.toml:1: `holds.0`: value error, `tier`"],
            id="a-person",
        ),
        pytest.param(
            {"pages/x.md": "---\ntitel: x\n---\nB"},
            ["pages/x.md:2: `title` is missing", "pages/x.md:2: there is no key `titel`"],
            id="a-page",
        ),
    ],
)
def test_what_is_wrong_beside_the_bots_is_said_too(tmp_path: Path, files: dict[str, str], said: list[str]) -> None:
    folder = site(tmp_path)
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    found = refused(folder)
    assert len(found) == len(said), found
    for line, beginning in zip(found, said, strict=True):
        assert line.startswith(beginning), line


def test_a_skill_is_a_line_until_it_is_opened_and_a_sites_own_replaces_the_houses(tmp_path: Path) -> None:
    ours = "---\ndescription: our own way\n---\nThe long text.\n"
    folder = site(tmp_path, guide=HEAD + "skills: all\n---\nB", skills__sending=SKILL, skills__in_danger=SKILL)
    (folder / "skills" / "in_danger.md").rename(folder / "skills" / "in-danger.md")
    (folder / "skills" / "in-danger.md").write_text(ours, "utf-8")
    assert refused(folder) == []
    compiled = compile_folder(folder)
    assert compiled.bots["guide"].skills == ("body-law-money", "in-danger", "other-people", "when-unsure", "sending")
    bots = bots_of(folder)
    given = bots.offer(bots["guide"], holding("ann"))
    said = system(bots["guide"], bots.house, ask(), Profile(), given)
    assert "- in-danger: our own way\n" in said
    assert "The long text" not in said
    assert compiled.skills["in-danger"].body == "The long text."
    assert compiled.skills["sending"].tools == ("search_site",)
    assert sorted(given.box(())) == [OPEN_SKILL]


def test_a_model_too_small_for_tools_is_told_of_none(tmp_path: Path) -> None:
    bots = bots_of(site(tmp_path, guide=HEAD + "skills: all\ntools: [catalog]\n---\nB"))
    given = bots.offer(bots["guide"], holding("ann"))
    asked = question(bots["guide"], bots.house, ask(), (), Profile(tools=False), given)
    assert asked.tools == ()
    assert OPEN_SKILL not in asked.messages[0]["content"]
    assert [t["function"]["name"] for t in question(bots["guide"], bots.house, ask(), (), Profile(), given).tools] == [
        "catalog",
        OPEN_SKILL,
    ]


def test_what_somebody_may_not_have_is_nowhere_in_what_a_model_is_given(tmp_path: Path) -> None:
    canary = "---\ndescription: CANARY for staff\nfor: role:staff\n---\nThe CANARY.\n"
    tool = TOOL.replace("module", "for: [role:staff]\nmodule").replace("The weather", "The CANARY")
    folder = site(tmp_path, guide=HEAD + "skills: all\ntools: [weather]\n---\nB", skills__s=canary, tools__weather=tool)
    (folder / "tools" / "weather.py").write_text(MODULE, "utf-8")
    bots = bots_of(folder)
    for held, there in ((holding("ann"), False), (holding("ann", ["role:staff"]), True), (holding(""), False)):
        asked = question(bots["guide"], bots.house, ask(), (), Profile(), bots.offer(bots["guide"], held))
        assert ("CANARY" in str(asked)) is there


def test_a_command_is_its_prompt_with_what_was_filled_in(tmp_path: Path) -> None:
    text = (
        "---\ndescription: d\nbot: guide\narguments:\n  - { name: who }\n"
        "  - { name: how, kind: choice, choices: [kindly, curtly], default: kindly }\n---\nGreet {who} {how}. {who}!\n"
    )
    bots = bots_of(site(tmp_path, guide=BOT, commands__greet=text))
    given = bots.offer(bots["guide"], holding("ann"))
    said = {
        "/greet Ann curtly": "Greet Ann curtly. Ann!",
        '/greet "{how} Ann" rudely': "Greet {how} Ann kindly. {how} Ann!",
        "/greet how=curtly Bob": "Greet Bob curtly. Bob!",
        "/greet it's": "Greet it's kindly. it's!",
        "/gret Ann": "/gret Ann",
        "greet Ann": "greet Ann",
    }
    assert {text: given.asked(text, "voice") for text in said} == said
    assert given.asked("/greet Ann", "support") == "/greet Ann"
    messages = question(bots["guide"], bots.house, ask("/greet Ann"), (), Profile(), given).messages
    assert messages[-1]["content"] == "Greet Ann kindly. Ann!"


def test_a_bot_that_extends_another_adds_to_its_words_and_tools(tmp_path: Path) -> None:
    child = (
        "---\nname: Ours\nextends: desk\ntools: catalog\nlimits: { spend: 0.2 }\n"
        "endings: { failed: Oh. }\n---\nWe sell tea.\n"
    )
    folder = site(tmp_path, guide=BOT, ours=child)
    assert refused(folder) == []
    bot = compile_folder(folder).bots["ours"]
    assert (bot.name, bot.surfaces, bot.tools) == (
        "Ours",
        ("voice", "support"),
        ("about_me", "raise_ticket", "catalog"),
    )
    assert (bot.ceilings.steps, bot.ceilings.spend) == (8, 200_000)
    assert bot.prompt.startswith("You answer people who come")
    assert bot.prompt.endswith("We sell tea.")
    assert bot.endings["failed"] == "Oh."
    (folder / "bots" / "desk.md").write_text("---\nnmae: x\n---\nB", "utf-8")
    assert any("ours.md:3: `desk` is refused itself" in line for line in refused(folder))


def test_a_circle_of_bots_is_refused_in_each(tmp_path: Path) -> None:
    folder = site(tmp_path, good=BOT, a=HEAD + "extends: b\n---\nB", b=HEAD + "extends: a\n---\nB")
    assert refused(folder) == ["bots/a.md:4: `a` extends itself", "bots/b.md:4: `b` extends itself"]


def test_the_version_of_a_prompt_names_everything_a_model_is_told(tmp_path: Path) -> None:
    folder = site(tmp_path, guide=HEAD + "tools: [catalog]\nskills: [sending]\n---\nB", skills__sending=SKILL)
    names = set()
    for change in ("", "how we do", "how we really do"):
        if change:
            (folder / "skills" / "sending.md").write_text(SKILL.replace("how we send", change), "utf-8")
        bots = bots_of(folder)
        names.add(version(bots["guide"], bots.house, bots.offer(bots["guide"], holding("ann"))))
    bots = bots_of(folder)
    names.add(version(bots["guide"], bots.house))
    assert len(names) == 4


async def test_every_file_of_a_site_is_read_again_when_it_changes_and_the_last_good_goes_on(tmp_path: Path) -> None:
    now_s = [0.0]
    folder = site(tmp_path, guide=HEAD + "tools: [weather]\nskills: [sending]\n---\nB", skills__sending=SKILL)
    (folder / "tools").mkdir()
    (folder / "tools" / "weather.md").write_text(TOOL, "utf-8")
    (folder / "tools" / "weather.py").write_text(MODULE, "utf-8")
    bots = Bots(folder, clock=lambda: now_s[0])

    async def write(name: str, text: str) -> None:
        (folder / name).write_text(text, "utf-8")
        now_s[0] += 1.0
        await bots.fresh()

    await write("tools/weather.py", MODULE.replace("'run'", "'ran'"))
    assert json.loads(await called(bots, "weather", {"city": "Ulm"}))["ran"] == "run-1"
    await write("tools/weather.py", "this is no python")
    assert [refusal.file for refusal in bots.refusals] == ["bots/guide.md", "tools/weather.md"]
    assert json.loads(await called(bots, "weather", {"city": "Ulm"}))["ran"] == "run-1"
    await write("tools/weather.py", MODULE)
    assert (bots.refusals, json.loads(await called(bots, "weather", {"city": "Ulm"}))["run"]) == ((), "run-1")
    await write("skills/sending.md", SKILL.replace("how we send", "when we send"))
    assert "when we send" in bots.offer(bots["guide"], holding("ann")).lines()


GOOD_AND_BAD = {
    **{f"good-{n}": BOT for n in range(30)},
    **{f"bad-{n}": BOT.replace("surfaces", f"limits: {{ steps: {n} }}\nsurfacs") for n in range(10)},
    **{f"worse-{n}": HEAD + f"x: {n}\ny: {n}\nskills: [no-{n}]\n---\nB" for n in range(10)},
    **{f"worst-{n}": "no front matter" for n in range(5)},
    **{f"child-{n}": f"---\nname: C\nextends: good-{n}\n---\nMore.\n" for n in range(5)},
}


def test_sixty_files_good_and_bad_are_all_read_and_each_refusal_has_its_line(tmp_path: Path) -> None:
    assert len(GOOD_AND_BAD) == 60
    folder = content(tmp_path, **GOOD_AND_BAD)
    compiled = compile_folder(folder)
    assert sorted(compiled.bots) == sorted([*(f"good-{n}" for n in range(30)), *(f"child-{n}" for n in range(5))])
    lines: dict[str, list[int]] = {}
    for refusal in compiled.refusals:
        lines.setdefault(refusal.file, []).append(refusal.line)
    expected = {f"bots/bad-{n}.md": [2, 4] if n else [2, 3, 4] for n in range(10)}
    expected |= {f"bots/worse-{n}.md": [4, 5, 6] for n in range(10)} | {f"bots/worst-{n}.md": [1] for n in range(5)}
    assert {name: sorted(found) for name, found in lines.items()} == expected
