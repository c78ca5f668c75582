"""The line: providers in order, and the only place where another one is asked.

Not a load balancer. The rules it keeps: the next is asked only before the first visible word or call, and only for a
fault that is not ours; nothing is bought by accident (a provider that costs money is asked only where `live` was said,
and a run that carries a script is never bought, whatever is configured).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from agents_core.errors import ProviderFault, Verdict
from agents_core.providers.base import Chunk, Profile, Provider, Question, Whole, Words
from agents_core.providers.breaker import Breaker
from agents_core.providers.classify import provider_fault
from agents_core.providers.script import ScriptProvider


@dataclass(frozen=True, slots=True)
class Patience:
    """How long an answer is waited for, in seconds of waiting (a slow listener's time does not count)."""

    first_word_s: float = 4.0
    """Until the first provider's first word; longer is a pause in which people ask again."""
    backup_first_word_s: float = 8.0
    """Until a later provider's: the person has waited already, and there is nobody after it to hurry for."""
    silence_s: float = 8.0
    """Between two chunks."""
    turn_s: float = 25.0
    """All waiting of one asking of the line."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Who answers, said before its first chunk. `skipped` names who was not asked or failed, and why."""

    provider: str
    model: str
    profile: Profile
    skipped: tuple[str, ...]


class Line:
    """Providers in order. `make` gives the question for a provider's profile: each is asked in its own way."""

    def __init__(
        self,
        providers: Sequence[Provider],
        *,
        live: bool = False,
        stand_in: Mapping[str, str] | None = None,
        patience: Patience | None = None,
        clock: Callable[[], float],
    ) -> None:
        self._providers = tuple(providers)
        self._live = live
        self._stand_in = stand_in or {}
        self._patience = patience or Patience()
        self._clock = clock
        self._breakers = {id(provider): Breaker() for provider in self._providers}

    async def ask(
        self, make: Callable[[Profile], Question], *, script: bool = False, model: str = ""
    ) -> AsyncGenerator[Chosen | Chunk, None]:
        """One `Chosen`, then the answer's chunks. Raises `ProviderFault` where nobody answered.

        `model` is the bot's wish; it holds for the first provider that may cost money, for which it was written.
        """
        if script:
            async for said in self._stand(make, ScriptProvider(), ()):
                yield said
            return
        skipped: list[str] = []
        faults: list[Verdict] = []
        left_s = self._patience.turn_s
        for provider in self._providers:
            reason = self._refusal(provider)
            if reason:
                skipped.append(f"{provider.name}: {reason}")
                continue
            first_s = self._patience.backup_first_word_s if faults else self._patience.first_word_s
            attempt = _Attempt(provider, min(first_s, left_s), self._patience.silence_s, left_s, self._clock)
            question = make(provider.profile)
            if model and provider.costs:
                question = replace(question, model=model)
                model = ""
            breaker = self._breakers[id(provider)]
            told = False
            try:
                async with aclosing(attempt.chunks(question)) as chunks:
                    async for chunk in chunks:
                        if not told:
                            yield Chosen(provider.name, question.model or provider.model, provider.profile, (*skipped,))
                            told = True
                        yield chunk
                breaker.answered()
                return
            except ProviderFault as fault:
                self._count(breaker, fault.verdict)
                left_s -= attempt.waited_s
                if told or not fault.verdict.try_next or left_s <= 0:
                    raise
                faults.append(fault.verdict)
                skipped.append(f"{provider.name}: {fault.verdict.sentence}")
            finally:
                breaker.cancelled()
        if faults:
            raise ProviderFault(faults[0])
        async for said in self._stand(make, ScriptProvider(stand_in=self._why()), tuple(skipped)):
            yield said

    async def close(self) -> None:
        """Close every provider."""
        for provider in self._providers:
            await provider.close()

    def _refusal(self, provider: Provider) -> str | None:
        if provider.costs and not self._live:
            return "it costs money and buying is not switched on"
        return self._breakers[id(provider)].refusal(self._clock())

    def _count(self, breaker: Breaker, verdict: Verdict) -> None:
        if verdict.whose == "provider":
            breaker.failed(self._clock())
        elif verdict.whose == "key":
            breaker.rests(self._clock(), verdict.rest_s)

    def _why(self) -> str:
        unbought = any(provider.costs for provider in self._providers) and not self._live
        return self._stand_in.get("not_live" if unbought else "no_provider", "")

    async def _stand(
        self, make: Callable[[Profile], Question], provider: ScriptProvider, skipped: tuple[str, ...]
    ) -> AsyncGenerator[Chosen | Chunk, None]:
        yield Chosen(provider.name, provider.model, provider.profile, skipped)
        async for chunk in provider.ask(make(provider.profile)):
            yield chunk


class _Attempt:
    """One provider asked once, with its waiting bounded."""

    def __init__(
        self, provider: Provider, first_s: float, silence_s: float, left_s: float, clock: Callable[[], float]
    ) -> None:
        self.waited_s = 0.0
        self._seen = False
        self._provider = provider
        self._limit_s = first_s
        self._silence_s = silence_s
        self._left_s = left_s
        self._clock = clock

    async def chunks(self, question: Question) -> AsyncGenerator[Chunk, None]:
        """The answer, from its first visible word or its end on. An answer without word or call is a fault."""
        async with aclosing(self._provider.ask(question)) as source:
            while True:
                chunk = await self._next(source)
                if isinstance(chunk, Words):
                    if not self._seen and not chunk.text.strip():
                        continue  # nothing anybody could hear yet: the first word's limit runs on
                    self._seen, self._limit_s = True, self._silence_s
                    yield chunk
                    continue
                if not self._seen and not chunk.calls:
                    raise ProviderFault(provider_fault(f"{self._provider.name} gave an empty answer"))
                yield chunk
                return

    async def _next(self, source: AsyncIterator[Chunk]) -> Words | Whole:
        began_s = self._clock()
        limit_s = self._limit_s if self._seen else self._limit_s - self.waited_s
        limit_s = min(limit_s, self._left_s - self.waited_s)
        try:
            async with asyncio.timeout(limit_s):
                return await anext(source)
        except TimeoutError:
            raise ProviderFault(provider_fault(f"{self._provider.name} was silent for {limit_s:.1f} seconds")) from None
        except StopAsyncIteration:
            raise ProviderFault(provider_fault(f"{self._provider.name} stopped without an end")) from None
        finally:
            self.waited_s += self._clock() - began_s
