"""Providers in order: who is asked, who is not, and why."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime

import pytest
from core_house import Told

from agents_core import Profile, Question, Whole, Words
from agents_core.errors import ProviderFault, Verdict
from agents_core.providers.breaker import FAILURES, OPEN_S, WINDOW_S, Breaker
from agents_core.providers.classify import classify_status, rest_asked, said
from agents_core.providers.line import Chosen, Line, Patience

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
DOWN = Verdict("provider", 0.0, "overloaded")
STAND_IN = {"not_live": "Buying is off.", "no_provider": "Nobody is there."}


def line(
    *providers: Told, live: bool = True, patience: Patience | None = None, clock: Callable[[], float] = float
) -> Line:
    return Line(providers, live=live, stand_in=STAND_IN, patience=patience, clock=clock)


def question(_profile: Profile) -> Question:
    return Question(({"role": "user", "content": "Hello?"},))


async def answer(asked: Line, **more: object) -> tuple[Chosen, str]:
    given = [said async for said in asked.ask(question, **more)]  # type: ignore[arg-type]
    assert isinstance(given[0], Chosen)
    assert isinstance(given[-1], Whole)
    return given[0], "".join(said.text for said in given if isinstance(said, Words))


@pytest.mark.parametrize(
    ("status", "body", "whose", "rest_s"),
    [
        pytest.param(401, '{"error":{"message":"bad key"}}', "key", 3600, id="401"),
        pytest.param(402, "", "key", 3600, id="FK7-402"),
        pytest.param(
            400,
            '{"error":{"message":"You have reached your specified API usage limits"}}',
            "key",
            3600,
            id="FK7-400-usage-limits",
        ),
        pytest.param(403, "", "key", 3600, id="403"),
        pytest.param(429, "", "key", 60, id="429"),
        pytest.param(400, '{"error":{"message":"temperature must be a number"}}', "ours", 0, id="400-real"),
        pytest.param(413, "", "ours", 0, id="413"),
        pytest.param(422, "", "ours", 0, id="422"),
        pytest.param(404, '{"error":"no such model"}', "provider", 0, id="unknown-model"),
        pytest.param(500, "", "provider", 0, id="500"),
        pytest.param(529, "", "provider", 0, id="529"),
        pytest.param(302, "", "provider", 0, id="redirect"),
    ],
)
def test_whose_a_failure_is(status: int, body: str, whose: str, rest_s: float) -> None:
    verdict = classify_status(status, body, now=NOW)
    assert (verdict.whose, verdict.rest_s) == (whose, rest_s)
    assert verdict.try_next == (whose != "ours")


@pytest.mark.parametrize(
    ("header", "rest_s"),
    [
        pytest.param(None, None, id="none"),
        pytest.param("7", 7.0, id="seconds"),
        pytest.param("0.5", 0.5, id="half-a-second"),
        pytest.param("NaN", None, id="not-a-number"),
        pytest.param("inf", None, id="for-ever"),
        pytest.param("-3", None, id="negative"),
        pytest.param("99999", 3600.0, id="longer-than-an-hour"),
        pytest.param("Mon, 30 Nov 2026 12:00:09 GMT", 9.0, id="a-date"),
        pytest.param("Mon, 30 Nov 2026 11:00:00 GMT", 0.0, id="a-date-that-is-past"),
        pytest.param("soon", None, id="nonsense"),
    ],
)
def test_how_long_a_key_is_asked_to_rest(header: str | None, rest_s: float | None) -> None:
    assert rest_asked(header, NOW) == rest_s


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        pytest.param('{"error":{"message":"No."}}', "No.", id="openai"),
        pytest.param('[{"error":{"message":"No."}}]', "No.", id="in-a-list"),
        pytest.param('{"detail":[{"msg":"No."}]}', "No.", id="fastapi"),
        pytest.param("<html><body>502</body></html>", "", id="a-page"),
        pytest.param('{"error":"key sk-abcdef123456 is wrong"}', "key (key) is wrong", id="with-the-key-in-it"),
    ],
)
def test_the_providers_own_sentence_is_found(body: str, sentence: str) -> None:
    assert said(body) == sentence


async def test_the_next_is_asked_before_the_first_word_only() -> None:
    first, second = Told([DOWN], name="first"), Told(["Hi."], name="second")
    chosen, words = await answer(line(first, second))
    assert (chosen.provider, words, chosen.skipped) == ("second", "Hi.", ("first: overloaded",))
    cut = Told(["Well, ", DOWN], name="first")
    with pytest.raises(ProviderFault, match="overloaded"):
        await answer(line(cut, second))
    assert len(second.asked) == 1


async def test_a_fault_of_ours_is_asked_of_nobody_else() -> None:
    second = Told(["Hi."])
    with pytest.raises(ProviderFault, match="malformed"):
        await answer(line(Told([Verdict("ours", 0, "malformed")]), second))
    assert second.asked == []


async def test_a_blank_answer_is_no_answer() -> None:
    chosen, words = await answer(line(Told([" \n"], name="first"), Told(["Hi."], name="second")))
    assert (chosen.provider, words) == ("second", "Hi.")


async def test_a_silent_provider_is_left_for_the_next_and_closed() -> None:
    silent = Told(["hang"], name="silent")
    chosen, words = await answer(line(silent, Told(["Hi."]), patience=Patience(first_word_s=0.001)))
    assert (words, silent.closed) == ("Hi.", 1)
    assert "silent" in chosen.skipped[0]


async def test_silence_after_the_first_word_is_a_fault() -> None:
    with pytest.raises(ProviderFault, match="silent"):
        await answer(line(Told(["Well, ", "hang"]), patience=Patience(silence_s=0.001)))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        pytest.param("local", "^the model on this machine gave an empty answer$", id="here"),
        pytest.param("api.example", "^api.example gave an empty answer$", id="elsewhere"),
    ],
)
async def test_a_failure_names_who_failed_as_a_person_would(name: str, told: str) -> None:
    with pytest.raises(ProviderFault, match=told):
        await answer(line(Told([" "], name=name)))


async def test_nothing_is_bought_until_live_is_said_and_the_stand_in_says_so() -> None:
    dear = Told(["Bought."], name="dear", costs=True)
    chosen, words = await answer(line(dear, live=False))
    assert (chosen.provider, words) == ("script", "Buying is off.")
    assert "dear" in chosen.skipped[0]
    chosen, words = await answer(line(dear, Told(["Free."], name="free"), live=False))
    assert (chosen.provider, words) == ("free", "Free.")
    assert dear.asked == []
    assert (await answer(line(dear, live=True)))[1] == "Bought."


async def test_with_nobody_configured_the_stand_in_says_so() -> None:
    assert (await answer(line()))[1] == "Nobody is there."


async def test_a_run_that_carries_a_script_is_never_bought() -> None:
    dear = Told(["Bought."], costs=True)
    given = line(dear, live=True).ask(lambda _: Question((), script=("From the script.",)), script=True)
    words = "".join([said.text async for said in given if isinstance(said, Words)])
    assert (words, dear.asked) == ("From the script.", [])


async def test_a_bots_model_is_for_the_provider_it_was_written_for() -> None:
    dear, backup = Told([DOWN], costs=True), Told(["Hi."], costs=True)
    chosen, _ = await answer(line(dear, backup), model="big-one")
    assert (dear.asked[0].model, backup.asked[0].model, chosen.model) == ("big-one", "", "told-model")


async def test_a_key_that_rests_is_not_asked_and_then_is() -> None:
    now_s = [0.0]
    tired = Told([Verdict("key", 60, "slow down")], ["Rested."], name="tired")
    asked = line(tired, Told(["Hi."], name="next"), clock=lambda: now_s[0])
    assert (await answer(asked))[1] == "Hi."
    now_s[0] = 59.0
    assert (await answer(asked))[0].skipped == ("tired: its key rests for 1 s",)
    now_s[0] = 60.0
    assert (await answer(asked))[1] == "Rested."


async def test_fk17_a_cancel_counts_for_nobody_and_closes_the_provider() -> None:
    provider = Told(["one ", "hang"])
    asked = line(provider)
    for _ in range(FAILURES + 1):
        async with aclosing(asked.ask(question)) as given:
            await anext(given)
            await anext(given)
    assert provider.closed == FAILURES + 1
    async with aclosing(asked.ask(question)) as given:
        assert isinstance(await anext(given), Chosen)
        assert len(provider.asked) == FAILURES + 2


async def test_fk15_half_open_lets_one_question_through() -> None:
    now_s = [0.0]
    provider = Told(*[[DOWN]] * FAILURES, ["hang"], name="shaky")
    asked = line(provider, Told(["Hi."], name="next"), clock=lambda: now_s[0])
    for _ in range(FAILURES + 2):
        await answer(asked)
    assert len(provider.asked) == FAILURES
    now_s[0] = OPEN_S
    probe = asyncio.create_task(answer(asked))
    while len(provider.asked) == FAILURES:
        await asyncio.sleep(0)
    others = await asyncio.gather(*(answer(asked) for _ in range(9)))
    assert {words for _, words in others} == {"Hi."}
    assert len(provider.asked) == FAILURES + 1
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe


def test_a_breaker_opens_within_its_window_and_a_failed_probe_opens_it_anew() -> None:
    slow = Breaker()
    for n in range(FAILURES):
        slow.failed(n * WINDOW_S)
    assert slow.refusal(FAILURES * WINDOW_S) is None
    breaker = Breaker()
    for _ in range(FAILURES):
        breaker.failed(10.0)
    assert breaker.refusal(10.0 + OPEN_S - 1)
    assert breaker.refusal(10.0 + OPEN_S) is None
    breaker.failed(10.0 + OPEN_S)
    assert breaker.refusal(10.0 + OPEN_S + 1)
    assert breaker.refusal(10.0 + 2 * OPEN_S) is None
    assert breaker.answered(10.0 + 2 * OPEN_S) == 2 * OPEN_S
    assert breaker.refusal(10.0 + 2 * OPEN_S) is None
    assert breaker.answered(10.0 + 3 * OPEN_S) is None


async def test_whoever_watches_is_told_once_when_a_provider_is_left_alone_and_once_when_it_answers_again() -> None:
    now_s = [0.0]
    provider = Told(*[[DOWN]] * FAILURES, [DOWN], ["Hi."], name="shaky")
    asked = line(provider, Told(["Hi."], name="next"), clock=lambda: now_s[0])
    told: list[tuple[str, float | None]] = []
    asked.on_breaker = lambda name, rested_s: told.append((name, rested_s))
    for later_s in (*[0.0] * (FAILURES + 2), OPEN_S, 2 * OPEN_S, 3 * OPEN_S):
        now_s[0] = later_s
        await answer(asked)
    assert told == [("shaky", None), ("shaky", 2 * OPEN_S)]
