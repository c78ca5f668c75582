"""The fire drill: what each way a provider can break would do to somebody's turn.

`configured` asks the line that is configured, each provider and each key by itself; `drill` asks a provider that breaks
on purpose, through a whole core, with a second one behind it. Nothing is bought: a provider that costs money is asked
only where `live` was said. The one rule: every sentence says what a person would hear, and after how long.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agents_core import Ask, Core, Delta, Failed, Patience, Provider, ProviderFault, Question, Trace, Words
from firstword.addresses import Address
from firstword.settings import Settings
from firstword.testing.provider import FAULTS, FakeProvider
from firstword.thinking import addresses_of, local_for, provider_of
from models import ModelsError

_HELLO = ({"role": "system", "content": "Answer in one word."}, {"role": "user", "content": "Say yes."})
# Enough for a model that thinks first; nobody waits longer for a backup either.
_TOKENS, _MOST_S = 256, 25.0
_BOT = "---\nname: Drill\nsurfaces: [voice]\n---\nYou are here for a fire drill.\n"


@dataclass(frozen=True, slots=True)
class Tried:
    """One provider with one of its keys. `verdict` is whose its failure was; `first_word_ms` None where none came."""

    provider: str
    model: str
    key: int
    keys: int
    asked: bool
    first_word_ms: float | None
    verdict: str
    said: str


@dataclass(frozen=True, slots=True)
class Turned:
    """What somebody heard of a turn whose first provider had this fault, and how soon."""

    shape: str
    fault: str
    what: str
    answered_by: str
    heard: str
    failed: str
    first_word_ms: float | None
    total_ms: float
    skipped: tuple[str, ...]


async def configured(settings: Settings) -> list[Tried]:
    """Ask everybody in the configured line, the local model too."""
    providers: list[Provider] = [provider_of(address) for address in addresses_of(settings)]
    missing: list[Tried] = []
    try:
        providers.append(local_for(settings))
    except ModelsError as fault:
        missing.append(Tried("local", settings.brain_model, 1, 1, False, None, "", str(fault)))
    try:
        return [*await ask_all(providers, live=settings.live), *missing]
    finally:
        for provider in providers:
            await provider.close()


async def ask_all(providers: Sequence[Provider], *, live: bool) -> list[Tried]:
    """Ask each of them, key by key, one after the other."""
    each = [(provider, key) for provider in providers for key in range(provider.keys)]
    return [await _tried(provider, key, live=live) for provider, key in each]


async def _tried(provider: Provider, key: int, *, live: bool) -> Tried:
    def tried(asked: bool, first_ms: float | None, verdict: str, said: str) -> Tried:
        return Tried(provider.name, provider.model, key + 1, provider.keys, asked, first_ms, verdict, said)

    if provider.costs and not live:
        return tried(False, None, "", "it costs money, and FIRSTWORD_LIVE is not true")
    began_s, first_s, words = time.monotonic(), None, ""
    try:
        asked = provider.ask(Question(_HELLO, max_tokens=_TOKENS, key=key))
        async with asyncio.timeout(_MOST_S), aclosing(asked) as said:
            async for chunk in said:
                if isinstance(chunk, Words) and chunk.text.strip():
                    first_s = first_s or time.monotonic()
                    words += chunk.text
    except ProviderFault as fault:
        return tried(True, None, fault.verdict.whose, fault.verdict.sentence)
    except TimeoutError:
        return tried(True, None, "provider", f"no end within {_MOST_S:g} seconds")
    if first_s is None:
        return tried(True, None, "provider", "it answered nothing")
    return tried(True, (first_s - began_s) * 1000, "", " ".join(words.split())[:80])


def tried_in_words(tried: Sequence[Tried], patience: Patience) -> list[str]:
    """A line each, and at the end what that comes to for somebody who asks now."""
    lines = []
    first = next((one for one in tried if one.asked and one.first_word_ms is not None), None)
    for n, one in enumerate(tried):
        of = f" key {one.key} of {one.keys}" if one.keys > 1 else ""
        limit_ms = (patience.first_word_s if n == 0 else patience.backup_first_word_s) * 1000
        if not one.asked:
            lines.append(f"{one.provider}{of}: not asked; {one.said}")
        elif one.first_word_ms is None:
            then = {"key": "the key rests and the next is tried", "ours": "nobody else is asked, the turn fails"}
            lines.append(f"{one.provider}{of}: {one.said}; in a turn {then.get(one.verdict, 'the next one is asked')}")
        elif one.first_word_ms > limit_ms:
            lines.append(
                f"{one.provider}{of}: its first word took {one.first_word_ms:.0f} ms; in a turn it is left after "
                f"{limit_ms:.0f}"
            )
        else:
            lines.append(f"{one.provider}{of}: answers, first word after {one.first_word_ms:.0f} ms ({one.model})")
    if first is None:
        return [*lines, "nobody answers: whoever asks now hears the stand-in, or that it failed"]
    return [*lines, f"whoever asks now is answered by {first.provider}"]


async def drill(*, patience: Patience | None = None, shapes: Sequence[str] = ("openai", "anthropic")) -> list[Turned]:
    """Every fault in every shape, each in a core of its own, all at once: as long as the slowest takes."""
    async with FakeProvider() as fake:
        with tempfile.TemporaryDirectory() as folder:
            bots = Path(folder) / "bots"
            bots.mkdir()
            (bots / "drill.md").write_text(_BOT, "utf-8")
            cores: list[Core] = []
            try:
                turns = []
                for shape in shapes:
                    for fault in FAULTS:
                        # One after the other: whoever brings a database's tables up to date is alone in its process.
                        cores.append(await _core(fake, shape, fault, Path(folder), patience))
                        turns.append(_turned(cores[-1], shape, fault))
                return await asyncio.gather(*turns)
            finally:
                for core in cores:
                    await core.close()


async def _core(fake: FakeProvider, shape: str, fault: str, folder: Path, patience: Patience | None) -> Core:
    """A core whose first provider has the fault; the second answers."""
    # On loopback, so that it costs nothing; without the proxies of the environment, which would not find it.
    addresses = [
        Address.model_validate({"url": fake.url, "model": model, "name": name, "shape": shape})
        for name, model in (("broken", fault), ("backup", "well"))
    ]
    providers = [provider_of(address, trust_env=False) for address in addresses]
    database = f"sqlite:///{folder / f'{shape}-{fault}.db'}"
    return await Core.open(content=folder, database_url=database, providers=providers, patience=patience, worker=False)


async def _turned(core: Core, shape: str, fault: str) -> Turned:
    ask = Ask(bot="drill", text="Is anybody there?", asker="drill", subject="drill", room="drill")
    began_s = time.monotonic()
    first_s, heard, failed, trace = None, "", "", None
    async with aclosing(core.run_turn(ask)) as events:
        async for event in events:
            if isinstance(event, Delta):
                first_s = first_s or time.monotonic()
                heard += event.text
            elif isinstance(event, Failed):
                failed = event.message
            elif isinstance(event, Trace):
                trace = event
    return Turned(
        shape=shape,
        fault=fault,
        what=FAULTS[fault],
        answered_by=trace.provider if trace and not failed else "",
        heard=heard.strip(),
        failed=failed,
        first_word_ms=None if first_s is None else (first_s - began_s) * 1000,
        total_ms=(time.monotonic() - began_s) * 1000,
        skipped=trace.skipped if trace else (),
    )


def turned_in_words(turned: Sequence[Turned]) -> list[str]:
    """What each fault came to, a line each."""
    lines = []
    for one in turned:
        after = "" if one.first_word_ms is None else f" after {one.first_word_ms / 1000:.1f} s"
        if one.answered_by == "broken":
            outcome = f"it answers all the same{after}"
        elif one.answered_by:
            outcome = f"the {one.answered_by} answers{after}"
        else:
            outcome = f"the turn fails; heard{after}: {one.heard!r}; told: {one.failed}"
        lines.append(f"{one.shape:9} {one.fault:14} {one.what}: {outcome}")
    return lines


def as_json(rows: Sequence[Tried | Turned]) -> list[dict[str, Any]]:
    """Plain values."""
    return [asdict(row) for row in rows]
