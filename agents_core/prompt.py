"""What a model is given: who it is, how to sound, what was said, and what its tools answered.

Not the sending. The one rule: what is fixed comes first and does not change between questions, so that a provider that
keeps prefixes reads it once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from agents_core.bots import Bot
from agents_core.events import Ask, Line
from agents_core.examples import Exchange, lead, length, like
from agents_core.loop import Step
from agents_core.offer import NOTHING, Offer
from agents_core.providers.base import Profile, Question
from agents_core.words import House


def _before(
    bot: Bot, ask: Ask, profile: Profile, fixed_words: str, exchange: Exchange | None
) -> Sequence[dict[str, Any]]:
    """What stands before the question."""
    if exchange:
        # Shown how to answer, a small model needs no history, and everything up to the question has been read before:
        # its first token came after 110 ms instead of 400 (two cores, a history of two lines).
        return shown(fixed_words, exchange)
    first = {"role": "system", "content": fixed_words}
    history = _remembered(ask.history, profile) if bot.memory != "none" else ()
    return (first, *({"role": line.role, "content": line.text} for line in history))


def _with_memories(house: House, asked: str, remembered: Sequence[str]) -> str:
    """Beside the question, so that what is fixed stays fixed; and not as lines, which some models want to alternate."""
    before = "\n".join(f"- {said}" for said in remembered)
    return f"{house.brief['remembered']}\n{before}\n\n{asked}"


def _taken(steps: tuple[Step, ...]) -> list[dict[str, Any]]:
    """The steps as messages. Calls are numbered anew: a model may give one id to two of them."""
    given: list[dict[str, Any]] = []
    waiting: list[tuple[str, str]] = []
    for step in steps:
        if step.kind == "model":
            waiting = [(call.id, f"call_{step.n}_{n}") for n, call in enumerate(step.calls)]
            calls = [
                {"id": id_, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call, (_, id_) in zip(step.calls, waiting, strict=True)
            ]
            given.append({"role": "assistant", "content": step.text, **({"tool_calls": calls} if calls else {})})
            continue
        found = next((pair for pair in waiting if pair[0] == step.call_id), None)
        if found:
            waiting.remove(found)
            given.append({"role": "tool", "tool_call_id": found[1], "content": step.text})
    return given


def shown(system: str, exchange: Exchange) -> tuple[dict[str, Any], ...]:
    """The beginning with an exchange in it, as if it had been said: always the same words, so that it is read once.

    The answer comes before what exchanges share: llama.cpp gives a prompt the kept reading that fits best and forgets
    what of that one does not fit, so where a quarter of two beginnings is the same, one is read at the cost of the
    other. Told twice, a small model also keeps to it: of 19 questions to the guide it answers 15 word for word as the
    file says, and told once 10.
    """
    return (
        {"role": "system", "content": f"{exchange.answer}\n\n{system}"},
        {"role": "user", "content": exchange.questions[0]},
        {"role": "assistant", "content": exchange.answer},
    )


def question(
    bot: Bot,
    house: House,
    ask: Ask,
    steps: tuple[Step, ...],
    profile: Profile,
    offer: Offer = NOTHING,
    remembered: Sequence[str] = (),
) -> Question:
    """The next asking of a model, in OpenAI's shape. `remembered` is what they said in earlier conversations, oldest
    first. A small model goes on from the answer that the bot's file has to such a question."""
    asked = offer.asked(ask.text, ask.surface)
    exchange = like(bot.exchanges, asked) if profile.small else None
    before = _before(bot, ask, profile, system(bot, house, ask, profile, offer), exchange)
    if remembered and not profile.small:
        asked = _with_memories(house, asked, remembered)
    led = exchange if not steps else None
    return Question(
        (*before, {"role": "user", "content": asked}, *_taken(steps)),
        script=ask.script,
        turn=sum(step.kind == "model" for step in steps),
        tools=offer.box(steps).shown() if profile.tools else (),
        # The last step there is must be an answer: a call in it would end the run with nothing said.
        must_answer=len(steps) + 1 >= min(bot.ceilings.steps, ask.ceilings.steps),
        lead=lead(led) if led else "",
        sentences=length(led) if led else None,
    )


def fixed(bot: Bot, house: House, profile: Profile) -> list[tuple[dict[str, Any], ...]]:
    """Every beginning a model may be given that does not depend on who asks what: to be read before anybody asks."""
    words = system(bot, house, Ask(bot.slug, "", "", "", ""), profile)
    asked = {"role": "user", "content": "Hello."}
    exchanges = bot.exchanges if profile.small else ()
    return [
        ({"role": "system", "content": words}, asked),
        *((*shown(words, exchange), asked) for exchange in exchanges),
    ]


def system(bot: Bot, house: House, ask: Ask, profile: Profile, offer: Offer = NOTHING) -> str:
    """The fixed prefix: the bot's own words, a line for each skill, then how an answer is to sound."""
    parts = [bot.prompt]
    if not profile.small:
        parts += [f"{' '.join(exchange.questions)}\n{exchange.answer}" for exchange in bot.exchanges]
    if profile.tools and offer.skills:
        parts.append(f"{house.brief['skills']}\n{offer.lines()}")
    if ask.surface == "voice":
        parts.append(house.brief["small" if profile.small else "voice"])
    if ask.language.split("-")[0] != "en":
        parts.append(house.brief["language"].format_map({"language": ask.language}))
    return "\n\n".join(part for part in parts if part)


def version(bot: Bot, house: House, offer: Offer = NOTHING) -> str:
    """A name for the words a model is given, so that a trace says which ones made an answer."""
    shown_ = json.dumps(offer.box(()).shown(), sort_keys=True)
    words = "\n".join(
        (bot.prompt, str(bot.exchanges), offer.lines(), shown_, *(house.brief[k] for k in sorted(house.brief)))
    )
    return f"{bot.slug}-{hashlib.sha256(words.encode()).hexdigest()[:8]}"


def _remembered(history: tuple[Line, ...], profile: Profile) -> list[Line]:
    """The latest lines that fit, beginning with something the person said: some models refuse to begin otherwise."""
    kept: list[Line] = []
    left = profile.history_chars
    for line in reversed(history[-profile.history_lines :]):
        left -= len(line.text)
        if left < 0:
            break
        if line.text.strip():
            kept.append(line)
    kept.reverse()
    first = next((n for n, line in enumerate(kept) if line.role == "user"), len(kept))
    return kept[first:]
