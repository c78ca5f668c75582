"""A bot as somebody reads it on a terminal: who it is, whose, what it can do, what it may use, how it sounds.

Not JSON, which `--json` gives. The one rule: every line says what the server will do, defaults filled in and names
spelled out.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from agents_core import WINDOWS, Bot, Bots

_WIDTH = 96
_MEMORY = {
    "none": "nothing, not even the line before",
    "thread": "the conversation it is in",
    "person": "the conversation, and what this person asked before",
    "person+recall": "the conversation, what this person asked before, and what they said of themselves",
}


def shown(bot: Bot, bots: Bots) -> list[str]:
    """The bot, a line at a time."""
    lines = [f"{bot.name}   /{bot.slug}", "─" * min(_WIDTH, len(bot.name) + len(bot.slug) + 4)]
    lines += [*_wrapped(bot.prompt), ""]
    for label, said, table in _facts(bot, bots):
        if table:
            lines += ["", label, *(f"  {line}" for line in said)]
        else:
            lines += [f"{label:14}{said[0]}"]
    return lines


def _facts(bot: Bot, bots: Bots) -> Iterator[tuple[str, list[str], bool]]:
    yield "where", [", ".join(bot.surfaces)], False
    yield "for", [" or ".join(bot.audience) or "anyone"], False
    if bot.serves:
        yield "about", [" or ".join(bot.serves)], False
    yield "remembers", [_MEMORY[bot.memory]], False
    if bot.model:
        yield "model", [f"{bot.model}, at the first address that costs money"], False
    yield "one answer", [_ceilings(bot)], False
    if bot.per:
        yield "one person", [", ".join(f"{_money(bot.per[w])} a {w}" for w in WINDOWS if w in bot.per)], False
    if bot.voice:
        yield "sounds", [_sounds(bot)], False
        if bot.voice.first:
            yield "says first", [f"“{bot.voice.first}”"], False
    yield from _able(bot, bots)
    if bot.exchanges:
        known = [f"{exchange.questions[0]}  →  {exchange.answer}" for exchange in bot.exchanges]
        short = [textwrap.shorten(one, _WIDTH - 2, placeholder="…") for one in known]
        yield f"knows {len(known)} answers", short, True
    said = {ending: words for ending, words in bot.endings.items() if words}
    yield "if it ends without an answer", _table(said), True


def _able(bot: Bot, bots: Bots) -> Iterator[tuple[str, list[str], bool]]:
    tools = {name: bots.tools[name] for name in bot.tools if name in bots.tools}
    if tools:
        yield "can", _table({name: _whose(tool.description, tool.audience) for name, tool in tools.items()}), True
    skills = {name: bots.skills[name] for name in bot.skills if name in bots.skills}
    if skills:
        yield "knows", _table({name: _whose(skill.description, skill.audience) for name, skill in skills.items()}), True
    commands = {f"/{c.name}": _whose(c.description, c.audience) for c in bots.commands.values() if c.bot == bot.slug}
    if commands:
        yield "answers to", _table(commands), True


def _whose(said: str, audience: tuple[str, ...]) -> str:
    return f"{said} (for {' or '.join(audience)})" if audience else said


def _ceilings(bot: Bot) -> str:
    most = bot.ceilings
    return f"at most {most.steps} steps, {_money(most.spend)}, {most.minutes:g} minutes"


def _money(micro: int) -> str:
    return f"{micro / 1_000_000:.6f}".rstrip("0").rstrip(".") if micro % 10_000 else f"{micro / 1_000_000:.2f}"


def _sounds(bot: Bot) -> str:
    voice = bot.voice
    assert voice is not None  # noqa: S101  (asked only of a bot that has one)
    parts = [voice.language, f"{voice.by} {voice.engine if voice.by == 'local' else ''}".strip(), voice.voice]
    parts += [f"speed {voice.speed:g}", f"waits ×{voice.wait:g}", f"drawn as {voice.visual}"]
    return ", ".join(part for part in parts if part)


def _table(rows: Mapping[str, str]) -> list[str]:
    wide = max(map(len, rows), default=0) + 2
    lines: list[str] = []
    for name, said in rows.items():
        first, *rest = textwrap.wrap(said, _WIDTH - wide - 2) or [""]
        lines += [f"{name:{wide}}{first}", *(" " * wide + more for more in rest)]
    return lines


def _wrapped(text: str) -> list[str]:
    paragraphs = [paragraph for paragraph in text.split("\n\n") if paragraph.strip()]
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [*textwrap.wrap(" ".join(paragraph.split()), _WIDTH), ""]
    return lines[:-1]
