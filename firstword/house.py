"""The house: the parts of every room, made from the settings, each once.

It makes and closes; it decides nothing. The one rule: what is loaded is shared by every conversation, and a
conversation holds only its own small state.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Container, Mapping
from typing import Any

from agents_core import Bot, Core, check_bots
from agents_core import BotVoice as WrittenVoice
from agents_core.library import Bots
from asr import HearingSource, Listener, ListenSettings
from database import Database
from firstword.desk import Desk
from firstword.errors import CannotStart
from firstword.hearing import canceller_for
from firstword.loading import Loaded, load_beside
from firstword.metrics import Metrics
from firstword.settings import Settings
from firstword.thinking import embedder_for, providers_for, thinks_for_nothing
from firstword.voices import ENGINES, endpoint_for, others_for
from grant import Signer
from models import Lanes
from tts import Engine, Speaker, SpeechSource
from voice import BotVoice, Calls, DoorClient, IceServer, Limits, VoiceParts, places_of
from voice.cushion import Cushions
from voice.kept import Kept
from web.signin import Identity, Removed

_LOG = logging.getLogger(__name__)
# Conversations whose speech is being waited for at somebody else's endpoint at the same moment.
_ENDPOINT_AT_ONCE = 4


def signer_for(settings: Settings, removed: Container[str] = frozenset()) -> Signer:
    """The signer of this deployment's grants; whoever is in `removed` holds none that is valid."""
    older = [secret.get_secret_value() for secret in settings.older_secrets]
    return Signer(settings.secret.get_secret_value(), *older, removed=removed)


def known_bot(settings: Settings, slug: str) -> Bot:
    """The bot `slug`. Raises as `known_bots` does."""
    return known_bots(settings, slug)[slug]


def known_bots(settings: Settings, slug: str) -> Bots:
    """The bots, `slug` among them. Raises `CannotStart` naming those that there are, and `ContentRefused` where there
    is none."""
    bots = Bots(settings.content, clock=lambda: 0.0)
    if slug not in bots:
        faults = [str(refusal) for refusal in check_bots(settings.content)]
        raise CannotStart("\n".join([f"there is no bot {slug!r}; there are: {', '.join(sorted(bots))}", *faults]))
    return bots


def identity_for(settings: Settings) -> Identity | None:
    """Whom people sign in with; None where there is one person, or nobody can."""
    if settings.single_user or not settings.oidc_issuer:
        return None
    return Identity(
        settings.oidc_issuer,
        settings.oidc_client_id,
        settings.oidc_client_secret.get_secret_value(),
        settings.public_url,
        frozenset(owner.lower() if "@" in owner else owner for owner in settings.owners),
    )


def ice_servers_for(settings: Settings) -> tuple[IceServer, ...]:
    """What helps calls through the network; the credential goes with the TURN servers alone."""
    password = settings.turn_credential.get_secret_value()
    return tuple(
        IceServer(url, settings.turn_username, password) if url.startswith("turn") else IceServer(url)
        for url in settings.ice_servers
    )


