"""What a conversation is put together from: the other rooms as voice sees them, and its limits.

Interfaces and values only. The one rule: a session gets everything from here; it looks nothing up and reads no setting.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from asr.events import ListenEvent
from grant import Signer
from sound import Pcm
from tts import Spoken
from tts.frames import Frame
from voice.cushion import Cushions
from voice.door import DoorClient

if TYPE_CHECKING:
    # What opens no database does not wait for the libraries of one.
    from voice.kept import Kept


T = TypeVar("T")


class LanePort(Protocol):
    """A lane of `models` as a session uses it: a thread of its own for what would hold up everybody's frames."""

    async def run(self, work: Callable[[], T], *, deadline_s: float | None = None) -> T: ...


class CancellerPort(Protocol):
    """An echo canceller that hears the microphone before anything is judged; one for each session.

    `clean` takes the next stretch, mono, and what sounds meanwhile, as long (None for nothing). It may keep part of a
    stretch back until the next.
    """

    def clean(self, heard: Pcm, sounding: Pcm | None) -> Pcm: ...


class ListenerPort(Protocol):
    """`asr.Listener` as a session uses it."""

    language: str

    def push(self, pcm: Pcm) -> None: ...
    def events(self) -> AsyncIterator[ListenEvent]: ...
    def answer_heard(self) -> None: ...
    def commit(self) -> None: ...
    def clear(self) -> None: ...
    def set_mode(self, mode: Literal["open", "push"]) -> None: ...
    async def close(self) -> None: ...


class HandlePort(Protocol):
    """`tts.SpeechHandle` as a session uses it."""

    def frames(self) -> AsyncIterator[Frame]: ...
    def cancel(self) -> None: ...
    async def done(self) -> Spoken: ...


class SpeakerPort(Protocol):
    """`tts.Speaker` as a session uses it. `fallen` says why another voice speaks since, once one stopped working."""

    @property
    def fallen(self) -> str | None: ...
    def say(
        self,
        deltas: AsyncIterator[str] | str,
        *,
        turn: int,
        generation: int,
        voice: str | None,
        language: str,
        speed: float,
        to_play_s: Callable[[], float],
    ) -> HandlePort: ...


@dataclass(frozen=True, slots=True)
class BotVoice:
    """How a bot sounds and waits.

    `slug` is the bot's name in addresses. `preempt` lets thinking begin before the turn is committed (on where thinking
    is free); `wait` scales the silences that are waited for; `greeting` is said first to a client that asks
    for it.
    """

    slug: str = ""
    language: str = "en"
    voice: str | None = None
    speed: float = 1.0
    wait: float = 1.0
    preempt: bool = True
    greeting: str = ""


@dataclass(frozen=True, slots=True)
class IceServer:
    """A server that helps a call through the network: `stun:host:port`, or `turn:host:port` with its credential."""

    url: str
    username: str = ""
    credential: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """Sessions at once in all and per person; seconds without a word, and in all, after which one ends.

    `day_s` is how long one person may talk in 24 hours, to the hour; `connect_s` how long a call looks for a way
    through the network; `first_message_s` how long a WebSocket may be open before its client says anything: every
    client begins with its session.
    """

    sessions: int = 32
    per_person: int = 4
    idle_s: float = 300.0
    absolute_s: float = 3600.0
    day_s: float = math.inf
    connect_s: float = 10.0
    first_message_s: float = 5.0


@dataclass(frozen=True, slots=True)
class VoiceParts:
    """Everything `create_voice` needs.

    `bot` gives how a bot sounds, and raises `KeyError` for one that is not there. `speaker` may give None where answers
    are text alone. `origins` are the web origins let in besides our own; `ice_servers` help calls through the network.
    `observe` is told the receipt of each answer, with its bot. `lane` is where it is worked out how our own voice is
    taken out of a candidate's sound (None: in place), and `canceller` makes one that takes it out of all sound before.
    `cushions` is what conversations learn from one another about late sound. `clock` is monotonic seconds, and `sleep`
    waits on that clock.
    """

    listener: Callable[[BotVoice], ListenerPort]
    speaker: Callable[[BotVoice], SpeakerPort | None]
    door: DoorClient
    signer: Signer
    bot: Callable[[str], BotVoice] = lambda _name: BotVoice()
    origins: frozenset[str] = frozenset()
    ice_servers: tuple[IceServer, ...] = ()
    limits: Limits = Limits()
    observe: Callable[[str, dict[str, Any]], None] = lambda _bot, _trace: None
    kept: Kept | None = None
    lane: LanePort | None = None
    cushions: Cushions = field(default_factory=Cushions)
    canceller: Callable[[], CancellerPort] | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
