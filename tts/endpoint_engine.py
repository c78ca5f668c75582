"""An engine that is somebody else's: any OpenAI-shaped `/v1/audio/speech`.

It hands bytes on as they arrive and collects nothing. Give it a lane of lanes of its own: it waits on a network, and a
waiting job must not keep a core's place. The one rule: a request that nobody listens to any more is closed at once.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from sound import FrameReader, Pcm
from tts.engine import CAP_STREAMED, Voice
from tts.errors import TtsError
from tts.riff import Header

# What OpenAI's `pcm` is, where the answer does not say.
RATE_HZ = 24_000
# Chunks that may wait for the speaker; the upstream is not read further.
WAITING_CHUNKS = 64
CONNECT_S = 5.0
# With nothing for so long the piece is given up, and the fallback speaks.
SILENT_S = 10.0
PATH = "/audio/speech"


def speech_url(address: str) -> str:
    """The address of the route, from it or from a base: `https://host`, `https://host/v1`, or the path outright."""
    bare = address.rstrip("/")
    parts = urlsplit(bare)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise TtsError(f"{address!r} is no address of a speech endpoint; give http(s)://host/v1")
    if parts.path.endswith(PATH):
        return bare
    return f"{bare}{PATH}" if parts.path else f"{bare}/v1{PATH}"


class EndpointEngine:
    """Speech from `url` (a base or the full path). `key` goes out as a bearer token and nowhere else.

    After `silent_s` seconds without a byte a piece is given up. `loop` makes the loop that requests run on, and
    `transport` is httpx's, for whoever has a clock or a network of their own.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str = "",
        model: str = "",
        voice: str = "",
        silent_s: float = SILENT_S,
        loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
        transport: Any = None,
    ) -> None:
        self._url = speech_url(url)
        self._key = key
        self._model = model
        self._voice = voice
        self._silent_s = silent_s
        self._new_loop = loop
        self._transport = transport
        self._rate_hz = RATE_HZ
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Any = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Its name in settings and traces."""
        return "endpoint"

    @property
    def sample_rate_hz(self) -> int:
        """The rate of what came last; what `speak` gives carries its own."""
        return self._rate_hz

    @property
    def cap(self) -> int:
        """300 characters: it is heard as it arrives."""
        return CAP_STREAMED

    def voices(self) -> Sequence[Voice]:
        """The configured voice; an endpoint knows others that it does not tell."""
        return (Voice(self._voice or "default", ()),)

    def warm(self) -> None:
        """Nothing: a request would cost somebody money."""

    def speak(
        self,
        piece: str,
        *,
        voice: str | None = None,
        language: str = "en",
        speed: float = 1.0,
        steps: int | None = None,
    ) -> Iterator[Pcm]:
        """The sound of `piece` as it arrives. `stop` on what is given closes the request from any thread.

        OpenAI's shape has no word for `language` and `steps`: the voice decides.
        """
        body: dict[str, Any] = {"input": piece, "response_format": "pcm"}
        if self._model:
            body["model"] = self._model
        if voice or self._voice:
            body["voice"] = voice or self._voice
        if speed != 1.0:
            body["speed"] = speed
        return _Upstream(self._running(), self, body)

    def close(self) -> None:
        """Close connections and the thread they live on."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            if self._client is not None:
                asyncio.run_coroutine_threadsafe(self._client.aclose(), loop).result(timeout=5)
                self._client = None
            loop.call_soon_threadsafe(loop.stop)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = self._new_loop()
                threading.Thread(target=_serve, args=(self._loop,), name="speech-endpoint", daemon=True).start()
            return self._loop

    async def chunks(self, body: dict[str, Any], give: Any) -> None:
        """One request; `give` is awaited with each stretch of sound."""
        import httpx2

        if self._client is None:
            # Silence is watched below, whatever carries the bytes.
            timeout = httpx2.Timeout(None, connect=CONNECT_S, write=self._silent_s)
            self._client = httpx2.AsyncClient(timeout=timeout, transport=self._transport)
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        host = urlsplit(self._url).netloc.rpartition("@")[2]
        try:
            async with asyncio.timeout(self._silent_s) as silence:
                async with self._client.stream("POST", self._url, json=body, headers=headers) as answer:
                    if answer.status_code != 200:
                        raise TtsError(f"the speech endpoint {host} answered {answer.status_code}")
                    kind = answer.headers.get("content-type", "")
                    reader = _Reader(_rate(kind, answer.headers.get("x-sample-rate", "")), kind, host)
                    async for data in answer.aiter_bytes():
                        pcm = reader.push(data)
                        if pcm is not None and len(pcm):
                            self._rate_hz = pcm.rate_hz
                            # While the listener has enough, it is not the endpoint that says nothing.
                            silence.reschedule(None)
                            await give(pcm.mono())
                        silence.reschedule(asyncio.get_running_loop().time() + self._silent_s)
                    reader.end()
        except TimeoutError as fault:
            raise TtsError(f"the speech endpoint {host} said nothing for {self._silent_s:g} s") from fault
        except httpx2.HTTPError as fault:
            reason = str(fault) or type(fault).__name__
            raise TtsError(f"the speech endpoint {host} did not answer to the end: {reason}") from fault


