"""What a bot's file may say, and what a bot is once it is read.

Not the reading: `compile` does that. The one rule: a field that is here is acted on somewhere; one that is not acted on
yet is in `LATER`, and refused in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agents_core.events import Ceilings
from agents_core.examples import Exchange, take_out

Surface = Literal["voice", "support", "spaces", "coaching"]
Audience = Literal["anyone", "authenticated"]
Visual = Literal["aura", "bar", "grid", "radial", "wave"]

# Named by the design, not acted on by this release: a file that says them would be promised what it does not get.
LATER = ("serves", "hears", "tools", "skills", "answers", "offer", "extends")

_Short = Annotated[str, Field(min_length=1, max_length=80)]
_Sentence = Annotated[str, Field(max_length=400)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class VoiceMatter(_Strict):
    """The `voice:` block, as it may be written."""

    by: Literal["local", "endpoint"] = "local"
    engine: _Short = "piper"
    voice: Annotated[str, Field(max_length=80)] = ""
    voices: list[_Short] = Field(default_factory=list, max_length=60)
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] = "en"
    speed: Annotated[float, Field(ge=0.5, le=2.0)] = 1.0
    first: _Sentence = ""
    wait: Annotated[float, Field(ge=0.3, le=3.0)] = 1.0
    words: Annotated[int, Field(ge=3, le=40)] = 12
    gap: Annotated[float, Field(ge=0.0, le=1.0)] = 0.12
    steps: Annotated[int, Field(ge=2, le=16)] = 8
    opening: Annotated[int, Field(ge=2, le=16)] | None = None
    visual: Visual = "aura"
    preempt: bool | None = None


class LimitsMatter(_Strict):
    """The `limits:` block: what one run may use."""

    steps: Annotated[int, Field(ge=1, le=100)] = 12
    spend: Annotated[float, Field(ge=0.000001, le=1000)] = 0.5
    minutes: Annotated[float, Field(gt=0, le=1440)] = 10.0


class EndingsMatter(_Strict):
    """The `endings:` block: what is said where a run ends without an answer."""

    cancelled: _Sentence | None = None
    out_of_money: _Sentence | None = None
    out_of_steps: _Sentence | None = None
    out_of_time: _Sentence | None = None
    nothing_to_add: _Sentence | None = None
    failed: _Sentence | None = None


class BotMatter(_Strict):
    """The front matter of a bot's file."""

    name: _Short
    surfaces: list[Surface] = Field(min_length=1)
    for_: list[Audience] = Field(default=["anyone"], alias="for", min_length=1)
    limits: LimitsMatter = LimitsMatter()
    model: Annotated[str, Field(max_length=120)] = ""
    memory: Literal["none", "thread"] = "thread"
    voice: VoiceMatter | None = None
    endings: EndingsMatter = EndingsMatter()


@dataclass(frozen=True, slots=True)
class BotVoice:
    """How a bot sounds. `gap_s` seconds between pieces; `wait` scales the pauses that end a turn; `preempt` None means
    on where thinking is free."""

    by: Literal["local", "endpoint"] = "local"
    engine: str = "piper"
    voice: str = ""
    voices: tuple[str, ...] = ()
    language: str = "en"
    speed: float = 1.0
    first: str = ""
    wait: float = 1.0
    words: int = 12
    gap_s: float = 0.12
    steps: int = 8
    opening: int | None = None
    visual: Visual = "aura"
    preempt: bool | None = None


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot, compiled: its file's words, the house's defaults filled in. `voice` is None without the voice surface."""

    slug: str
    name: str
    surfaces: tuple[Surface, ...]
    audience: tuple[Audience, ...]
    prompt: str
    ceilings: Ceilings
    model: str
    memory: Literal["none", "thread"]
    voice: BotVoice | None
    endings: Mapping[str, str] = field(default_factory=dict)
    exchanges: tuple[Exchange, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return asdict(self)


def bot_from(slug: str, matter: BotMatter, body: str, endings: Mapping[str, str]) -> Bot:
    """The bot that `matter` and the body describe; the house's `endings` under its own."""
    voice = None
    if "voice" in matter.surfaces:
        said = (matter.voice or VoiceMatter()).model_dump()
        said["gap_s"], said["voices"] = said.pop("gap"), tuple(said["voices"])
        voice = BotVoice(**said)
    limits = matter.limits
    prompt, exchanges = take_out(body)
    own = {ending: words for ending, words in matter.endings.model_dump().items() if words is not None}
    return Bot(
        slug=slug,
        name=matter.name,
        surfaces=tuple(dict.fromkeys(matter.surfaces)),
        audience=tuple(dict.fromkeys(matter.for_)),
        prompt=prompt,
        exchanges=exchanges,
        ceilings=Ceilings(limits.steps, round(limits.spend * 1_000_000), limits.minutes),
        model=matter.model,
        memory=matter.memory,
        voice=voice,
        endings={**endings, **own},
    )
