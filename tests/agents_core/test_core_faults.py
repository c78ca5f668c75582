"""Every fault a provider can have, over real HTTP, in both shapes: who is asked, how often, and what rests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace

import pytest

from agents_core import AnthropicProvider, OpenAIProvider, Patience, Profile, Question, Whole, Words
from agents_core.errors import ProviderFault
from agents_core.providers.breaker import FAILURES
from agents_core.providers.line import Chosen, Line
from firstword.testing.provider import FAULTS, WELL, WORDS, FakeProvider

QUESTION = Question(({"role": "system", "content": "You are X."}, {"role": "user", "content": "Hi."}))
ANSWER = "".join(WORDS)
SHAPES = [pytest.param(OpenAIProvider, id="openai"), pytest.param(AnthropicProvider, id="anthropic")]
Makes = Callable[..., OpenAIProvider]
# Whose each fault is, and where the answer had begun.
KEY = {"429": 7.0, "401": 3600.0, "402": 3600.0, "400-key": 3600.0}
OURS = ("400",)
BEGUN = ("stall", "cut", "error-later")
# Only what would wait for ever is hurried: on a busy machine a good answer may take its time.
CALM = Patience(first_word_s=30, backup_first_word_s=30, silence_s=30, turn_s=60)
HURRY = {"no-first-word": {"first_word_s": 0.2}, "slow-drip": {"first_word_s": 0.2}, "stall": {"silence_s": 0.2}}


@pytest.fixture
async def fake() -> AsyncIterator[FakeProvider]:
    async with FakeProvider(keys={"tired": "429", "spent": "402"}) as served:
        yield served


@pytest.fixture
async def cleanup() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def answer(line: Line, **more: object) -> tuple[Chosen, str, Whole]:
    async with aclosing(line.ask(lambda _: QUESTION, **more)) as chunks:  # type: ignore[arg-type]
        given = [chunk async for chunk in chunks]
    assert isinstance(given[0], Chosen)
    assert isinstance(given[-1], Whole)
    return given[0], "".join(said.text for said in given if isinstance(said, Words)), given[-1]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_before_the_first_word_is_the_next_ones_turn(
    fake: FakeProvider, cleanup: AsyncExitStack, shape: Makes, fault: str
) -> None:
    now_s = [0.0]
    broken = shape(fake.url, fault, name="broken", trust_env=False)
    backup = shape(fake.url, "backup", name="backup", trust_env=False)
    patience = replace(CALM, **HURRY.get(fault, {}))
    line = Line([broken, backup], live=True, patience=patience, clock=lambda: now_s[0])
    cleanup.push_async_callback(line.close)
    if fault in WELL:
        chosen, words, whole = await answer(line)
        assert (chosen.provider, words, whole.usage.completion_tokens) == ("broken", ANSWER, len(WORDS))
    elif fault in OURS or fault in BEGUN:
        with pytest.raises(ProviderFault) as raised:
            await answer(line)
        assert raised.value.verdict.whose == ("ours" if fault in OURS else "provider")
        assert [asked.fault for asked in fake.asked] == [fault]
    else:
        chosen, words, _ = await answer(line)
        assert (chosen.provider, words) == ("backup", ANSWER)
        assert len(chosen.skipped) == 1
        if fault in HURRY:
            return  # left so soon that on a busy machine it may not even have been asked
        rest_s = KEY.get(fault)
        for asked_s, more in ((0.0, True), ((rest_s or 0) - 1, rest_s is None), (rest_s or 0, True)):
            now_s[0] = max(0.0, asked_s)
            before = len(fake.asked)
            await answer(line)
            expected = [fault, "backup"] if (more and not (rest_s and asked_s == 0.0)) else ["backup"]
            assert [asked.fault for asked in fake.asked[before:]] == expected


@pytest.mark.parametrize("shape", SHAPES)
async def test_keys_are_tried_in_turn_within_one_question_and_rest_by_themselves(
    fake: FakeProvider, shape: Makes
) -> None:
    now_s = [0.0]
    keyed = shape(fake.url, "fine", key="tired", more_keys=("spent", "good"), name="keyed", trust_env=False)
    line = Line([keyed], live=True, clock=lambda: now_s[0])
    chosen, words, _ = await answer(line)
    assert (words, [asked.key for asked in fake.asked]) == (ANSWER, ["tired", "spent", "good"])
    assert chosen.skipped == (
        "keyed (key 1 of 3): Too many requests",
        "keyed (key 2 of 3): There is no money left",
    )
    assert "tired" not in str(chosen.skipped)
    await answer(line)
    now_s[0] = 8.0
    await answer(line)
    assert [asked.key for asked in fake.asked[3:]] == ["good", "tired", "good"]
    await line.close()


async def test_a_question_is_one_failure_however_many_keys(fake: FakeProvider) -> None:
    broken = OpenAIProvider(fake.url, "500", key="a", more_keys=("b", "c"), name="broken", trust_env=False)
    line = Line([broken, OpenAIProvider(fake.url, "ok", trust_env=False)], live=True, clock=float)
    for _ in range(FAILURES + 2):
        await answer(line)
    assert [asked.fault for asked in fake.asked].count("500") == FAILURES
    await line.close()


async def test_a_provider_whose_keys_all_rest_is_said_and_a_refused_key_opens_no_breaker(fake: FakeProvider) -> None:
    now_s = [0.0]
    tired = OpenAIProvider(fake.url, "x", key="tired", name="tired", trust_env=False)
    words_for = {"resting": "All rest.", "no_provider": "Nobody."}
    line = Line([tired], live=True, stand_in=words_for, clock=lambda: now_s[0])
    for _ in range(FAILURES + 1):
        with pytest.raises(ProviderFault, match="Too many"):
            await answer(line)
        chosen, words, _ = await answer(line)
        assert (words, chosen.skipped) == ("All rest.", ("tired: its key rests for 7 s",))
        now_s[0] += 7.0
    await line.close()


@pytest.mark.parametrize("shape", SHAPES)
async def test_nothing_is_bought_by_accident_over_the_wire(fake: FakeProvider, shape: Makes) -> None:
    """A key is not consent, and a script is never bought, whatever is configured."""
    dear = shape(fake.url, "fine", key="good", trust_env=False)
    unbought = Line([dear], live=False, stand_in={"not_live": "Off."}, clock=float)
    assert (await answer(unbought))[1] == "Off."
    bought = Line([dear], live=True, clock=float)
    assert (await answer(bought, script=True))[0].provider == "script"
    assert fake.asked == []
    assert (await answer(bought))[1] == ANSWER
    assert len(fake.asked) == 1
    await bought.close()


async def test_no_key_travels_to_another_host_and_none_is_in_a_sentence(fake: FakeProvider) -> None:
    lost = OpenAIProvider(fake.url, "redirect", key="sk-secret-123456", trust_env=False)
    with pytest.raises(ProviderFault, match="307") as raised:
        async for _ in lost.ask(QUESTION):
            pass
    assert "secret" not in str(raised.value)
    await lost.close()


async def test_what_is_asked_of_each_shape_is_what_it_takes(fake: FakeProvider) -> None:
    theirs = AnthropicProvider(fake.url, "m", key="good", profile=Profile(max_tokens=9), trust_env=False)
    async for _ in theirs.ask(QUESTION):
        pass
    (asked,) = fake.asked
    assert (asked.key, asked.body["max_tokens"], asked.body["system"][0]["text"]) == ("good", 9, "You are X.")
    assert asked.body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "Hi."}]}]
    await theirs.close()
