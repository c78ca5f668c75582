"""Playout: paces one answer's sound to the client, never far ahead of real time, so that a stop is a stop.

It holds samples and counts; it sends nothing itself and reads no clock: `now` is monotonic seconds, passed in. The one
rule: samples leave in order, each once; holding and resuming loses none and repeats none.
"""

from __future__ import annotations

import asyncio
from collections import deque

import numpy as np

from echo import level_of
from sound import Pcm

# How far the client may be ahead: enough for a busy loop and a jittery network, little enough to stop at once.
AHEAD_S = 0.32
# What leaves in one message.
CHUNK_S = 0.02
# What sounds is told this much early, so that its echo always comes later, whatever our clock and the client's say.
_EARLY_S = 0.06
# Sound comes in bursts: only a place in the answer that has been wrong by so much for so long is taken for wrong.
_ASTRAY_S, _ASTRAY_FOR_S = 0.08, 0.5


class Playout:
    """One answer's way out, mono at `rate_hz`.

    `client_holds` says that the client pauses its own queue on a hold, so that what was sent ahead is still ahead.
    """

    def __init__(self, rate_hz: int, *, ahead_s: float = AHEAD_S, client_holds: bool = False) -> None:
        self._rate_hz = rate_hz
        self._ahead = round(ahead_s * rate_hz)
        self._chunk = round(CHUNK_S * rate_hz)
        self._client_holds = client_holds
        self._queue: deque[np.ndarray] = deque()
        self._queued = 0
        self._sent = 0
        self._base: float | None = None
        self._held_at: float | None = None
        self._held_played = 0
        self._ended = False
        self._excused = False
        self.dry = 0
        self._left = asyncio.Event()
        self._gone: deque[tuple[int, float, np.ndarray]] = deque(maxlen=round((ahead_s + 1.0) / CHUNK_S))
        self._told: int | None = None
        self._astray = 0

    @property
    def sent(self) -> int:
        """Samples that have left."""
        return self._sent

    @property
    def queued_s(self) -> float:
        """Seconds that wait."""
        return self._queued / self._rate_hz

    def left_s(self, now: float) -> float:
        """Seconds until the client has nothing to play, if no more is pushed."""
        return (self._queued + self._sent - self.played(now)) / self._rate_hz

    def presses(self, now: float) -> bool:
        """Something waits, and the client has nothing else to play soon."""
        return bool(self._queued) and self._held_at is None and self._sent - self.played(now) < 2 * self._chunk

    @property
    def held(self) -> bool:
        """Nothing leaves until `resume`."""
        return self._held_at is not None

    @property
    def all_sent(self) -> bool:
        """Nothing waits and nothing more will come."""
        return self._ended and not self._queued

    def push(self, pcm: Pcm) -> None:
        """More sound, in order."""
        if len(pcm) and not self._ended:
            self._queue.append(pcm.samples)
            self._queued += len(pcm)

    async def room_for(self, lead_s: float) -> None:
        """Wait until no more than `lead_s` seconds wait."""
        while self.queued_s > lead_s:
            self._left.clear()
            await self._left.wait()

    def end(self) -> None:
        """No more will be pushed."""
        self._ended = True

    def take(self, now: float) -> list[Pcm]:
        """The chunks that are to leave now, 20 ms each; the last one of an answer may be shorter."""
        if self._held_at is not None or not (self._queued >= self._chunk or (self._ended and self._queued)):
            return []
        if self._base is None:
            self._base = now
        behind = now - self._base - self._sent / self._rate_hz
        if behind > 0 and self._sent and not self._excused:
            self.dry += 1
        self._excused = False
        if behind > 0:  # the client ran dry while there was nothing to send; real time begins again here
            self._base += behind
        may = round((now - self._base) * self._rate_hz) + self._ahead - self._sent
        chunks = []
        while may > 0 and (self._queued >= self._chunk or (self._ended and self._queued)):
            samples = self._cut(min(self._chunk, self._queued))
            self._sent += len(samples)
            may -= len(samples)
            self._gone.append((self._sent, level_of(samples), samples))
            chunks.append(Pcm.known(samples, self._rate_hz))
        return chunks

    def hold(self, now: float) -> None:
        """Nothing leaves until `resume`."""
        if self._held_at is None:
            self._held_played = self.played(now)
            self._held_at = now

    def resume(self, now: float) -> None:
        """Play on at the next sample."""
        if self._held_at is None:
            return
        if self._base is not None and self._client_holds:
            self._base += now - self._held_at
        # A client that played on while we held has run dry by our own wish.
        self._excused = not self._client_holds
        self._held_at = None

    def stop(self) -> None:
        """Forget what waits; nothing more leaves."""
        self._queue.clear()
        self._queued = 0
        self._left.set()
        self._ended = True

    def played(self, now: float) -> int:
        """Samples the client has played, as far as real time tells; never more than were sent."""
        if self._base is None:
            return 0
        if self._held_at is not None and self._client_holds:
            return self._held_played
        return max(0, min(self._sent, round((now - self._base) * self._rate_hz)))

    def drained(self, now: float) -> bool:
        """Everything has been sent and played."""
        return self.all_sent and self._held_at is None and self.played(now) >= self._sent

    def level(self, now: float) -> float | None:
        """The level of what sounds now; None where nothing does."""
        played = self.played(now)
        if self._base is None or played >= self._sent or (self._held_at is not None and self._client_holds):
            return None
        return next((level for upto, level, _ in self._gone if upto > played), 0.0)

    def sounding(self, count: int, now: float) -> np.ndarray:
        """The next `count` samples that sound, each once and in order, as the client plays them; 0 where none do.

        Which samples those are follows `now` no closer than real time needs: an echo canceller can live with any lag,
        but not with one that jumps.
        """
        out = np.zeros(count, dtype=np.float32)
        if self._base is None or (self._held_at is not None and self._client_holds):
            return out
        place = min(self._sent, self.played(now) + round(_EARLY_S * self._rate_hz))
        astray = self._told is not None and abs(place - self._told) > _ASTRAY_S * self._rate_hz
        self._astray = self._astray + count if astray else 0
        if self._told is None or self._astray > _ASTRAY_FOR_S * self._rate_hz:
            self._told, self._astray = place, 0
        start, stop = self._told, min(self._sent, self._told + count)
        for upto, _, samples in reversed(self._gone):
            if upto <= start:
                break
            begun = upto - len(samples)
            if begun < stop:
                low, high = max(start, begun), min(stop, upto)
                out[low - start : high - start] = samples[low - begun : high - begun]
        self._told = stop
        return out

    def _cut(self, count: int) -> np.ndarray:
        parts, left = [], count
        while left:
            head = self._queue.popleft()
            if len(head) > left:
                self._queue.appendleft(head[left:])
                head = head[:left]
            parts.append(head)
            left -= len(head)
        self._queued -= count
        self._left.set()
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
