"""A bot's file changed field by field: what was not changed is there, byte for byte, whatever the file looks like."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_core.editing import BODY, FIELDS, CannotWrite, changed, written
from agents_core.editing.emit import emitted
from agents_core.matter import Refused, split

ROOT = Path(__file__).parents[2]
# Every bot there is: the example site's, and the house's own.
BOTS = sorted([*(ROOT / "content" / "bots").glob("*.md"), *(ROOT / "agents_core" / "kit" / "bots").glob("*.md")])
MANY = 200
# For each field values of which none is what holds anyway.
OTHER: Mapping[str, list[Any]] = {
    "name": ["Ada", "Nº 5: “x” # y", "true", "1984"],
    "surfaces": [["voice", "support"], ["voice"], ["coaching", "voice", "spaces"]],
    "for": [["customer"], ["tier:gold", "role:staff"], []],
    "serves": [["authenticated"], []],
    "hears": [[], [{"event": "purchase.paid", "ask": "Say thanks: it's paid, {name}"}], [{"mention": "all"}]],
    "tools": [["about_me"], ["about_me", "raise_ticket", "catalog"], []],
    "skills": [["all"], ["in-danger", "when-unsure"], []],
    "model": ["gpt-x", ""],
    "memory": ["person", "none", "thread"],
    "answers": ["directly", "draft"],
    "offer": ["off", "ask"],
    "extends": ["desk", ""],
    "voice.voices": [["amy", "joe"], ["amy"], []],
    "voice.by": ["endpoint", "local"],
    "voice.preempt": [True, False, None],
    "voice.visual": ["wave", "aura"],
    "voice.language": ["no", "en"],
}


def other(key: str, dice: random.Random) -> Any:
    field = FIELDS[key]
    if key in OTHER:
        return dice.choice(OTHER[key])
    if field.kind == "number":
        return dice.choice([0.5, 1, 1.25, 0.000001 if key == "limits.spend" else 0.75, field.usual])
    if field.kind == "whole":
        return dice.choice([3, 5, field.usual])
    return dice.choice(["Hello, you.", "- no: list", 'it\'s "so"', "[x]", "null", "on", field.usual or ""])


def comments(text: str) -> list[str]:
    """The comments that `generated` writes."""
    return re.findall(r"#c\d+", text)


def lines_of(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


@pytest.mark.parametrize("file", BOTS, ids=lambda file: file.stem)
def test_a_file_is_byte_for_byte_itself_when_all_its_values_are_said_again(file: Path) -> None:
    data = file.read_bytes()
    own = written(split(data))
    assert own
    assert changed(data, own, {}) == data
    asked = {key: None for key in FIELDS if key not in own}
    assert changed(data, asked, {}) == data


@pytest.mark.parametrize("file", BOTS, ids=lambda file: file.stem)
def test_one_field_changes_one_line_of_a_file_and_no_other(file: Path) -> None:
    data = file.read_bytes()
    own = written(split(data))
    dice = random.Random(file.stem)
    for key, field in FIELDS.items():
        value = other(key, dice)
        made = changed(data, {key: value}, {})
        now = written(split(made))
        assert now.pop(key, field.usual) == (field.usual if value is None else value)
        assert now == {name: said for name, said in own.items() if name != key}
        before, after = lines_of(data), lines_of(made)
        kept = [line for line in before if line in after]
        # The line it stands on; and the block around it, where it is the first thing in it or was the last.
        assert len(before) - len(kept) <= 2
        assert [line for line in after if line in kept] == kept
        back = written(split(changed(made, {key: own.get(key)}, {})))
        assert back.pop(key, field.usual) == own.get(key, field.usual)


def generated(dice: random.Random) -> bytes:
    """A file as somebody may have written it: either style, comments anywhere, any quotes, any line ends."""
    number = iter(range(10_000))

    def comment() -> str:
        return dice.choice(["", "", f"  #c{next(number)}"])

    def above(indent: str) -> str:
        return dice.choice(["", "", f"{indent}#c{next(number)} said above: [x]\n", "\n"])

    def scalar(value: Any, *, flow: bool = False) -> str:
        if isinstance(value, str) and value and dice.random() < 0.3:
            return emitted(value, flow=True, style=dice.choice(["'", '"']))
        return emitted(value, flow=flow)

    def listed(value: list[Any], indent: str) -> str:
        if len(value) == 1 and isinstance(value[0], str) and dice.random() < 0.3:
            return f" {scalar(value[0])}{comment()}\n"
        if not value or dice.random() < 0.4:
            pad = dice.choice(["", " "])
            return f" [{pad}{', '.join(scalar(one, flow=True) for one in value)}{pad}]{comment()}\n"
        if dice.random() < 0.2:
            inner = "".join(f"{indent}    {scalar(one, flow=True)},{comment()}\n" for one in value)
            return f" [\n{inner}{indent}  ]{comment()}\n"
        step = dice.choice(["", "  "])
        return f"{comment()}\n" + "".join(
            f"{above(indent + step)}{indent}{step}- {scalar(one)}{comment()}\n" for one in value
        )

    def entry(key: str, value: Any, indent: str) -> str:
        name = key.split(".")[-1]
        if isinstance(value, list):
            if key == "voice.voices" and len(value) == 1:
                return f"{indent}{name}: {emitted(value)}{comment()}\n"
            return f"{above(indent)}{indent}{name}:{listed(value, indent)}"
        if isinstance(value, str) and re.fullmatch(r"[A-Za-z]+,? [A-Za-z, .]+", value) and dice.random() < 0.2:
            return f"{above(indent)}{indent}{name}: >-\n{indent}  {value}\n"
        return f"{above(indent)}{indent}{name}: {scalar(value)}{comment()}\n"

    def block(name: str, keys: list[str], indent: str = "") -> str:
        said = {key: other(key, dice) for key in keys if dice.random() < 0.5}
        said = {key: value for key, value in said.items() if value is not None}
        if not said:
            return ""
        if dice.random() < 0.4:
            pairs = ", ".join(f"{key.split('.')[-1]}: {emitted(value, flow=True)}" for key, value in said.items())
            return f"{above(indent)}{indent}{name}: {{ {pairs} }}{comment()}\n"
        inner = "".join(entry(key, value, indent + "  ") for key, value in said.items())
        return f"{above(indent)}{indent}{name}:{comment()}\n{inner}"

    def under(prefix: str) -> list[str]:
        return [key for key in FIELDS if key.startswith(prefix) and "." not in key[len(prefix) :]]

    parts = [entry("name", "Ada", ""), entry("surfaces", ["voice"], "")]
    chosen = [key for key in under("") if key not in ("name", "surfaces") and dice.random() < 0.35]
    parts += [entry(key, other(key, dice), "") for key in chosen]
    limits = block("limits", under("limits."))
    if limits and "{" not in limits:
        limits += block("per", under("limits.per."), "  ")
    parts += [block("voice", under("voice.")), limits, block("endings", under("endings."))]
    dice.shuffle(parts)
    text = "---\n" + "".join(parts) + above("") + "---\n" + dice.choice(["", "\n"]) + "You are Ada.\n\n> Hi\nHello.\n"
    text = text.replace("\n", dice.choice(["\n", "\n", "\r\n"]))
    return (dice.choice(["", "", "\ufeff"]) + text).encode()


@pytest.mark.parametrize("seed", range(MANY))
def test_two_hundred_files_keep_comments_order_and_untouched_keys_through_changes(seed: int) -> None:
    dice = random.Random(seed)
    data = generated(dice)
    own = written(split(data))
    assert changed(data, own, {}) == data
    asked = {key: other(key, dice) for key in dice.sample(list(FIELDS), dice.randint(1, 3))}
    made = changed(data, asked, {})
    now = written(split(made))
    for key, value in asked.items():
        assert now.get(key, FIELDS[key].usual) == (FIELDS[key].usual if value is None else value), key
    stays = {key: value for key, value in own.items() if key not in asked}
    assert {key: value for key, value in now.items() if key not in asked} == stays
    assert sorted(comments(made.decode())) == sorted(comments(data.decode()))
    heads = {key.split(".")[0] for key in asked}
    for head in {key.split(".")[0] for key in own if key != BODY} - heads:
        assert part(data, head) == part(made, head), head
    before, after = heads_of(data), heads_of(made)
    assert [head for head in after if head in before] == [head for head in before if head in after]
    assert made.endswith(data[data.rindex(b"You are Ada.") :])
    assert (b"\r\n" in made) == (b"\r\n" in data)
    assert b"\r\n" not in made or b"\n" not in made.replace(b"\r\n", b"")


def heads_of(data: bytes) -> list[bytes]:
    """The keys at the margin, in order."""
    return re.findall(rb"(?m)^([a-z]+):", data.split(b"You are")[0])


def part(data: bytes, head: str) -> bytes:
    """A key at the margin, with the lines under it."""
    found = re.search(rb"(?m)^" + head.encode() + rb":[^\r\n]*(?:\r?\n(?:(?: |- )[^\r\n]*)?)*", data)
    assert found, head
    return b"\n".join(line for line in found[0].splitlines() if line.strip() and not line.lstrip().startswith(b"#"))


@given(st.text(max_size=80))
@settings(max_examples=50, deadline=None)
def test_any_text_that_may_stand_in_a_file_is_read_back_as_it_was_written(said: str) -> None:
    data = b"---\nname: Ada\nsurfaces: [voice]\nvoice: { speed: 1.2 }\n---\nYou are Ada.\n"
    try:
        made = changed(data, {"voice.first": said}, {})
    except CannotWrite:
        # What no YAML file may hold, as half a surrogate.
        assert not said.isprintable()
        return
    assert written(split(made)).get("voice.first", "") == said


def test_a_key_with_a_comment_beside_it_keeps_its_line() -> None:
    data = b"---\nname: Ada\nvoice:\n  speed: 0.9  # she is slow\n---\nYou are Ada.\n"
    assert b"  speed: 1  # she is slow\n" in changed(data, {"voice.speed": 1.0}, {})
    assert b"  speed: 1  # she is slow\n" in changed(data, {"voice.speed": None}, {})


def test_only_what_differs_from_what_holds_anyway_is_written() -> None:
    data = b"---\nname: Ada\nvoice:\n  speed: 0.9\n  wait: 1.3\n---\nYou are Ada.\n"
    assert changed(data, {"voice.speed": 1}, {}) == data.replace(b"  speed: 0.9\n", b"")
    gone = changed(data, {"voice.speed": 1, "voice.wait": 1.0}, {})
    assert gone == b"---\nname: Ada\n---\nYou are Ada.\n"
    assert changed(data, {"voice.speed": 1}, {"voice.speed": 0.8}) == data.replace(b"0.9", b"1")
    assert changed(data, {"voice.speed": None}, {"voice.speed": 0.8}) == data.replace(b"  speed: 0.9\n", b"")


def test_one_word_stands_where_there_is_one_thing() -> None:
    data = b"---\nname: Ada\n---\nYou are Ada.\n"
    assert b"\nskills: all\n" in changed(data, {"skills": ["all"]}, {})
    assert b"\nskills: [all, in-danger]\n" in changed(data, {"skills": ["all", "in-danger"]}, {})


def test_a_body_changes_by_its_lines() -> None:
    data = b"---\r\nname: Ada\r\n---\r\n\r\nYou are Ada. \r\nBe kind.\n\r\n> Hi\r\nHello.\r\n\r\n"
    own = str(written(split(data))[BODY])
    made = changed(data, {BODY: own.replace("Be kind.", "Be brief.\nBe kind.")}, {})
    assert made == data.replace(b"Be kind.", b"Be brief.\r\nBe kind.")
    assert changed(data, {BODY: own}, {}) == data
    empty = changed(b"---\nname: Ada\n---", {BODY: "You are Ada."}, {})
    assert written(split(empty))[BODY] == "You are Ada."


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"voice.sped": 1}, "there is no field `voice.sped`"),
        ({"tools": "all"}, "`tools` is a list"),
        ({"name": ["Ada"]}, "`name` is one value"),
        ({"voice.speed": float("nan")}, "`voice.speed` is a number"),
        ({BODY: "x" * 600_000}, "512 KiB"),
    ],
    ids=["unknown", "no list", "no value", "no number", "too large"],
)
def test_what_cannot_be_put_into_a_file_is_refused_in_words(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(CannotWrite, match=re.escape(words)):
        changed(b"---\nname: Ada\n---\nYou are Ada.\n", changes, {})


def test_a_value_that_the_compile_would_refuse_can_be_written_so_that_it_is_refused_in_its_words() -> None:
    data = b"---\nname: Ada\n---\nYou are Ada.\n"
    assert b"speed: fast" in changed(data, {"voice.speed": "fast"}, {})
    with pytest.raises(Refused):
        changed(b"no front matter", {"name": "Ada"}, {})
