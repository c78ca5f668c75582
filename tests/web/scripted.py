"""A scripted conversation partner: the page's doors with no model behind them, so that a test says what happens.

It speaks the same events as the voice room, decides by loudness alone, and answers with a tone. It is not a fake of any
room that a test of that room would use.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import uvicorn
from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from fastapi.responses import JSONResponse, Response

from web import BotCard, create_pages
from web.person import EAR_JS

RATE_HZ = 24_000
FRAME = RATE_HZ // 50
LOUD = 0.03
QUIET_S = 0.4

TRACE = {
    "heard_at": 3.1,
    "eot_wait_ms": 244.0,
    "words_ms": 131.0,
    "first_token_ms": 180.0,
    "first_sound_ms": 63.0,
    "first_word_ms": 431.0,
    "verdict": "complete",
    "decided_by": "both",
    "speculated": True,
    "wasted": 0,
    "interrupted": False,
    "provider": "local",
    "model": "smollm2-135m",
    "tokens": {"prompt": 211, "completion": 19},
}
BOTS = (
    BotCard("guide", "Guide", "Ask me anything about Firstword.", "aura", "en", "Knows how this program works."),
    BotCard("host", "Maître d’", "", "wave", "en", "Takes a table for you.", ("joe", "amy"), ("en", "fr")),
    BotCard("coach", "Coach", "What are you practising?", "radial", "en", "Listens, then asks one question."),
)


@dataclass
class Script:
    """What the partner does, and what it saw."""

    heard: str = "What is the first word?"
    answer: str = "The first word is the only one anybody waits for. Everything here is built around how soon it comes."
    # Heard in real time, so no longer than it takes to be heard speaking.
    answer_s: float = 1.0
    think_s: float = 0.5
    # What a loud moment over an answer comes to: "words" is a barge-in, "nothing" a cough.
    over: str = "words"
    # Why the voice stopped working, where it did.
    fallen: str | None = None
    loading: list[dict[str, Any]] = field(default_factory=list)
    refuse: str = ""
    seen: list[dict[str, Any]] = field(default_factory=list)
    starts: int = 0
    # A start takes until this is no longer so.
    busy: bool = False
    sockets: list[WebSocket] = field(default_factory=list)
    loop: asyncio.AbstractEventLoop | None = None

    def kinds(self) -> list[str]:
        """The types of the client's events, frames left out."""
        return [event["type"] for event in self.seen if event["type"] != "input_audio_buffer.append"]

    def last(self, kind: str) -> dict[str, Any]:
        """The newest event of a type."""
        return next(event for event in reversed(self.seen) if event["type"] == kind)

    def tell(self, kind: str, **fields: Any) -> None:
        """One event to every client, beside what the partner does."""
        assert self.loop is not None
        for socket in self.sockets:
            told = socket.send_text(json.dumps({"type": kind, "event_id": "event", **fields}))
            asyncio.run_coroutine_threadsafe(told, self.loop).result()

    def drop(self) -> None:
        """Cut every connection, as a restart does."""
        assert self.loop is not None
        for socket in self.sockets:
            asyncio.run_coroutine_threadsafe(socket.close(1012), self.loop)