class House:
    """Everything that serves conversations. Made by `open_house`, closed by `close`."""

    def __init__(self, settings: Settings, base_url: str, core: Core, kept: Kept, loaded: Loaded) -> None:
        self.settings = settings
        self.core = core
        self.kept = kept
        self._people = Database(settings.database)
        self.removed = Removed(self._people)
        self.signer = signer_for(settings, self.removed.seen)
        self.lanes = loaded.lanes
        self._voice_lane, self._ear_lane = self.lanes.lane("voice"), loaded.ear.lane
        # An endpoint waits on the network, not on the cores: threads of its own, which hold up nobody's inference.
        self._waits = Lanes(at_once=_ENDPOINT_AT_ONCE)
        # A person who speaks over an answer does not wait for a piece of somebody else's: one short job, a thread.
        self._fits = Lanes()
        self._engine = loaded.engine
        self._cushions = Cushions()
        self._endpoint = endpoint_for(settings)
        self._others = {name: (engine, self.lanes.lane(name)) for name, engine in loaded.others.items()}
        self._ear = loaded.ear
        self._door = DoorClient(base_url)
        self.calls = Calls()
        self.places = places_of(limits_of(settings))
        self.metrics = Metrics(self.moment, [provider.name for provider in core.providers])
        core.on_breaker(self.metrics.breaker)
        self.warmed = False
        self._faults: list[str] = []
        self._loading = asyncio.Lock()
        self.desk = Desk(self)

    async def warm(self) -> None:
        """Run each engine once, so that nobody's first turn is the slow one.

        Best effort: one that fails is named in `readiness` and in the log, and the others are warmed all the same.
        """
        await self.warm_sound()
        await self._warm_one("the language model", self.core.warm())
        self.warmed = True

    async def warm_sound(self) -> None:
        """The same for the ear and the voices alone, where another process thinks."""
        await self._warm_one("the ear", self._ear_lane.run(self._ear.warm))
        await self._warm_one("the voice", self._voice_lane.run(self._engine.warm))
        for name, (engine, lane) in self._others.items():
            await self._warm_one(f"the voice {name}", lane.run(engine.warm))

    async def _warm_one(self, name: str, warming: Awaitable[None]) -> None:
        try:
            await warming
        except Exception as fault:
            self._faults.append(f"{name} could not be warmed: {fault}")
            _LOG.warning("%s", self._faults[-1])

    async def close(self) -> None:
        """Close what was opened, last first."""
        await self.calls.close()
        await self.desk.close()
        await self._door.close()
        await self.removed.close()
        await self._people.close()
        await self.kept.close()
        await self.core.close()
        self.lanes.close()
        self._waits.close()
        self._fits.close()
        if self._endpoint is not None:
            self._endpoint.close()

    def moment(self) -> dict[str, dict[str, float]]:
        """What `/metrics` tells of this moment."""
        return {
            "ready": {"server": float(self.warmed)},
            # A call that is being opened has its place already.
            "open": {"calls": float(len(self.calls)), "sockets": float(max(0, self.places.taken - len(self.calls)))},
            "breaker_open": {name: float(resting) for name, resting in self.core.resting.items()},
        }

    def readiness(self) -> dict[str, Any]:
        """Whether conversations may begin, what is still loading, and what could not be warmed."""
        waiting = [] if self.warmed else [{"name": "engines", "what": "warming up", "bytes": 0, "total_bytes": 0}]
        return {"ready": self.warmed, "loading": waiting, "faults": list(self._faults)}

    def voice_parts(self) -> VoiceParts:
        """What conversations are made of."""
        return VoiceParts(
            listener=self._listener,
            speaker=self._speaker,
            door=self._door,
            signer=self.signer,
            bot=self._bot_voice,
            origins=frozenset(self.settings.allowed_origins),
            ice_servers=ice_servers_for(self.settings),
            observe=self._observe,
            limits=limits_of(self.settings),
            kept=self.kept,
            lane=self._fits.lane("echo"),
            cushions=self._cushions,
            canceller=canceller_for(self.settings),
        )

    def engine_of(self, name: str) -> Engine | None:
        """The engine of that name, where it is loaded."""
        if name == self.settings.voice_engine:
            return self._engine
        if name == "endpoint":
            return self._endpoint
        return self._others[name][0] if name in self._others else None

    async def engine_loaded(self, name: str) -> str:
        """Load an engine that a bot has come to name; why that cannot be, or nothing where it can speak."""
        async with self._loading:
            if self.engine_of(name) is not None:
                return ""
            if name not in ENGINES:
                return f"there is no engine {name!r}; there are {', '.join(ENGINES)}"
            had, refused = await asyncio.to_thread(others_for, self.settings, {name})
            self._others |= {each: (engine, self.lanes.lane(each)) for each, engine in had.items()}
        return refused.get(name, "")

    def speech_source(self) -> SpeechSource:
        """What `/v1/audio/speech` speaks with."""
        return SpeechSource(self._engine, self._voice_lane)

    def hearing_source(self) -> HearingSource:
        """What `/v1/audio/transcriptions` hears with."""
        return HearingSource(self._ear.recogniser, self._ear_lane, self._ear.silero, language=self.settings.language)

    def _observe(self, bot: str, trace: Mapping[str, Any]) -> None:
        """One answer's receipt: counted, and its first word kept for the owner."""
        self.metrics.observe(bot, trace)
        self.desk.observe(bot, trace)

    def _listener(self, bot: BotVoice) -> Listener:
        # The ear expects the words of the bot's topic, or of what it says first.
        hint = self._written(bot).topic or bot.greeting
        how = ListenSettings(wait=bot.wait * self.settings.wait, speculate=self.settings.speculation, hint=hint)
        return Listener(self._ear, settings=how, language=bot.language)

    def _speaker(self, bot: BotVoice) -> Speaker:
        return self.speaker_of(self._written(bot))

    def speaker_of(self, written: WrittenVoice) -> Speaker:
        """A mouth for one conversation, as a voice block means it; the house's own engine where that cannot be had."""
        local = (self._engine, self._voice_lane)
        engine, lane = local
        if written.by == "endpoint" and self._endpoint is not None:
            engine, lane = self._endpoint, self._waits.lane("endpoint")
        elif written.engine in self._others:
            engine, lane = self._others[written.engine]
        return Speaker(
            engine,
            lane,
            fallback=None if engine is self._engine else local[0],
            fallback_lane=local[1],
            gap_s=written.gap_s,
            words=written.words,
            steps=written.steps,
            opening_steps=written.opening,
        )

    def _written(self, bot: BotVoice) -> WrittenVoice:
        written = self.core.bots[bot.slug].voice if bot.slug in self.core.bots else None
        return written or WrittenVoice()

    def _bot_voice(self, slug: str) -> BotVoice:
        return bot_voice_of(self.settings, self.core.bots[slug])


