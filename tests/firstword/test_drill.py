"""The fire drill and the provider settings: what a deployment writes, and what that comes to for somebody who asks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from agents_core import AnthropicProvider, LocalProvider, OpenAIProvider, Patience
from firstword.addresses import UNSAID_PRICE, Address
from firstword.commands.bots import bots as bots_command
from firstword.drill import Tried, configured, drill, tried_in_words, turned_in_words
from firstword.settings import load_settings
from firstword.testing.provider import FAULTS, WELL, FakeProvider
from firstword.thinking import addresses_of, provider_of, providers_for, thinks_for_nothing

# What waits for ever is left soon; everything else may take its time on a busy machine.
PATIENCE = Patience(first_word_s=4, backup_first_word_s=30, silence_s=2, turn_s=60)


async def test_the_drill_says_what_each_fault_would_do_to_a_turn() -> None:
    turned = {one.fault: one for one in await drill(patience=PATIENCE, shapes=("openai",))}
    assert list(turned) == list(FAULTS)
    for fault, one in turned.items():
        if fault in WELL:
            assert (one.answered_by, one.failed) == ("broken", "")
        elif fault in ("400", "stall", "cut", "error-later"):
            assert one.answered_by == ""
            assert one.failed
            assert one.heard.endswith("Please ask me once more.")
        else:
            assert (one.answered_by, one.heard) == ("backup", "Hello there, this is the answer.")
            assert [said.split(":")[0] for said in one.skipped] == ["broken"]
    lines = turned_in_words(list(turned.values()))
    assert len(lines) == len(FAULTS)
    assert any("the backup answers after" in line for line in lines)


async def test_each_key_of_the_line_is_asked_and_nothing_is_bought(tmp_path: Path) -> None:
    async with FakeProvider(keys={"tired": "429"}) as fake:
        settings = load_settings(
            llm_url=fake.url,
            llm_key="tired,good",
            llm_model="m",
            data=tmp_path,
            models=tmp_path / "no-weights",
            backups=({"url": "https://api.openai.com/v1", "keys": "k"},),
        )
        tried = await configured(settings)
        assert [one.key for one in tried] == [1, 2, 1, 1]
        assert [asked.key for asked in fake.asked] == ["tired", "good"]
    assert [(one.asked, one.verdict) for one in tried] == [(True, "key"), (True, ""), (False, ""), (False, "")]
    lines = tried_in_words(tried, PATIENCE)
    assert lines[0] == "127.0.0.1 key 1 of 2: Too many requests; in a turn the key rests and the next is tried"
    assert lines[2] == "api.openai.com: not asked; it costs money, and FIRSTWORD_LIVE is not true"
    assert lines[-1] == "whoever asks now is answered by 127.0.0.1"


def test_a_slow_provider_and_nobody_at_all_are_said() -> None:
    slow = Tried("far", "m", 1, 1, True, 9000.0, "", "Yes.")
    assert "in a turn it is left after 4000" in tried_in_words([slow], PATIENCE)[0]
    dead = Tried("far", "m", 1, 1, True, None, "provider", "unreachable")
    assert tried_in_words([dead], PATIENCE)[-1].startswith("nobody answers")


def test_the_settings_are_a_line_of_providers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("firstword.toml").write_text(
        'llm_url = "https://api.anthropic.com"\nllm_key = "a, b"\nllm_model = "big"\n'
        '[[backups]]\nurl = "http://127.0.0.1:11434/v1"\nmodel = "llama3.2"\nthinks_first = true\n'
        '[[backups]]\nurl = "https://api.openai.com/v1"\nmodel = "m"\nkeys = ["k"]\nprice_in = 1.0\nprice_out = 2\n',
        "utf-8",
    )
    settings = load_settings()
    first, second, third, local = providers_for(settings)
    assert isinstance(first, AnthropicProvider)
    assert (first.name, first.keys, first.costs) == ("api.anthropic.com", 2, True)
    # A price that nobody said is taken to be high: a limit holds too early rather than never.
    assert (first.profile.prompt_price, first.profile.completion_price) == tuple(p * 1000 for p in UNSAID_PRICE)
    assert isinstance(second, OpenAIProvider)
    assert (second.costs, second.profile.prompt_price, second.profile.thinks_first) == (False, 0, True)
    assert (third.profile.prompt_price, third.profile.max_tokens_key) == (1000, "max_completion_tokens")
    assert isinstance(local, LocalProvider)
    assert thinks_for_nothing(settings)
    assert not thinks_for_nothing(load_settings(live=True))
    assert "b" not in repr(addresses_of(settings)[0].keys)


def test_a_shape_may_be_said_and_a_key_in_an_address_is_refused() -> None:
    assert isinstance(provider_of(Address(url="http://127.0.0.1:1", shape="anthropic")), AnthropicProvider)
    with pytest.raises(ValueError, match="pattern"):
        Address(url="https://user:key@example.com")


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """The command on a folder of one good bot and one bad."""
    folder = tmp_path / "bots"
    folder.mkdir()
    good = "---\nname: Good\nextends: desk\nlimits: { per: { day: 0.5 } }\nvoice: { first: Hello. }\n---\nWe sell.\n"
    (folder / "good.md").write_text(good, "utf-8")
    (folder / "bad.md").write_text("---\nname: Bad\nsurfaces: [voice]\nlimts: {}\n---\nB\n", "utf-8")

    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(bots_command, arguments, env={"FIRSTWORD_CONTENT": str(tmp_path)})
        return done.exit_code, done.output

    return run


def test_bots_check_says_each_refusal_with_its_line_and_ends_with_1(told: Callable[..., tuple[int, str]]) -> None:
    code, said = told("check")
    lines = said.splitlines()
    assert code == 1
    assert lines[0] == "bots/bad.md:4: there is no key `limts`. Did you mean `limits`?."
    assert lines[1].startswith("2 files in ")
    code, said = told("check", "--json")
    assert (code, json.loads(said)["bots"]) == (1, ["good"])


def test_bots_show_says_what_the_server_will_do(told: Callable[..., tuple[int, str]]) -> None:
    code, said = told("show", "good")
    assert code == 0
    for words in (
        "Good   /good",
        "We sell.",
        "one person    0.50 a day",
        "about_me",
        "in-danger",
        "says first    “Hello.”",
        "if it ends without an answer",
    ):
        assert words in said
    assert not [line for line in said.splitlines() if line != line.rstrip()]


def test_tickets_and_memories_are_read_and_forgotten_from_the_command_line(
    told: Callable[..., tuple[int, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRSTWORD_DATA", str(tmp_path / "data"))
    assert told("tickets") == (0, "no tickets\n")
    assert told("memories", "good", "ann") == (0, "good remembers nothing of ann\n")
    assert told("memories", "good", "ann", "--forget-all", "--json") == (0, '{"memories": []}\n')
    code, said = told("memories", "good", "ann", "--forget", "7")
    assert (code, said) == (1, "Error: good remembers no number 7 of ann\n")
