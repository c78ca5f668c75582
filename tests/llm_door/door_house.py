"""A door on loopback with a core that does what its question says, for the tests of this room."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import uvicorn
from starlette.types import ASGIApp

from agents_core import (
    Ask,
    AskRefused,
    Bot,
    BotVoice,
    Busy,
    Ceilings,
    Delta,
    Done,
    Event,
    Failed,
    OverLimit,
    Started,
    Trace,
    UnknownBot,
    Usage,
)
from grant import Signer, StraightApp
from llm_door import Pace, PatientProtocol, Person, create_door

SECRET = "a-secret-of-more-than-thirty-two-characters"
# Awkward words: beyond the BMP, line separators that are not newlines, quotes, a field that looks like SSE.
WORDS = ("Hel", "lo, ", "wor", "ld\u2028 \u0085", '"quoted"\n\ndata: no', " 🐟", " end")
USAGE = Usage(prompt_tokens=9, completion_tokens=7)
# Without comments, whose broken pipe would tell of a client's leaving as well.
SILENT = Pace(comment_s=3_600.0)


def bot(slug: str) -> Bot:
    spoken = slug != "unspoken"
    voice = BotVoice(language="en", first="Hello.") if spoken else None
    surfaces = ("voice",) if spoken else ("support",)
    ceilings = Ceilings(2, 300, 1.5)
    return Bot(slug, slug.title(), surfaces, ("anyone",), "canary prompt", ceilings, "", "none", voice)  # type: ignore[arg-type]


class Shelf(dict[str, Bot]):
    """Bots by their slugs."""

    def __init__(self, bots: Iterable[Bot]) -> None:
        super().__init__({each.slug: each for each in bots})

    async def fresh(self) -> None:
        pass


@dataclass
class FakeCore:
    """Answers by the words of the question; `asks` and `closed` tell what happened to each run."""

    bots: Shelf = field(default_factory=lambda: Shelf(bot(slug) for slug in ("guide", "other", "unspoken")))
    asks: list[Ask] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    closed: int = 0
    tools_run: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def run_turn(self, ask: Ask) -> AsyncIterator[Event]:
        self.asks.append(ask)
        run = f"run-{len(self.asks)}"
        self.running.add(run)
        try:
            async for event in self._events(run, ask.text):
                yield event
        finally:
            self.running.discard(run)
            self.closed += 1
            self.changed.set()

    async def _events(self, run: str, text: str) -> AsyncIterator[Event]:
        if text == "unknown bot":
            raise UnknownBot("no bot is called 'guide'; see content/bots")
        if text == "over the limit":
            raise OverLimit("guide", "day")
        if text == "refused":
            raise AskRefused("this bot does not answer on this surface")
        if text == "fails at once":
            yield Failed("the provider said: over capacity", "provider")
            return
        if text != "late start":
            yield Started(run)
        self.changed.set()
        if text in ("hang", "late start"):
            await self.go_on.wait()
        if text == "raises":
            raise RuntimeError("canary-words of a person")
        for n, word in enumerate(WORDS):
            if n == 3 and text == "breaks":
                yield Failed("the provider cut the answer off", "provider")
                return
            if n == 3 and text == "raises midway":
                raise RuntimeError("canary-words of a person")
            if n == 3 and text == "ends without an ending":
                return
            if n == 3 and text == "hang after three":
                await self.go_on.wait()
                self.tools_run += 1
            yield Delta(word)
        yield Delta("")
        if text == "busy":
            yield Busy("looking up orders")
        if text == "long":
            for _ in range(20_000):
                yield Delta("word " * 20)
        yield Trace(run, "guide", "script", "none", "p1", 1.0, 2.0, 1, USAGE)
        yield Done("out_of_steps" if text == "too many steps" else "answered", USAGE)


@dataclass
class House:
    """What is being served."""

    base_url: str
    core: FakeCore
    signer: Signer
    server: uvicorn.Server

    def grant(self, bot: str = "guide") -> str:
        return self.signer.mint(bot=bot, subject="owner", room="r1", steps=3, spend=4, run_minutes=5.0)

    @property
    def port(self) -> int:
        return int(self.base_url.rsplit(":", 1)[1])


def person(bots: frozenset[str] | None = None, *, signed_in: bool = True) -> Callable[..., object]:
    async def session(_request: object) -> Person | None:
        return Person("owner", bots) if signed_in else None

    return session


class Server(uvicorn.Server):
    """uvicorn, saying when it is up."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()


@asynccontextmanager
async def served(app: ASGIApp, **config: object) -> AsyncIterator[tuple[str, uvicorn.Server]]:
    """`app` on a free port of loopback, with uvicorn as it is in earnest."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    options = {"log_config": None, "lifespan": "off", "timeout_graceful_shutdown": 1, "http": PatientProtocol, **config}
    server = Server(uvicorn.Config(app, **options))  # type: ignore[arg-type]
    task = asyncio.create_task(server.serve(sockets=[listening]))
    await server.up.wait()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", server
    finally:
        server.should_exit = True
        await task
        listening.close()


@asynccontextmanager
async def house(
    *,
    session: Callable[..., object] | None = None,
    pace: Pace | None = None,
    around: Callable[[ASGIApp], ASGIApp] = lambda app: app,
    **config: object,
) -> AsyncIterator[House]:
    core, signer = FakeCore(), Signer(SECRET)
    app = StraightApp()
    app.include_router(create_door(core, signer, session=session, pace=pace))  # type: ignore[arg-type]
    async with served(around(app), **config) as (base_url, server):
        yield House(base_url, core, signer, server)


async def until(core: FakeCore, true: Callable[[], bool]) -> None:
    """Wait for an observable change."""
    async with asyncio.timeout(30):
        while not true():
            core.changed.clear()
            if not true():
                await core.changed.wait()
