"""The worker: registers with a LiveKit server as `copilot` and holds a conversation in each room it is sent to.

LiveKit's library registers, takes jobs and joins rooms. We give it no listening, no speaking, no model and no turn
detection of its own: there is no agent session of LiveKit's here at all. The one rule: a job without a grant of ours
is not taken.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from livekit import agents

from grant import GrantRefused, Signer
from voice.errors import CannotJoin, TooMany
from voice.livekit.passes import AGENT, Asked, LiveKit
from voice.livekit.talk import RoomTalk
from voice.parts import Limits, VoiceParts
from voice.places import Places

_log = logging.getLogger("firstword.voice")

# Gives the parts of one conversation, made on the loop that it runs on, and closes them.
Opening = Callable[[], AbstractAsyncContextManager[VoiceParts]]


class Worker:
    """Conversations in the rooms of `livekit`. Jobs run on threads of this process, so that models are loaded once."""

    def __init__(
        self,
        livekit: LiveKit,
        parts: Opening,
        signer: Signer,
        limits: Limits,
        *,
        clock: Callable[[], float],
        on_ready: Callable[[], None] = lambda: None,
    ) -> None:
        self._audio = livekit.audio
        self._parts = parts
        self._signer = signer
        self._limits = limits
        self._places = Places(limits.sessions, limits.per_person, clock, day_s=limits.day_s)
        # Jobs have a thread each.
        self._lock = threading.Lock()
        self._talks: dict[RoomTalk, asyncio.AbstractEventLoop] = {}
        self._server = agents.AgentServer(
            job_executor_type=agents.JobExecutorType.THREAD,
            # How many rooms one worker takes is ours to say; the load only tells LiveKit which worker has most room.
            load_threshold=float("inf"),
            load_fnc=lambda: min(1.0, self.taken / limits.sessions),
            # Threads that wait for the next rooms, which are joined sooner for it.
            num_idle_processes=2,
            ws_url=livekit.url,
            api_key=livekit.key,
            api_secret=livekit.secret,
            # By default its health page answers on every interface.
            host="127.0.0.1",
            port=0,
        )
        self._server.rtc_session(self._job, agent_name=AGENT, on_request=self._request)
        self._server.on("worker_registered", lambda *_told: on_ready())

    @property
    def taken(self) -> int:
        """Conversations that are being held."""
        with self._lock:
            return self._places.taken

    async def run(self) -> None:
        """Take jobs until `stop`. Raises `CannotJoin` where the LiveKit server cannot be reached."""
        try:
            await self._server.run()
        except (ValueError, RuntimeError) as fault:
            raise CannotJoin(f"the LiveKit server takes no worker from us: {fault}") from fault

    async def stop(self, within_s: float) -> None:
        """Take no more jobs, end each conversation in its next quiet moment, and the rest after `within_s` seconds."""
        with self._lock:
            talks = list(self._talks.items())
        for talk, loop in talks:
            with contextlib.suppress(RuntimeError):  # its loop is closed: it is over
                loop.call_soon_threadsafe(talk.leave)
        with contextlib.suppress(TimeoutError):
            await self._server.drain(timeout=max(1, round(within_s)))
        await self._server.aclose()

    async def _request(self, request: agents.JobRequest) -> None:
        try:
            self._signer.verify(Asked.read(request.job.metadata).grant)
        except (ValueError, GrantRefused) as refused:
            _log.warning("a job is not taken: %s", refused)
            await request.reject()
            return
        if self.taken >= self._limits.sessions:
            # Another worker may have room.
            await request.reject(terminate=False)
            return
        await request.accept(name=AGENT)

    async def _job(self, context: agents.JobContext) -> None:
        place: int | None = None
        try:
            asked = Asked.read(context.job.metadata)
            grant = self._signer.verify(asked.grant)
            with self._lock:
                place = self._places.take(grant.subject)
            held = place
            async with self._parts() as parts:
                talk = RoomTalk(parts, context.room, grant, asked, audio=self._audio)
                try:
                    await context.connect(auto_subscribe=agents.AutoSubscribe.SUBSCRIBE_NONE)
                    with self._lock:
                        self._talks[talk] = asyncio.get_running_loop()
                    await talk.run(lambda: self._renew(held))
                finally:
                    with self._lock:
                        self._talks.pop(talk, None)
                    await talk.close()
        except (GrantRefused, KeyError, TooMany, ValueError) as refused:
            # Nobody comes, and the page takes the direct path, which says why in words.
            _log.warning("a room is left: %s", refused)
        finally:
            if place is not None:
                with self._lock:
                    self._places.leave(place)
            context.shutdown()

    def _renew(self, place: int) -> str | None:
        with self._lock:
            return self._places.renew(place)
