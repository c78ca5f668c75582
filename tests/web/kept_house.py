"""The page on a server whose conversations are real and really kept: only recogniser, engine and core are scripted.

It is served from a thread of its own, and can be restarted on its port. The one rule: what the page shows of the
past, it has from the database.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from aside import Aside
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy import insert

from agents_core import desk, rows
from agents_core.recall import Memories
from database import Database
from firstword.serving import serving
from firstword.testing.doors import ScriptedDoor
from firstword.testing.listeners import ScriptedListener
from firstword.testing.voices import ToneEngine
from grant import Signer
from models.lanes import Lanes
from tts import Speaker
from voice import BotVoice, DoorClient, Limits, VoiceParts, create_voice
from voice.kept import Kept
from web import Asker, BotCard, create_memories, create_pages, create_threads

T = TypeVar("T")
SIGNER = Signer("a secret for the page's tests alone")
CARD = BotCard("guide", "Guide", "Ask me anything about Firstword.", remembers=True)


class KeptHouse:
    """`answers` are the door's; `limits` those of a session. `url` is where the page is."""

    def __init__(self, folder: Path, *answers: list[str], limits: Limits | None = None) -> None:
        self.door = ScriptedDoor(*answers)
        self.limits = limits or Limits()
        self.url = ""
        self.signed_in = True
        self.kept: Kept
        self._core: Database
        self._told = itertools.count()
        self._database = f"sqlite:///{folder / 'here.db'}"
        self._thread, self._server = contextlib.ExitStack(), contextlib.ExitStack()
        self._aside = self._thread.enter_context(Aside())

    def start(self) -> None:
        """Serve: on a free port at first, on the same one after a `stop`."""
        self._server.enter_context(self._aside.opened(self._served()))

    def stop(self) -> None:
        """Stop serving; what is kept stays in its file."""
        self._server.close()

    def close(self) -> None:
        """Stop for good."""
        with self._thread:
            self.stop()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Something on the server's loop."""
        return self._aside.do(work)

    def keep(self, *lines: str, subject: str = "owner") -> str:
        """A conversation that was had before."""
        return self.keep_all([lines], subject=subject)[0]

    def keep_all(self, talks: Iterable[Sequence[str]], *, subject: str = "owner") -> list[str]:
        """Several of them, the newest last."""

        async def say() -> list[str]:
            made = []
            for lines in talks:
                talk = self.kept.begin(subject, "guide")
                made.append(talk.thread)
                for n, line in enumerate(lines):
                    talk.said(f"{talk.thread[-30:]}-{n}", "assistant" if n % 2 else "user", line)
            await self.kept.scribe.written()
            return made

        return self.do(say())

    def say_on(self, thread: str, text: str, *, subject: str = "owner") -> None:
        """A line more in a conversation that was had before."""

        async def say() -> None:
            talk, lines = await self.kept.go_on(subject, "guide", thread)
            talk.said(f"{thread[-30:]}-{len(lines)}", "user", text)
            await self.kept.scribe.written()

        self.do(say())

    def remember(self, *said: str, subject: str = "owner") -> None:
        """What the bot keeps of a person, oldest first."""

        async def write() -> None:
            async with self._core.write() as db:
                for n, one in zip(self._told, said, strict=False):
                    row = {"person": subject, "bot": "guide", "run": f"{subject}-{n}", "said": one, "model": "none"}
                    await db.execute(insert(desk.TABLES.tables["memories"]).values(**row, vector=b"", at_s=float(n)))

        self.do(write())

    def remembered(self, subject: str = "owner") -> list[str]:
        """What it still keeps, newest first."""
        return [one.said for one in self.do(Memories(self._core).of(subject, "guide"))]

    def threads(self) -> list[str]:
        """Titles, newest first."""

        async def listed() -> list[str]:
            await self.kept.scribe.written()
            return [thread.title for thread in await self.kept.threads("owner")]

        return self.do(listed())

    def lines(self, title: str) -> list[tuple[str, str]]:
        """What is kept under that title."""

        async def read() -> list[tuple[str, str]]:
            await self.kept.scribe.written()
            thread = next(each for each in await self.kept.threads("owner") if each.title == title)
            return [(line.role, line.text) for line in (await self.kept.read("owner", thread.id))[1]]

        return self.do(read())

    @contextlib.asynccontextmanager
    async def _served(self) -> AsyncIterator[None]:
        self.kept = Kept(Database(self._database))
        await self.kept.open()
        self._core = Database(self._database)
        for migrations in (rows.MIGRATIONS, desk.MIGRATIONS):
            await self._core.bring_up(migrations)
        lanes = Lanes()
        client = DoorClient(lambda: self.url)
        port = urlsplit(self.url).port or 0
        try:
            async with serving(lambda _url: self._app(lanes, client), port=port) as url:
                self.url = url
                yield
        finally:
            await client.close()
            await self.kept.close()
            await self._core.close()
            lanes.close()

    def _app(self, lanes: Lanes, client: DoorClient) -> FastAPI:
        tone = ToneEngine(seconds_per_char=0.01)
        parts = VoiceParts(
            listener=lambda _bot: ScriptedListener(),
            speaker=lambda _bot: Speaker(tone, lanes.lane("voice")),
            door=client,
            signer=SIGNER,
            bot=lambda _name: BotVoice(greeting=CARD.first),
            limits=self.limits,
            kept=self.kept,
        )
        app = FastAPI()
        app.include_router(create_pages(lambda: [CARD]))
        app.include_router(create_threads(self.kept, owner))
        app.include_router(create_memories(Memories(self._core), owner))
        app.include_router(create_voice(parts))
        app.post("/app/voice/{bot}/start")(self._begin)
        app.get("/signin")(self._sign_in)
        app.mount("/", self.door.app)
        return app

    async def _begin(self, bot: str) -> JSONResponse:
        if not self.signed_in:
            return JSONResponse({"error": {"message": "sign in first", "code": "not_signed_in"}}, status_code=401)
        token = SIGNER.mint(bot=bot, subject="owner", room="room-1")
        return JSONResponse({"grant": token, "expires_at": SIGNER.verify(token).expires_at})

    async def _sign_in(self, next: str) -> RedirectResponse:  # noqa: A002 - what addresses call it
        self.signed_in = True
        return RedirectResponse(next, status_code=303)


async def owner(_request: Request) -> Asker:
    return Asker("owner")


Opened = Callable[..., KeptHouse]
