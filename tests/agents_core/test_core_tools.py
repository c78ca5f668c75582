"""Tools: what is shown is what is checked, and a bad call is a sentence for the model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from core_house import NoDesk
from hypothesis import given
from hypothesis import strategies as st

from agents_core.audience import fault, holding, may
from agents_core.loop import Call, Step
from agents_core.offer import OPEN_SKILL, Skill, offer
from agents_core.tools import ANSWER_CHARS, Answered, Handed, Tool, Toolbox, arguments_of

HANDED = Handed("run-1", "c1", "guide", "voice", "r1", "en", NoDesk())
SCHEMA = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "minimum": 1},
        "when": {"type": "string", "format": "date"},
        "kind": {"enum": ["a", "b", None]},
    },
    "required": ["size"],
    "additionalProperties": False,
}


def tool(name: str, text: str = "", **more: Any) -> Tool:
    async def does(_handed: Handed, arguments: Mapping[str, Any]) -> Answered:
        return Answered(text or json.dumps(arguments, sort_keys=True))

    return Tool(name, f"what {name} is for", does, SCHEMA, **more)


@pytest.mark.parametrize(
    ("written", "came"),
    [
        pytest.param('{"size": 2}', {"size": 2}, id="good"),
        pytest.param('{"size": 2, "person": "somebody else"}', {"size": 2}, id="an-unnamed-property-is-dropped"),
        pytest.param('{"size": 0}', "size: 0 is less than the minimum of 1", id="out-of-range"),
        pytest.param('{"size": "2"}', 'size: "2" is not of type "integer"', id="wrong-type"),
        pytest.param("", '"size" is a required property', id="nothing"),
        pytest.param('{"size": 2, "when": "nope"}', 'when: "nope" is not a "date"', id="a-format-is-checked"),
        pytest.param('{"size": 2, "kind": null}', {"size": 2, "kind": None}, id="OT3-null-in-an-enum"),
        pytest.param("{", "the arguments are not JSON", id="broken"),
        pytest.param("[1]", "the arguments are not an object", id="a-list"),
        pytest.param("[" * 20_000, "the arguments are not JSON", id="deep"),
        pytest.param(" " * 70_000, "the arguments are too long", id="long"),
    ],
)
def test_arguments_are_checked_against_the_schema_that_is_shown(written: str, came: object) -> None:
    assert arguments_of(written, SCHEMA) == came


@given(st.text(max_size=200))
def test_whatever_a_model_writes_is_arguments_or_a_sentence(written: str) -> None:
    assert isinstance(arguments_of(written, SCHEMA), dict | str)


async def test_a_call_is_answered_or_is_an_error_for_the_model_to_read() -> None:
    async def breaks(_handed: Handed, _arguments: Mapping[str, Any]) -> Answered:
        raise ValueError("a secret of the site")

    async def hangs(_handed: Handed, _arguments: Mapping[str, Any]) -> Answered:
        await asyncio.Event().wait()
        raise AssertionError

    box = Toolbox(
        (tool("good"), tool("long", "x" * (ANSWER_CHARS + 1)), Tool("breaks", "", breaks), Tool("hangs", "", hangs))
    )

    async def text(name: str, arguments: str = '{"size": 1}') -> str:
        return (await box.call(Call("c1", name, arguments), HANDED, limit_s=0.01)).text

    assert await text("good") == '{"size": 1}'
    assert await text("launch") == "error: there is no tool named 'launch'; there are breaks, good, hangs, long"
    assert await text("good", "{}") == 'error: good: "size" is a required property'
    assert await text("breaks") == "error: breaks did not work (ValueError)"
    assert await text("hangs") == "error: hangs did not answer within 0.01 seconds"
    assert (await text("long")).endswith("(cut here)")
    assert "answer without one" in (await Toolbox().call(Call("c1", "x", ""), HANDED)).text


def test_the_schema_shown_is_the_schema_checked_in_a_fixed_order() -> None:
    shown = Toolbox((tool("b"), tool("a"))).shown()
    assert [what["function"]["name"] for what in shown] == ["a", "b"]
    assert shown[0]["function"]["parameters"] == SCHEMA


@pytest.mark.parametrize(
    ("wanted", "held", "has"),
    [
        pytest.param((), holding(""), True, id="no-audience-is-met-by-nobody-too"),
        pytest.param(("anyone",), holding(""), False, id="a-run-nobody-asked-for-is-not-anyone"),
        pytest.param(("anyone",), holding("ann"), True, id="anyone"),
        pytest.param(("authenticated",), holding("ann"), True, id="signed-in"),
        pytest.param(("customer",), holding("ann"), False, id="not-held"),
        pytest.param(("customer", "role:staff"), holding("ann", ["role:staff"]), True, id="any-one-word"),
        pytest.param(("tier:gold",), holding("ann", ["tier:golden"]), False, id="no-part-of-a-word"),
    ],
)
def test_an_audience_is_met_by_any_of_its_words(wanted: tuple[str, ...], held: frozenset[str], has: bool) -> None:
    assert may(wanted, held) is has


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("anyone", None),
        ("bought:the-book", None),
        ("custmer", "did you mean `customer`?"),
        ("teir:gold", "did you mean `tier:gold`?"),
        ("role:", "names no role"),
        ("tier: gold", "names no tier"),
        ("", "is no audience"),
    ],
)
def test_a_word_that_is_no_audience_is_said(word: str, said: str | None) -> None:
    found = fault(word)
    assert (found is None) if said is None else (found is not None and said in found[0])


CARE = Skill("care", "about harm", "Be kind.", tools=("ring",))
STAFF = Skill("staff", "for staff", "The canary.", tools=("ring",), audience=("role:staff",))
REGISTRY = {"ring": tool("ring"), "admin": tool("admin", audience=("role:staff",)), "look": tool("look")}


def opened(name: str, n: int = 0) -> tuple[Step, ...]:
    call = Call(f"c{n}", OPEN_SKILL, json.dumps({"name": name}))
    return Step(n, "model", calls=(call,)), Step(n + 1, "tool", text="…", call_id=call.id)


def test_what_is_withheld_is_absent_from_the_prompt_and_the_tools_in_the_same_breath() -> None:
    tools = (REGISTRY["look"], REGISTRY["admin"])
    ours = offer(tools, (CARE, STAFF), REGISTRY, holding("ann", ["role:staff"]))
    theirs = offer(tools, (CARE, STAFF), REGISTRY, holding("bob"))
    assert (sorted(ours.box(())), ours.lines()) == (
        ["admin", "look", OPEN_SKILL],
        "- care: about harm\n- staff: for staff",
    )
    assert (sorted(theirs.box(())), theirs.lines()) == (["look", OPEN_SKILL], "- care: about harm")
    assert "staff" not in json.dumps(theirs.box(opened("staff")).shown())


def test_a_skills_tools_are_offered_once_it_is_open_and_that_is_read_off_the_steps() -> None:
    given_ = offer((), (CARE,), REGISTRY, holding("ann"))
    assert "ring" not in given_.box(())
    assert "ring" not in given_.box(opened("care")[:1])
    assert "ring" in given_.box(opened("care"))
    assert given_.opened((*opened("nothing"), *opened("care", 2), *opened("care", 4))) == ("care",)


async def test_opening_a_skill_gives_its_body_and_a_withheld_one_does_not_exist() -> None:
    box = offer((), (CARE, STAFF), REGISTRY, holding("bob")).box(())
    assert (await box.call(Call("c1", OPEN_SKILL, '{"name": "care"}'), HANDED)).text == "Be kind."
    said = (await box.call(Call("c1", OPEN_SKILL, '{"name": "staff"}'), HANDED)).text
    assert said.startswith("error: open_skill: name: ")
    assert "canary" not in said


def test_without_skills_there_is_nothing_to_open() -> None:
    assert len(offer((), (), REGISTRY, holding("ann")).box(())) == 0


@pytest.mark.parametrize(
    "arguments",
    ['{"size": ' + "[" * 400 + "]" * 400 + "}", '{"size": ' + "[" * 60_000, '{"kind": "\\ud83d", "size": 1}'],
    ids=["deep", "deeper", "half a letter"],
)
async def test_arguments_that_nothing_can_read_are_a_sentence_for_the_model(arguments: str) -> None:
    answered = await Toolbox((tool("look"),)).call(Call("c1", "look", arguments), HANDED)
    assert answered.failed
    assert answered.text.startswith("error: look: ")
