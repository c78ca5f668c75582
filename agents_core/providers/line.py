"""The line: providers in order, and the only place where another one is asked.

Not a load balancer. The rules it keeps: the next key, then the next provider, is asked only before the first visible
word or call, and only for a fault that is not ours; a question is one failure of a provider, however many its keys;
nothing is bought by accident (a provider that costs money is asked only where `live` was said, and a run that carries a
script is never bought, whatever is configured).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, field, replace

from agents_core.deadline import Deadline
from agents_core.errors import ProviderFault, Verdict
from agents_core.providers.base import Chunk, Profile, Provider, Question, Whole, Words
from agents_core.providers.breaker import Breaker
from agents_core.providers.classify import called, provider_fault
from agents_core.providers.keys import Keys
from agents_core.providers.script import ScriptProvider

# Told of each provider that failed too often and is left alone (None), and of each that answers again: seconds since.
OnBreaker = Callable[[str, float | None], None]


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


@dataclass(slots=True)
class _SoFar:
    """One question on its way down the line."""

    left_s: float
    hurried: bool = True
    answered: bool = False
    faults: list[Verdict] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


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
        self.on_breaker: OnBreaker = _nobody
        self._breakers = {id(provider): Breaker() for provider in self._providers}
        self._keys = {id(provider): Keys(provider.keys) for provider in self._providers}

    async def ask(
        self,
        make: Callable[[Profile], Question],
        *,
        script: bool = False,
        model: str = "",
        hurried: bool = True,
        free: bool = False,
    ) -> AsyncGenerator[Chosen | Chunk, None]:
        """One `Chosen`, then the answer's chunks. Raises `ProviderFault` where nobody answered.

        `model` is the bot's wish; it holds for the first provider that may cost money, for which it was written.
        Not `hurried`, because nobody listens, a first word may take as long as the whole. `free` asks nobody that costs
        money, because it could not be counted.
        """
        if script:
            async for said in self._stand(make, ScriptProvider(), ()):
                yield said
            return
        so_far = _SoFar(self._patience.turn_s, hurried)
        for provider in self._providers:
            reason = self._refusal(provider, free)
            if reason:
                so_far.skipped.append(f"{provider.name}: {reason}")
                continue
            question = make(provider.profile)
            if model and provider.costs:
                question = replace(question, model=model)
                model = ""
            async with aclosing(self._tries(provider, question, so_far)) as tried:
                async for said in tried:
                    yield said
            if so_far.answered:
                return
        if so_far.faults:
            raise ProviderFault(so_far.faults[0])
        async for said in self._stand(make, ScriptProvider(stand_in=self._why()), tuple(so_far.skipped)):
            yield said

    async def _tries(
        self, provider: Provider, question: Question, so_far: _SoFar
    ) -> AsyncGenerator[Chosen | Chunk, None]:
        """One provider, its keys in turn. Raises `ProviderFault` where nobody else may be asked."""
        breaker, keys = self._breakers[id(provider)], self._keys[id(provider)]
        first_s = self._patience.backup_first_word_s if so_far.faults else self._patience.first_word_s
        if not so_far.hurried:
            first_s = self._patience.turn_s
        chosen: Chosen | None = None
        try:
            for key in keys.awake(self._clock()):
                left_s = so_far.left_s
                attempt = _Attempt(provider, min(first_s, left_s), self._patience.silence_s, left_s, self._clock)
                try:
                    async with aclosing(attempt.chunks(replace(question, key=key) if key else question)) as chunks:
                        async for chunk in chunks:
                            if chosen is None:
                                named = question.model or provider.model
                                chosen = Chosen(provider.name, named, provider.profile, tuple(so_far.skipped))
                                yield chosen
                            yield chunk
                    rested_s = breaker.answered(self._clock())
                    if rested_s is not None:
                        self.on_breaker(provider.name, rested_s)
                    so_far.answered = True
                    return
                except ProviderFault as fault:
                    so_far.left_s -= attempt.waited_s
                    self._count(provider, key, fault.verdict)
                    if chosen is not None or not fault.verdict.try_next or so_far.left_s <= 0:
                        raise
                    so_far.faults.append(fault.verdict)
                    of = f" (key {key + 1} of {len(keys)})" if len(keys) > 1 else ""
                    so_far.skipped.append(f"{provider.name}{of}: {fault.verdict.sentence}")
                    if fault.verdict.whose != "key":
                        return
        finally:
            breaker.cancelled()

    async def close(self) -> None:
        """Close every provider."""
        for provider in self._providers:
            await provider.close()

    @property
    def resting(self) -> dict[str, bool]:
        """Of each provider by name whether it is left alone at this moment, because it failed too often."""
        now_s = self._clock()
        return {one.name: self._breakers[id(one)].open(now_s) for one in self._providers}

    def _refusal(self, provider: Provider, free: bool) -> str | None:
        if provider.costs and not self._live:
            return "it costs money and buying is not switched on"
        if provider.costs and free:
            return "it costs money, which cannot be counted at the moment"
        now_s = self._clock()
        # The keys first: a probe that a half-open breaker lets through must be asked.
        return self._keys[id(provider)].refusal(now_s) or self._breakers[id(provider)].refusal(now_s)

    def _count(self, provider: Provider, key: int, verdict: Verdict) -> None:
        if verdict.whose == "provider":
            if self._breakers[id(provider)].failed(self._clock()):
                self.on_breaker(provider.name, None)
        elif verdict.whose == "key":
            self._keys[id(provider)].rests(key, self._clock(), verdict.rest_s)

    def _why(self) -> str:
        """Which of the reasons the stand-in stands in for."""
        askable = [provider for provider in self._providers if self._live or not provider.costs]
        reason = "resting" if askable else "not_live" if self._providers else "no_provider"
        return self._stand_in.get(reason, "")

    async def _stand(
        self, make: Callable[[Profile], Question], provider: ScriptProvider, skipped: tuple[str, ...]
    ) -> AsyncGenerator[Chosen | Chunk, None]:
        yield Chosen(provider.name, provider.model, provider.profile, skipped)
        async for chunk in provider.ask(make(provider.profile)):
            yield chunk


def _nobody(_provider: str, _rested_s: float | None) -> None:
    """Nobody is told."""


class _Attempt:
    """One provider asked once, with its waiting bounded."""

    def __init__(
        self, provider: Provider, first_s: float, silence_s: float, left_s: float, clock: Callable[[], float]
    ) -> None:
        self.waited_s = 0.0
        self._seen = False
        self._provider, self._called = provider, called(provider.name)
        self._limit_s = first_s
        self._silence_s = silence_s
        self._left_s = left_s
        self._clock = clock

    async def chunks(self, question: Question) -> AsyncGenerator[Chunk, None]:
        """The answer, from its first visible word or its end on. An answer without word or call is a fault."""
        async with aclosing(self._provider.ask(question)) as source:
            with closing(Deadline()) as deadline:
                while True:
                    chunk = await self._next(source, deadline)
                    if isinstance(chunk, Words):
                        if not self._seen and not chunk.text.strip():
                            continue  # nothing anybody could hear yet: the first word's limit runs on
                        self._seen, self._limit_s = True, self._silence_s
                        yield chunk
                        continue
                    if not self._seen and not chunk.calls:
                        raise ProviderFault(provider_fault(f"{self._called} gave an empty answer"))
                    yield chunk
                    return

    async def _next(self, source: AsyncIterator[Chunk], deadline: Deadline) -> Words | Whole:
        began_s = self._clock()
        limit_s = self._limit_s if self._seen else self._limit_s - self.waited_s
        limit_s = min(limit_s, self._left_s - self.waited_s)
        try:
            return await deadline.wait(anext(source), limit_s)
        except TimeoutError:
            raise ProviderFault(provider_fault(f"{self._called} was silent for {limit_s:.1f} seconds")) from None
        except StopAsyncIteration:
            raise ProviderFault(provider_fault(f"{self._called} broke off before its answer was whole")) from None
        finally:
            self.waited_s += self._clock() - began_s
