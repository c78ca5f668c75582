"""The model beside the server: llama.cpp in a child process.

Not a second client: the child speaks OpenAI's shape on loopback, and `OpenAIProvider` asks it. A process of its own,
because a crash in native code then costs one answer and not every conversation. The one rule: whoever asks finds it
running; where it died it is started again.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from agents_core.errors import ProviderFault
from agents_core.providers.base import Chunk, Profile, Question
from agents_core.providers.classify import LOCAL, provider_fault
from agents_core.providers.openai import OpenAIProvider

# Answers at once. Each slot keeps the prompt it answered last, so a bot's fixed prefix is read once a slot.
SLOTS = 4
# Tokens a slot holds. SmolLM2's own window is 8192; a spoken conversation of a small model needs far fewer.
CONTEXT = 1024
# The child is asked to end and then made to; it holds nothing that must be saved.
_END_S = 5.0
# Reading a prefix of 700 tokens takes 3 s on two cores that do nothing else, and many times that beside a test run.
_WARM_S = 90.0
# How often an OpenMP thread looks before it sleeps until the others are done: about 0.1 ms. Threads that sleep at once
# (OMP_WAIT_POLICY=PASSIVE) read a question at 8 ms a token, these at 4.6; those that spin for long starve the others.
_SPINS = 2_000
_CHILD = Path(__file__).with_name("local_child.py")

# A model of 135 million parameters drifts after two sentences, so it is kept to two and asked greedily. Left to itself
# it goes round in circles without a penalty on repeats; led, it may not say what it was shown with one.
SMALL = Profile(
    max_tokens=56,
    temperature=0.0,
    extra=(("repeat_penalty", 1.1), ("cache_prompt", True), ("stop", ["\n"])),
    led=(("repeat_penalty", 1.0),),
    small=True,
    tools=False,
    sentences=2,
    history_lines=2,
    history_chars=500,
)


class LocalProvider:
    """`weights` is a GGUF file. Costs nothing but cores; `threads` is how many."""

    name = LOCAL
    costs = False
    keys = 1

    def __init__(
        self,
        weights: Path,
        *,
        model: str = "local",
        threads: int = 2,
        slots: int = SLOTS,
        context: int = CONTEXT,
        profile: Profile = SMALL,
    ) -> None:
        self.model = model
        self.profile = profile
        self._settings = {
            "weights": str(weights),
            "model": model,
            "threads": threads,
            "slots": slots,
            "context": context,
        }
        self._child: subprocess.Popen[bytes] | None = None
        self._client: OpenAIProvider | None = None
        self._starting = asyncio.Lock()
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs: for whoever measures its memory."""
        return self._child.pid if self._child and self._child.poll() is None else None

    async def ask(self, question: Question) -> AsyncGenerator[Chunk, None]:
        """See `Provider.ask`."""
        client = await self._running()
        async with aclosing(client.ask(question)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def warm(self, prefixes: Sequence[tuple[dict[str, Any], ...]]) -> None:
        """Start the child and read each fixed prefix once, so that the first question pays for neither."""
        await self._running()
        for prefix in prefixes:
            async with aclosing(self.ask(Question(prefix, max_tokens=1))) as chunks:
                async for _ in chunks:
                    pass

    async def close(self) -> None:
        """End the child."""
        self._closed = True
        async with self._starting:
            await self._end()

    async def _running(self) -> OpenAIProvider:
        async with self._starting:
            if self._closed:
                raise ProviderFault(provider_fault("the local model is closed, because the server is stopping"))
            if self._client is None or self.pid is None:
                await self._end()
                # A start that nobody waits for any more is finished all the same: the next question needs it.
                address = await asyncio.shield(asyncio.create_task(asyncio.to_thread(self._start)))
                self._client = OpenAIProvider(
                    f"{address}/v1",
                    self.model,
                    name=self.name,
                    costs=False,
                    profile=self.profile,
                    # The line bounds an answer; a warm-up on busy cores may take its time.
                    silence_s=_WARM_S,
                    trust_env=False,
                )
            return self._client

    def _start(self) -> str:
        command = [sys.executable, "-I", str(_CHILD), json.dumps(self._settings)]
        child = subprocess.Popen(  # noqa: S603  (our own file, no shell)
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "GOMP_SPINCOUNT": str(_SPINS)},
        )
        self._child = child
        assert child.stdout is not None  # noqa: S101  (asked for a line above)
        line = child.stdout.readline()
        said = json.loads(line) if line else {"error": f"it ended with code {child.wait()}"}
        if "address" not in said:
            raise ProviderFault(
                provider_fault(
                    f"the local model could not be started from {Path(str(self._settings['weights'])).name}: "
                    f"{said['error']}; `firstword models doctor` checks the weights"
                )
            )
        return str(said["address"])

    async def _end(self) -> None:
        client, self._client = self._client, None
        child, self._child = self._child, None
        if client:
            await client.close()
        if child:
            await asyncio.to_thread(_stop, child)


def _stop(child: subprocess.Popen[bytes]) -> None:
    """Close its standard input, which it takes as its end; then insist."""
    for pipe in (child.stdin, child.stdout):
        if pipe:
            pipe.close()
    try:
        child.wait(_END_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
