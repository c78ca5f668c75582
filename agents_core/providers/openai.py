"""Any address that speaks OpenAI's chat completions, streamed.

Not the `openai` package (602 ms to import, its own retries): one request, read by hand. The one rule: it asks once;
whether anybody else is asked is for the line of providers to say.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator
from typing import Any

import httpx2

from agents_core.errors import ProviderFault
from agents_core.providers.base import Chunk, Profile, Question, Words
from agents_core.providers.brief import Brief
from agents_core.providers.classify import classify_status, provider_fault
from agents_core.providers.hidden import Hidden
from agents_core.providers.stream import Answer, Events

# A connection is made in a round trip or two; a provider that needs longer would miss the first word's limit anyway.
CONNECT_S = 3.0
# An error's body is read for its sentence only.
_ERROR_BYTES = 64 * 1024


class OpenAIProvider:
    """One address, one model, one key. `silence_s` bounds the pause between two chunks of a stream."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "",
        name: str = "openai",
        costs: bool = True,
        profile: Profile | None = None,
        silence_s: float = 10.0,
        trust_env: bool = True,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.name = name
        self.model = model
        self.costs = costs
        self.profile = profile or Profile()
        self._url = url.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(silence_s, connect=CONNECT_S),
            trust_env=trust_env,
            transport=transport,
            # A context takes 15 ms to make and is for addresses that use it.
            verify=ssl.create_default_context() if url.startswith("https:") else False,
        )

    async def ask(self, question: Question) -> AsyncGenerator[Chunk, None]:
        """See `Provider.ask`. Closing the iterator closes the connection, which stops the model."""
        words, answer, events = _Spoken(self._sentences(question), question.lead), Answer(), Events()
        try:
            async with self._client.stream(
                "POST", self._url, json=self.body(question), headers=self._headers
            ) as response:
                await _refuse(response)
                if "json" in response.headers.get("content-type", ""):
                    body = (await response.aread()).decode("utf-8", errors="replace")
                    yield Words(words.push(answer.push(body)))
                else:
                    async for data in response.aiter_bytes():
                        for event in events.push(data):
                            if said := words.push(answer.push(event)):
                                yield Words(said)
                        if answer.over or words.over:
                            break
                    # What was left in the middle, because enough was said, is no whole event.
                    for event in () if words.over else events.end():
                        if said := words.push(answer.push(event)):
                            yield Words(said)
        except httpx2.TimeoutException:
            raise ProviderFault(provider_fault(f"{self.name} did not answer in time")) from None
        except httpx2.HTTPError as fault:
            raise ProviderFault(provider_fault(f"{self.name} could not be reached ({type(fault).__name__})")) from None
        # Brief enough is complete, although the stream was left before its end.
        whole = answer.so_far() if words.over else answer.whole()
        if said := words.flush(whole=whole.finish_reason != "length"):
            yield Words(said)
        yield whole

    def body(self, question: Question) -> dict[str, Any]:
        """The request, as it is sent."""
        lead = question.lead
        body: dict[str, Any] = {
            "model": question.model or self.model,
            # A last message of the assistant's own is gone on from.
            "messages": [*question.messages, *([{"role": "assistant", "content": lead}] if lead else [])],
            "stream": True,
            self.profile.max_tokens_key: question.max_tokens or self.profile.max_tokens,
            **dict(self.profile.extra),
            **(dict(self.profile.led) if lead else {}),
        }
        if question.tools:
            body["tools"] = list(question.tools)
        if self.profile.asks_usage:
            body["stream_options"] = {"include_usage": True}
        if self.profile.temperature is not None:
            body["temperature"] = self.profile.temperature
        return body

    def _sentences(self, question: Question) -> int:
        return self.profile.sentences if question.sentences is None else question.sentences

    async def close(self) -> None:
        """Close every connection."""
        await self._client.aclose()


class _Spoken:
    """What of a model's words is for a listener: without markup, and no longer than wished."""

    def __init__(self, sentences: int, lead: str) -> None:
        self._hidden, self._brief, self._lead = Hidden(), Brief(sentences), lead

    @property
    def over(self) -> bool:
        return self._brief.over

    def push(self, words: str) -> str:
        said = self._hidden.push(words)
        if said and self._lead:
            # Not before the model has gone on from it: until then there is no answer.
            said, self._lead = self._lead + said, ""
        return self._brief.push(said)

    def flush(self, *, whole: bool) -> str:
        return self._brief.push(self._hidden.flush()) + self._brief.flush(whole=whole)


async def _refuse(response: httpx2.Response) -> None:
    """Raise for a response that is no answer: a status, or a page where a stream should be."""
    kind = response.headers.get("content-type", "")
    if response.status_code == 200 and "html" not in kind:
        return
    body = b""
    async for data in response.aiter_bytes():
        body += data
        if len(body) > _ERROR_BYTES:
            break
    if response.status_code == 200:
        raise ProviderFault(provider_fault("the provider answered with a web page"))
    text = body.decode("utf-8", errors="replace")
    raise ProviderFault(classify_status(response.status_code, text, retry_after=response.headers.get("retry-after")))