def bot_voice_of(settings: Settings, bot: Bot) -> BotVoice:
    """How `bot` sounds and waits. Raises `KeyError` for one that is not spoken to."""
    written = bot.voice
    if written is None:
        raise KeyError(bot.slug)
    # Thinking ahead of the commit is free where the local model or a script thinks, and bought elsewhere.
    free = thinks_for_nothing(settings)
    return BotVoice(
        slug=bot.slug,
        language=written.language,
        voice=written.voice or None,
        speed=written.speed,
        wait=written.wait,
        preempt=settings.speculation and (free if written.preempt is None else written.preempt),
        greeting=written.first,
    )


def limits_of(settings: Settings) -> Limits:
    """What one process takes, and for how long."""
    return Limits(
        sessions=settings.sessions,
        per_person=settings.sessions_per_person,
        idle_s=60 * settings.idle_minutes,
        absolute_s=60 * settings.longest_minutes,
        day_s=60 * settings.minutes_a_day or math.inf,
    )


async def open_core(settings: Settings, *, works: bool = True) -> Core:
    """The thinking by itself; where it `works`, it finishes what other processes left.

    Raises the core's and the database's errors, which are sentences.
    """
    if not settings.database_url:
        try:
            await asyncio.to_thread(settings.data.mkdir, parents=True, exist_ok=True)
        except OSError as fault:
            why = f"the data folder {settings.data} cannot be made: {fault.strerror}; FIRSTWORD_DATA names another"
            raise CannotStart(why) from fault
    return await Core.open(
        content=settings.content,
        database_url=settings.database,
        providers=providers_for(settings),
        live=settings.live,
        embedder=embedder_for(settings),
        worker=works,
        private_hosts=settings.private_hosts,
    )


async def open_house(settings: Settings, base_url: str, *, works: bool = True) -> House:
    """Load everything. `base_url` is where this server answers; `works` is `open_core`'s.

    Raises each room's errors, which are sentences.
    """
    core = await open_core(settings, works=works)
    kept = Kept(Database(settings.database))
    try:
        await kept.open()
        named = {bot.voice.engine for bot in core.bots.values() if bot.voice is not None}
        loaded = await load_beside(settings, named)
        house = House(settings, base_url, core, kept, loaded)
        if identity_for(settings) is not None:
            await house.removed.open()
        await house.desk.open()
        return house
    except BaseException:
        await kept.close()
        await core.close()
        raise
