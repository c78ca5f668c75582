"""How a bot stands: who may talk to it, what it may spend, whether it can answer now, and why not.

Sentences and plain values. The one rule: "can answer" is what would happen to somebody who asked at this moment, not
what the file hopes for.
"""

from __future__ import annotations

from typing import Any

from agents_core import Bot, Refusal
from web.desk.parts import DeskParts

_MICRO = 1_000_000
_WHO = {
    "anyone": "anyone",
    "authenticated": "people who have signed in",
    "customer": "customers",
    "subscribed": "subscribers",
}


def standing(parts: DeskParts, slug: str, refusals: list[Refusal]) -> dict[str, Any]:
    """A row of the list of bots."""
    bot = parts.bots.get(slug)
    can, why = _can(parts, bot, refusals)
    return {
        "slug": slug,
        "name": bot.name if bot else slug,
        "visual": bot.voice.visual if bot and bot.voice else "aura",
        "who": _who(bot.audience) if bot else "",
        "spends": _spends(bot) if bot else "",
        "can": can,
        "why": why,
        "spoken": bool(bot and bot.voice),
    }


def _can(parts: DeskParts, bot: Bot | None, refusals: list[Refusal]) -> tuple[bool, str]:
    if bot is None:
        said = f"{refusals[0].what}. {refusals[0].instead}." if refusals else "it was not read yet."
        return False, f"Its file is refused: {said}"
    if not parts.readiness().get("ready"):
        return False, "The models are getting ready."
    thinkers = parts.thinkers()
    if not any(not each.why_not for each in thinkers):
        reasons = "; ".join(f"{each.name}: {each.why_not}" for each in thinkers) or "no model is configured"
        return False, f"Nobody can be asked ({reasons})."
    if refusals:
        return True, f"Its last good version goes on; the file is refused: {refusals[0].what}."
    if bot.voice is None:
        return True, "In writing only: the voice page is not among where it is."
    return True, ""


def _who(audience: tuple[str, ...]) -> str:
    """An audience in words."""
    words = [_WHO.get(each) or each.replace(":", " ", 1) for each in audience] or ["anyone"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _spends(bot: Bot) -> str:
    """What it may spend, in words."""
    told = [f"{bot.ceilings.spend / _MICRO:g} an answer"]
    told += [f"{most / _MICRO:g} a person each {window}" for window, most in bot.per.items()]
    return ", ".join(told)
