"""What a bot's file may say, and what a bot is once it is read.

Not the reading: `compile` does that. The one rule: a key that is here is acted on; a value that nothing here would act
on is refused in words rather than kept for later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from agents_core.audience import AudienceWord
from agents_core.events import Ceilings
from agents_core.examples import Exchange, take_out
from agents_core.matter import Matter, Refused

Surface = Literal["voice", "support", "spaces", "coaching"]
Visual = Literal["aura", "bar", "grid", "radial", "wave"]
Memory = Literal["none", "thread", "person", "person+recall"]
_MICRO = 1_000_000


def _listed(value: object) -> object:
    """A file may write one word where it holds one thing."""
    return [value] if isinstance(value, str) else value


Audience = Annotated[list[AudienceWord], BeforeValidator(_listed)]
Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=80)]], BeforeValidator(_listed)]
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
    topic: _Sentence = ""
    wait: Annotated[float, Field(ge=0.3, le=3.0)] = 1.0
    words: Annotated[int, Field(ge=3, le=40)] = 12
    gap: Annotated[float, Field(ge=0.0, le=1.0)] = 0.12
    steps: Annotated[int, Field(ge=2, le=16)] = 8
    opening: Annotated[int, Field(ge=2, le=16)] | None = None
    visual: Visual = "aura"
    preempt: bool | None = None


_Money = Annotated[float, Field(ge=0, le=1_000_000)]


class PerMatter(_Strict):
    """What one person may spend in each window. They roll: a day is the last 24 hours."""

    minute: _Money | None = None
    hour: _Money | None = None
    day: _Money | None = None
    week: _Money | None = None
    month: _Money | None = None


class LimitsMatter(_Strict):
    """The `limits:` block: what one run may use, and what one person may spend `per` window."""

    steps: Annotated[int, Field(ge=1, le=100)] = 12
    spend: Annotated[float, Field(ge=0.000001, le=1000)] = 0.5
    minutes: Annotated[float, Field(gt=0, le=1440)] = 10.0
    per: PerMatter = PerMatter()


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
    surfaces: Annotated[list[Surface], BeforeValidator(_listed)] = Field(min_length=1)
    for_: Audience = Field(default=[], alias="for")
    serves: Audience = Field(default=[])
    hears: list[Any] = Field(default=[])
    tools: Names = Field(default=[])
    skills: Names = Field(default=[])
    limits: LimitsMatter = LimitsMatter()
    model: Annotated[str, Field(max_length=120)] = ""
    memory: Memory = "thread"
    answers: Literal["directly", "draft"] = "directly"
    offer: Literal["off", "ask", "always"] = "off"
    voice: VoiceMatter | None = None
    endings: EndingsMatter = EndingsMatter()
    extends: Annotated[str, Field(max_length=60)] = ""


BLOCKS: Mapping[tuple[str, ...], type[BaseModel]] = {
    (): BotMatter,
    ("voice",): VoiceMatter,
    ("limits",): LimitsMatter,
    ("limits", "per"): PerMatter,
    ("endings",): EndingsMatter,
}


_WAKES: Mapping[str, str] = {"mention": "a mention", "schedule": "a time", "event": "an event"}


def never_acted_on(matter: Matter) -> Iterator[Refused]:
    """What a file says that nothing in this server would do. Better refused than promised."""
    values = matter.values
    surfaces = _listed(values.get("surfaces"))
    if "voice" in values and isinstance(surfaces, list) and "voice" not in surfaces:
        yield Refused(
            matter.line(("voice",)),
            "`voice:` says how the bot sounds, but `surfaces:` does not have `voice`",
            "Add `voice` to `surfaces:`, or take the `voice:` block out",
            "surfaces",
        )
    hears = values.get("hears")
    for n, trigger in enumerate(hears if isinstance(hears, list) else []):
        kind = next(iter(trigger), "") if isinstance(trigger, dict) else trigger
        yield Refused(
            matter.line(("hears", n)),
            f"nothing here would wake it at {_WAKES.get(str(kind), f'`{kind}`')}",
            "Take it out: a bot of this server is woken by whoever speaks or writes to it",
            "hears",
        )
    if values.get("answers") == "draft":
        yield Refused(
            matter.line(("answers",)),
            "there is no desk here to hand a draft to",
            "Write `answers: directly`",
            "answers",
        )
    if values.get("offer") in ("ask", "always"):
        yield Refused(
            matter.line(("offer",)),
            "there is no desk here on which the bot could be offered",
            "Write `offer: off`, or take the key out",
            "offer",
        )


@dataclass(frozen=True, slots=True)
class BotVoice:
    """How a bot sounds. `gap_s` seconds between pieces; `wait` scales the pauses that end a turn; `preempt` None means
    on where thinking is free; `topic` is a sentence about what people talk of here, whose words the ear expects."""

    by: Literal["local", "endpoint"] = "local"
    engine: str = "piper"
    voice: str = ""
    voices: tuple[str, ...] = ()
    language: str = "en"
    speed: float = 1.0
    first: str = ""
    topic: str = ""
    wait: float = 1.0
    words: int = 12
    gap_s: float = 0.12
    steps: int = 8
    opening: int | None = None
    visual: Visual = "aura"
    preempt: bool | None = None


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot, compiled: its file's words, the house's defaults filled in. `voice` is None without the voice surface.

    `audience` is asked of whoever pressed, `serves` of whom it is about. `tools` and `skills` are names, `per` what one
    person may spend in each window, in millionths.
    """

    slug: str
    name: str
    surfaces: tuple[Surface, ...]
    audience: tuple[str, ...]
    prompt: str
    ceilings: Ceilings
    model: str
    memory: Memory
    voice: BotVoice | None
    endings: Mapping[str, str] = field(default_factory=dict)
    exchanges: tuple[Exchange, ...] = ()
    serves: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    per: Mapping[str, int] = field(default_factory=dict)

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
    per = {window: round(most * _MICRO) for window, most in limits.per.model_dump().items() if most is not None}
    return Bot(
        slug=slug,
        name=matter.name,
        surfaces=tuple(dict.fromkeys(matter.surfaces)),
        audience=tuple(dict.fromkeys(matter.for_)),
        serves=tuple(dict.fromkeys(matter.serves)),
        prompt=prompt,
        exchanges=exchanges,
        ceilings=Ceilings(limits.steps, round(limits.spend * _MICRO), limits.minutes),
        per=per,
        model=matter.model,
        memory=matter.memory,
        voice=voice,
        endings={**endings, **own},
        tools=tuple(dict.fromkeys(matter.tools)),
        skills=tuple(dict.fromkeys(matter.skills)),
    )
