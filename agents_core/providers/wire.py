"""One question over HTTP: sent, and its stream read until it is over.

Not a client of any one shape: `openai` and `anthropic` say what is sent and how its events are read. The rules: it asks
once, and again only where a kept connection turns out to have been closed; it follows no redirect, which would carry
the key to another host; closing the iterator closes the connection, which stops the model.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Protocol

import aiohttp

from agents_core.errors import ProviderFault
from agents_core.foreign import Letters
from agents_core.providers.base import Chunk, Profile, Question, Whole, Words
from agents_core.providers.brief import Brief
from agents_core.providers.classify import called, classify_status, provider_fault
from agents_core.providers.hidden import Hidden
from agents_core.providers.stream import Events

# A connection is made in a round trip or two; a provider that needs longer would miss the first word's limit anyway.
CONNECT_S = 3.0
# The last byte comes with the last word, or the provider keeps its streams open.
REST_S = 0.1
# An error's body is read for its sentence only.
_ERROR_BYTES = 64 * 1024
# A whole answer that was not streamed: a book, and then somebody is playing a trick.
_BODY_BYTES = 8 * 1024 * 1024


# Made once: `json.dumps` makes an encoder for each call that asks for anything.
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Reading(Protocol):
    """How one shape's events become words and, at the end, an answer."""

    @property
    def over(self) -> bool: ...
    def push(self, data: str) -> str: ...
    def whole(self) -> Whole: ...
    def so_far(self) -> Whole: ...


class Heard:
    """Bytes to what a listener may hear, and the answer they amount to. Pure: no connection, the same wherever cut."""

    def __init__(self, reading: Reading, question: Question, profile: Profile) -> None:
        self._reading, self._events = reading, Events()
        self._letters = Letters()
        self._hidden = Hidden(_names(question), inside=profile.thinks_first)
        self._brief = Brief(profile.sentences if question.sentences is None else question.sentences)
        self._lead = question.lead

    @property
    def over(self) -> bool:
        """Nothing more is wanted: the answer said that it is over, or is as long as was asked for."""
        return self._reading.over or self._brief.over

    @property
    def told(self) -> bool:
        """The model itself said that it is over: what is left of the stream is its end."""
        return self._reading.over

    def push(self, data: bytes) -> Iterator[str]:
        """The words that `data` completes, an event at a time: those before a fault are words, however it was cut."""
        for event in self._events.push(data):
            if said := self._said(self._reading.push(event)):
                yield said

    def push_whole(self, body: str) -> str:
        """The words of an answer that was not streamed."""
        return self._said(self._reading.push(body))

    def end(self) -> tuple[str, Whole]:
        """The last words and the answer. Raises `ProviderFault` where the stream was cut."""
        said = ""
        if not self._brief.over:
            # What was left in the middle, because enough was said, is no whole event.
            said = "".join(self._said(self._reading.push(event)) for event in self._events.end())
        # Brief enough is complete, although the stream was left before its end.
        whole = self._reading.so_far() if self._brief.over else self._reading.whole()
        said += self._said(self._letters.flush()) + self._brief.push(self._led(self._hidden.flush()))
        return said + self._brief.flush(whole=whole.finish_reason != "length"), whole

    def _said(self, words: str) -> str:
        return self._brief.push(self._led(self._hidden.push(self._letters.push(words))))

    def _led(self, said: str) -> str:
        """Not before the model has gone on from its lead: until then there is no answer."""
        if said and self._lead:
            said, self._lead = self._lead + said, ""
        return said


class Wire:
    """One address. `silence_s` bounds the pause between two pieces of a stream; `trust_env` goes by the environment's
    proxies."""

    def __init__(self, url: str, *, name: str, silence_s: float, trust_env: bool) -> None:
        self.url = url
        self._called, self._silence_s, self._trust_env = called(name), silence_s, trust_env
        # How many answers were read to their end with no question since: as many connections there may be to ask on.
        self._kept = 0
        self._session: aiohttp.ClientSession | None = None

    async def ask(
        self, body: Mapping[str, Any], headers: Mapping[str, str], hear: Callable[[], Heard]
    ) -> AsyncGenerator[Chunk, None]:
        """See `Provider.ask`. `hear` is called when the question is on its way, so that it does not wait for that."""
        response: aiohttp.ClientResponse | None = None
        try:
            response = await self._sent(body, headers)
            await _refuse(response)
            heard = hear()
            if "json" in response.headers.get("content-type", ""):
                text = (await _bounded(response, _BODY_BYTES)).decode("utf-8", errors="replace")
                if said := heard.push_whole(text):
                    yield Words(said)
            else:
                chunks = response.content.iter_any()
                async for data in chunks:
                    for said in heard.push(data):
                        yield Words(said)
                    if heard.over:
                        break
                if heard.told:
                    await _rest(chunks)
            self._kept += 1
        except TimeoutError:
            raise ProviderFault(provider_fault(f"{self._called} did not answer in time")) from None
        except (aiohttp.ClientError, OSError) as fault:
            sentence = f"{self._called} could not be reached ({type(fault).__name__})"
            raise ProviderFault(provider_fault(sentence)) from None
        finally:
            # One that was read to its end has given its connection back already, and this does nothing.
            if response is not None:
                response.close()
        said, whole = heard.end()
        if said:
            yield Words(said)
        yield whole

    async def _sent(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> aiohttp.ClientResponse:
        """The head of the response. A server may close a kept connection in the moment in which it is asked on it."""
        kept = self._kept > 0
        self._kept -= kept
        # Bytes of an earlier answer or of a tool may be no letters; a question is asked all the same.
        data = _json(body).encode(errors="replace")
        try:
            return await self._post(data, headers)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            if not kept:
                raise
        return await self._post(data, headers)

    async def _post(self, data: bytes, headers: Mapping[str, str]) -> aiohttp.ClientResponse:
        if self._session is None:
            # Made inside the loop that it belongs to.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=self._silence_s),
                trust_env=self._trust_env,
                cookie_jar=aiohttp.DummyCookieJar(),
                # Packed, a stream's first word waits in the packer.
                headers={"Accept-Encoding": "identity", "Content-Type": "application/json"},
            )
        return await self._session.post(self.url, data=data, headers=headers, allow_redirects=False)

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()


def _names(question: Question) -> tuple[str, ...]:
    return tuple(tool["function"]["name"] for tool in question.tools)


async def _rest(chunks: AsyncIterator[bytes]) -> None:
    """Read a stream that is over to its last byte: only then is its connection kept for the next question, whose first
    word would else wait for a handshake."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(REST_S):
            async for _ in chunks:
                pass


async def _bounded(response: aiohttp.ClientResponse, most_bytes: int) -> bytes:
    body = b""
    async for data in response.content.iter_any():
        body += data
        if len(body) > most_bytes:
            break
    return body[:most_bytes]


async def _refuse(response: aiohttp.ClientResponse) -> None:
    """Raise for a response that is no answer: a status, or a page where a stream should be."""
    kind = response.headers.get("content-type", "")
    if response.status == 200 and "html" not in kind:
        return
    body = await _bounded(response, _ERROR_BYTES)
    if response.status == 200:
        raise ProviderFault(provider_fault("the provider answered with a web page"))
    text = body.decode("utf-8", errors="replace")
    raise ProviderFault(classify_status(response.status, text, retry_after=response.headers.get("retry-after")))
