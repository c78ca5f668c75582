"""One call: a conversation whose sound goes by WebRTC and whose events go by its data channel.

The same session and the same events as on the WebSocket. It decides nothing. The one rule: a call for which no way
through the network is found in time is over, and whatever ends it ends all of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from voice.admission import Admitted
from voice.channel import Channel, encode
from voice.client_events import ClientEvents
from voice.intake import TOO_LARGE, take
from voice.outbox import Outbox
from voice.parts import VoiceParts
from voice.peer import Peer
from voice.realtime_events import Wire, error_event
from voice.session import Session
from voice.watch import watch

_log = logging.getLogger("firstword.voice")

# A client that takes nothing for this long is gone.
_WRITE_S = 15.0


class Call:
    """A call that `admitted` has opened. `run` holds it; the place is given back by whoever took it."""

    def __init__(self, parts: VoiceParts, admitted: Admitted, *, model: str) -> None:
        self.grant = admitted.grant
        self._parts = parts
        self._outbox = Outbox()
        self._channel = Channel(self._outbox)
        self.peer = Peer(parts.ice_servers, clock=parts.clock, on_open=self._channel.opened, on_message=self._take)
        self._wire = Wire(self._channel.put, self.peer.loudspeaker)
        self._session = Session(parts, grant=admitted.grant, token=admitted.token, wire=self._wire)
        self._client = ClientEvents(self._session, parts.signer, model=model)
        self._client.created()

    def update(self, session: dict[str, Any]) -> None:
        """The session that came with the offer."""
        self._client.take({"type": "session.update", "session": session})

    async def run(self, renew: Callable[[], str | None]) -> None:
        """Hold the conversation until it is over. `renew` keeps its place."""
        connect_s = self._parts.limits.connect_s
        try:
            try:
                async with asyncio.timeout(connect_s):
                    await self.peer.settled.wait()
            except TimeoutError:
                _log.info("a call found no way through the network in %.0f s", connect_s)
            if self.peer.connected:
                self._session.start()
                await self._talk(renew)
        finally:
            await self.close()

    async def close(self) -> None:
        """Hang up, and forget the conversation. Safe to call twice."""
        await self._session.close()
        await self.peer.close()

    async def _talk(self, renew: Callable[[], str | None]) -> None:
        jobs: list[asyncio.Task[Any]] = [
            asyncio.create_task(self._write()),
            asyncio.create_task(self._watch(renew)),
            asyncio.create_task(self._listen()),
            asyncio.create_task(self.peer.gone.wait()),
        ]
        try:
            done, _ = await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
            for job in done:
                job.result()
        except (ConnectionError, TimeoutError) as gone:
            _log.debug("a call ended (%s)", type(gone).__name__)
        finally:
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)

    def _take(self, message: str | bytes) -> None:
        if not take(message, self._client, self._wire):
            self._wire.send(error_event(TOO_LARGE, code="message_too_large"))
            self.peer.gone.set()

    async def _listen(self) -> None:
        async for pcm in self.peer.sound():
            if len(pcm):
                self._session.hear(pcm)
        # A microphone that was put away is no hanging up: whoever has none can still write.
        await self.peer.gone.wait()

    async def _write(self) -> None:
        while True:
            event = await self._outbox.take()
            async with asyncio.timeout(_WRITE_S):
                await self.peer.send(encode(event))

    async def _watch(self, renew: Callable[[], str | None]) -> None:
        ending = await watch(self._parts, self._session, self._outbox, renew)
        # A data channel has no code to close with: the sentence goes ahead.
        await self.peer.send(encode(error_event(ending.words, code="session_ended", type_="session_ended")))