class _Partner:
    def __init__(self, socket: WebSocket, script: Script) -> None:
        self.socket, self.script = socket, script
        self.count = 0
        self.speaking: asyncio.Task[None] | None = None
        self.item = ""
        self.loud_at = 0.0
        self.hearing = self.held = self.stopped = False
        self.typed = ""
        self.items: dict[str, str] = {}
        self.pushes = False

    async def send(self, kind: str, **fields: Any) -> None:
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await self.socket.send_text(json.dumps({"type": kind, "event_id": "event", **fields}))

    async def take(self, event: dict[str, Any]) -> None:
        kind = event["type"]
        if kind == "session.update":
            self.pushes = event["session"]["audio"]["input"]["turn_detection"] is None
            await self.send("session.updated", session={})
        elif kind == "input_audio_buffer.append":
            pcm = np.frombuffer(base64.b64decode(event["audio"]), dtype="<i2") / 32768
            assert len(pcm) == FRAME
            await self.hear(float(np.abs(pcm).max()))
        elif kind == "conversation.item.create":
            self.typed = event["item"]["content"][0]["text"]
        elif kind == "input_audio_buffer.commit":
            await self.said(self.script.heard)
        elif kind == "response.create":
            self.answer()
        elif kind == "response.cancel":
            await self.stop("client_cancelled")
        elif kind == "conversation.item.retrieve":
            item = {"id": event["item_id"], "content": [{"type": "output_audio", "transcript": "The first word —"}]}
            await self.send("conversation.item.retrieved", item=item)

    async def hear(self, peak: float) -> None:
        now = time.monotonic()
        if self.pushes:
            return
        if peak > LOUD:
            self.loud_at = now
            if self.speaking and not self.speaking.done():
                if not self.held:
                    self.held = True
                    await self.send("firstword.hold", held=True)
                    self.holding = asyncio.create_task(self.decide())
            elif not self.hearing:
                self.hearing = True
                await self.send("input_audio_buffer.speech_started", item_id="u", audio_start_ms=0)
                await self.send("firstword.state", state="hearing")
                await self.send("firstword.partial", text=self.script.heard.rsplit(" ", 1)[0])
        elif self.hearing and now - self.loud_at > QUIET_S:
            self.hearing = False
            await self.send("input_audio_buffer.speech_stopped", item_id="u", audio_end_ms=0)
            await self.said(self.script.heard)
            self.answer()

    async def decide(self) -> None:
        await asyncio.sleep(0.25)
        self.held = False
        if self.script.over == "nothing":
            await self.send("firstword.hold", held=False)
            return
        await self.stop("turn_detected")
        self.hearing = True
        await self.send("input_audio_buffer.speech_started", item_id="u", audio_start_ms=0)

    async def said(self, text: str) -> None:
        await self.send("input_audio_buffer.committed", item_id="u")
        done = "conversation.item.input_audio_transcription.completed"
        await self.send(done, item_id="u", transcript=text)
        await self.send("firstword.state", state="thinking")

    def answer(self) -> None:
        self.count += 1
        self.item = f"answer-{id(self)}-{self.count}"
        self.speaking = asyncio.create_task(self.speak(self.item, f"resp-{self.count}"))

    async def speak(self, item: str, response: str) -> None:
        self.stopped = False
        await self.send("response.created", response={"id": response})
        await asyncio.sleep(self.script.think_s)
        head = {"item_id": item, "response_id": response}
        for word in self.script.answer.split(" "):
            await self.send("response.output_audio_transcript.delta", **head, delta=f"{word} ")
        await self.send("firstword.state", state="speaking")
        at = np.arange(round(self.script.answer_s * RATE_HZ)) / RATE_HZ
        swing = 0.5 + 0.5 * np.sin(2 * math.pi * 3 * at)
        sound = (0.3 * swing * np.sin(2 * math.pi * 330 * at) * 32767).astype("<i2")
        began = time.monotonic()
        for start in range(0, len(sound), FRAME):
            while self.held or time.monotonic() - began < start / RATE_HZ - 0.32:
                await asyncio.sleep(0.01)
            chunk = base64.b64encode(sound[start : start + FRAME].tobytes()).decode()
            await self.send("response.output_audio.delta", **head, delta=chunk)
        await self.send("response.output_audio.done", **head)
        await self.send("response.output_audio_transcript.done", **head, transcript=self.script.answer)
        await self.send("response.done", response={"id": response, "status": "completed"})
        await self.send("firstword.trace", response_id=response, **TRACE, fallen=self.script.fallen)
        await asyncio.sleep(0.4)
        await self.send("firstword.state", state="listening")

    async def stop(self, reason: str) -> None:
        if self.speaking and not self.speaking.done():
            self.speaking.cancel()
            details = {"type": "cancelled", "reason": reason}
            await self.send("response.done", response={"id": "r", "status": "cancelled", "status_details": details})
            await self.send("firstword.state", state="listening")


def scripted_app(script: Script) -> FastAPI:
    """The page and its doors, scripted."""
    app = FastAPI()

    def ready() -> dict[str, Any]:
        return {"ready": not script.loading, "loading": script.loading}

    app.include_router(create_pages(lambda: BOTS, ready))

    @app.get("/tap.js")
    async def tap() -> Response:
        return Response(EAR_JS, media_type="text/javascript")

    @app.post("/app/voice/{bot}/start")
    async def start(bot: str) -> Any:
        script.starts += 1
        while script.busy:
            await asyncio.sleep(0.02)
        if script.refuse:
            return JSONResponse({"error": {"message": script.refuse}}, status_code=403)
        return {"grant": f"grant-of-{bot}"}

    @app.websocket("/v1/realtime")
    async def realtime(socket: WebSocket) -> None:
        offered = socket.scope["subprotocols"]
        assert offered[0] == "realtime"
        assert offered[1].startswith("openai-insecure-api-key.grant-of-")
        await socket.accept(subprotocol="realtime")
        script.loop = asyncio.get_running_loop()
        script.sockets.append(socket)
        partner = _Partner(socket, script)
        await partner.send("session.created", session={})
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while True:
                event = json.loads(await socket.receive_text())
                script.seen.append(event)
                await partner.take(event)
        if partner.speaking:
            partner.speaking.cancel()
        script.sockets.remove(socket)

    return app


@contextlib.contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """Serve on a free loopback port, on a thread of its own; yields the base URL."""
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", ws="websockets-sansio", lifespan="off")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join(5)


def wait_for(page: Any, told: Callable[[], object], limit_s: float = 30.0, *, gives: object = True) -> None:
    """Wait until something is so on the partner's side, or gives the value `gives`, while the page goes on."""
    deadline = time.monotonic() + limit_s
    while (last := told()) != gives:
        assert time.monotonic() < deadline, f"it never gave {gives!r}, but {last!r} at last"
        page.wait_for_timeout(20)


def tabbed(page: Any, told: str, presses: int) -> set[str]:
    """What the expression `told` gives where the keyboard is, and after each of so many presses of Tab."""
    seen = {page.evaluate(told)}
    for _ in range(presses):
        page.keyboard.press("Tab")
        seen.add(page.evaluate(told))
    return seen


def bubbles(page: Any) -> list[tuple[str, str]]:
    """Who said what in the transcript, in order."""
    script = "all => all.map(li => [li.dataset.role, li.querySelector('.words').textContent.trim()])"
    return [tuple(line) for line in page.eval_on_selector_all("#transcript li[data-role]", script)]
