"""What an asking came to: tokens, money, and the step that says so.

Pure. The one rule: money is whole millionths, rounded up, and counted against what answered rather than what was asked
for.
"""

from __future__ import annotations

from agents_core.events import Ceilings, Usage
from agents_core.loop import Step
from agents_core.providers.base import Profile, Whole
from agents_core.providers.line import Chosen

# A provider that reports no usage, or nonsense, is counted by its characters: English runs at about four to a token.
_CHARS_PER_TOKEN = 4
# A hundred times what any model reads at once. A server that writes its -1 without a sign reports more, and no database
# takes what that would cost.
_MOST_TOKENS = 100_000_000


def model_step(n: int, text: str, whole: Whole | None, *, asked_chars: int, chosen: Chosen) -> Step:
    """The step of a model that said `text`; `whole` is None where it was broken off. `asked_chars` it was given."""
    usage = whole.usage if whole else None
    if usage is None or max(usage.prompt_tokens, usage.completion_tokens) > _MOST_TOKENS:
        usage = Usage(asked_chars // _CHARS_PER_TOKEN, len(text) // _CHARS_PER_TOKEN, estimated=True)
    return Step(
        n,
        "model",
        text=text,
        calls=whole.calls if whole else (),
        cut=whole is None,
        provider=chosen.provider,
        model=(whole.model if whole else "") or chosen.model,
        spent=cost(usage, chosen.profile),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        estimated=usage.estimated,
        skipped=chosen.skipped,
    )


def cost(usage: Usage, profile: Profile) -> int:
    """What `usage` cost, in millionths."""
    thousandths = usage.prompt_tokens * profile.prompt_price + usage.completion_tokens * profile.completion_price
    return -(-thousandths // 1000)


def used(steps: tuple[Step, ...]) -> Usage:
    """The tokens of all these steps."""
    return Usage(
        sum(step.prompt_tokens for step in steps),
        sum(step.completion_tokens for step in steps),
        any(step.estimated for step in steps),
    )


def lower(bot: Ceilings, grant: Ceilings) -> Ceilings:
    """The smaller of the bot's own ceilings and the grant's, each by itself."""
    return Ceilings(min(bot.steps, grant.steps), min(bot.spend, grant.spend), min(bot.minutes, grant.minutes))
