"""What a grant says: one bot, one person, one room, the ceilings, an end.

Values only. The one rule: a grant is complete in itself; nobody looks anything up to honour it.
"""

from __future__ import annotations

from dataclasses import dataclass

LONGEST_S = 30 * 60


@dataclass(frozen=True, slots=True)
class Grant:
    """A verified grant. Times are Unix seconds; `expires_at - issued_at` is at most 1 800 s.

    `spend` is in millionths of a unit of money.
    """

    bot: str
    subject: str
    room: str
    id: str
    issued_at: float
    expires_at: float
    steps: int = 12
    spend: int = 500_000
    minutes: float = 10.0
