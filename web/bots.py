"""What the page knows of a bot: a handful of plain values, handed in by whoever puts the house together.

It is not the bot's file and holds no prompt. The one rule: everything here may be shown to anybody who opens the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Visual = Literal["aura", "bar", "grid", "radial", "wave"]
VISUALS: tuple[Visual, ...] = ("aura", "bar", "grid", "radial", "wave")


@dataclass(frozen=True, slots=True)
class BotCard:
    """One bot as people see it.

    `slug` is its address (`/app/voice/<slug>`), `first` the sentence it opens with ("" where it waits), `visual` the
    shape its site chose, `language` a BCP 47 tag. `voices` and `languages` are what a reader may choose from; a list of
    fewer than two is no choice and is not shown. `remembers` is whether it keeps what people say.
    """

    slug: str
    name: str
    first: str = ""
    visual: str = "aura"
    language: str = "en"
    about: str = ""
    voices: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    remembers: bool = False