class _Upstream(Iterator[Pcm]):
    """A request under way, as the iterator that a lane steps through."""

    def __init__(self, loop: asyncio.AbstractEventLoop, engine: EndpointEngine, body: dict[str, Any]) -> None:
        self._loop = loop
        self._arrived: queue.SimpleQueue[Pcm | BaseException | None] = queue.SimpleQueue()
        self._room = asyncio.Semaphore(WAITING_CHUNKS)
        self._ended = False
        self._task = asyncio.run_coroutine_threadsafe(self._pump(engine, body), loop)

    def __next__(self) -> Pcm:
        if self._ended:
            raise StopIteration
        item = self._arrived.get()
        if isinstance(item, Pcm):
            self._loop.call_soon_threadsafe(self._room.release)
            return item
        self._ended = True
        if item is None:
            raise StopIteration
        raise item

    def stop(self) -> None:
        """Close the request; a waiting `next` ends."""
        self._task.cancel()
        self._arrived.put(None)

    async def _pump(self, engine: EndpointEngine, body: dict[str, Any]) -> None:
        async def give(pcm: Pcm) -> None:
            await self._room.acquire()
            self._arrived.put(pcm)

        try:
            await engine.chunks(body, give)
        except Exception as fault:
            self._arrived.put(fault)
        else:
            self._arrived.put(None)


class _Reader:
    """Bytes to sound: a RIFF header is looked for once and stripped, an odd byte is carried over."""

    def __init__(self, rate_hz: int, kind: str, host: str) -> None:
        if any(word in kind for word in ("mpeg", "mp3", "ogg", "opus", "flac", "aac", "json", "html")):
            raise TtsError(f"the speech endpoint {host} sent {kind}; it must send pcm or wav")
        self._header: Header | None = Header()
        self._frames = FrameReader(rate_hz)
        self._host = host
        self._silent = True

    def push(self, data: bytes) -> Pcm | None:
        if self._header is not None:
            found = self._header.push(data)
            if found is None:
                return None
            if found.rate_hz:
                self._frames = FrameReader(found.rate_hz, found.channels)
            self._header, data = None, found.rest
        pcm = self._frames.push(data)
        self._silent = self._silent and not len(pcm)
        return pcm

    def end(self) -> None:
        if self._header is not None and self._header.held:
            raise TtsError(f"the speech endpoint {self._host} stopped within a WAV header")
        if self._silent:
            raise TtsError(f"the speech endpoint {self._host} sent no sound")


def _rate(kind: str, header: str) -> int:
    for field in (header, *(part.partition("=")[2] for part in kind.split(";") if "rate=" in part)):
        if field.strip().isdigit() and 4_000 <= int(field) <= 192_000:
            return int(field)
    return RATE_HZ


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()
