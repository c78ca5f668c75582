"""The gate between the microphone and the listener: while the assistant is audible only a candidate's sound goes on.

What may be the assistant's own voice is taken out of it where it is known how, and hushed elsewhere, so that no
recogniser takes its words for a person's. A delay line of 400 ms, so that the onset of a person's words is still there
when the bar has been passed; while it is found out how to clean a candidate's sound, that waits there too. The listener
gets every frame once and in order, real, cleaned or as silence, so that its clock never jumps. The one rule: outside
the assistant's own sound the gate is open and holds nothing back.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from echo import Bar, Judged
from sound import Pcm
from voice.cleaning import Cleaning
from voice.parts import CancellerPort, LanePort

# Around a frame that is somebody's, this much goes on even where it may be our own: words have quiet ends. After a
# knock it is little, so that no word of ours is in it; after a word's worth of pitch it spans the quiet syllables.
HANG_S = 0.1
VOICED_S = 0.08
HANG_VOICED_S = 0.25
# Pre-roll: the quiet first consonant before the frame that passes the bar.
DELAY_S = 0.4
# A candidate's sound waits so long at most for being cleaned: a hold ends where no speech is found within 0.7 s. The
# canceller has no more than the last second.
WAIT_S, CLEANED_S = 0.4, 1.0
FRAME_S = 0.02


@dataclass(frozen=True, slots=True)
class Passed:
    """What goes on to the listener; whether a candidate stands as of now; the pitch in the one that stands, in s.

    The pitch is 0 while its sound waits for being cleaned.
    """

    frames: tuple[Pcm, ...]
    candidate: bool
    judged: Judged | None
    voiced_s: float = 0.0


class Gate:
    """One session's gate, over one `Bar`.

    `lane` is where the cleaning of a candidate is worked out; `first` takes our own voice out before all is judged.
    """

    def __init__(
        self, bar: Bar | None = None, *, lane: LanePort | None = None, first: CancellerPort | None = None
    ) -> None:
        self.bar = bar or Bar()
        self._first = first
        self._cleaning = Cleaning(self.bar, lane)
        self._voiced_s = 0.0
        self._line: deque[tuple[Pcm, Judged]] = deque()
        self._lined_s = 0.0
        # So many frames at the end of the line are the candidate's.
        self._theirs = 0
        self._rest: Pcm | None = None
        self._letting = False
        self._leaks = False
        self._since_s = 0.0

    @property
    def may_leak(self) -> bool:
        """Our own voice may be in what goes on of the candidate that stands."""
        return self._leaks and not self._cleaning.ready

    async def close(self) -> None:
        """The session is over."""
        await self._cleaning.close()

    def push(self, pcm: Pcm, *, played: float | None, sounding: Pcm | None = None) -> Passed:
        """Judge the next stretch of microphone. `played` is the level of what the assistant plays, None for nothing.

        `sounding` is that sound itself, as long as `pcm`, with any constant lag.
        """
        out: list[Pcm] = []
        candidate, voiced_s, judged = False, 0.0, None
        mono = pcm.mono() if self._first is None else self._first.clean(pcm.mono(), sounding)
        self._cleaning.sounds(sounding, mono)
        if self._cleaning.fitting and self._theirs * FRAME_S >= WAIT_S:
            self._cleaning.end()
        for frame in self._frames(mono):
            self._cleaning.take(frame)
            judged = self.bar.judge(frame.samples, frame.rate_hz, played=played)
            if judged.candidate and not self._letting:
                candidate = self._letting = True
                self._leaks = self.bar.may_leak
                self._voiced_s = self._since_s = 0.0
                self._cleaning.begin()
            if not (self._letting or self.bar.open):
                out += self._drain()
                out.append(frame)
                continue
            self._line.append((frame, judged))
            self._lined_s += frame.duration_s
            if self._letting:
                self._theirs += 1
                if not self._cleaning.fitting:
                    out += self._let()
                voiced_s = 0.0 if self._theirs else self._voiced_s
            else:
                while self._lined_s > DELAY_S:
                    out.append(_hushed(self._next()))
        return Passed(tuple(out), candidate, judged, voiced_s)

    def person(self) -> None:
        """The candidate was a person; the sound goes on until the assistant is audible again."""
        self.bar.person()

    def nobody(self, *, own: bool = False) -> None:
        """The candidate was nobody, or (`own`) the assistant: shut again, and the bar learns."""
        self.bar.nobody(own=own)
        self._shut()

    def answering(self) -> None:
        """An answer begins to sound: what comes in is judged again, and of an older candidate nothing is learned."""
        self.bar.person()
        self._shut()

    def _shut(self) -> None:
        self._letting = False
        self._theirs = 0
        self._cleaning.end()

    def _drain(self) -> list[Pcm]:
        """What the line holds once the window is shut: on headphones a person's first sounds, else our own tail."""
        held = [_hushed(frame) if judged.own else frame for frame, judged in self._line]
        self._clear()
        return held

    def _let(self) -> list[Pcm]:
        """What a candidate's frames, and those before them, go on as, now that it is known how they are cleaned."""
        if self._lined_s > CLEANED_S:
            self._cleaning.end()
        line, theirs = list(self._line), self._theirs
        self._clear()
        before, after = line[: len(line) - theirs], line[len(line) - theirs :]
        out = self._onset(before, newer=theirs)
        for newer, (frame, judged) in zip(range(theirs - 1, -1, -1), after, strict=True):
            out.append(self._heard(frame, judged, newer=newer))
        return out

    def _onset(self, before: list[tuple[Pcm, Judged]], *, newer: int) -> list[Pcm]:
        """What the line held when the candidate stood: their first sounds, and our own voice before them hushed."""
        line = [(frame, judged.own) for frame, judged in before]
        if self._cleaning.ready:
            cleaned = self._cleaning.clean([frame for frame, _ in line], newer=newer)
            self._voiced_s += sum(one.frame.duration_s for one in cleaned if one.voiced)
            line = [(one.frame, one.ours) for one in cleaned]
        held, near_s = [], HANG_S
        for frame, own in reversed(line):
            near_s = near_s - frame.duration_s if own else HANG_S
            held.append(_hushed(frame) if own and near_s < 0 else frame)
        return held[::-1]

    def _heard(self, frame: Pcm, judged: Judged, *, newer: int) -> Pcm:
        """What the listener gets of a frame while a candidate stands; since then `newer` others came."""
        own = judged.own
        if self._cleaning.ready:
            (cleaned,) = self._cleaning.clean([frame], newer=newer)
            frame, own = cleaned.frame, cleaned.ours
            self._voiced_s += frame.duration_s * cleaned.voiced
        else:
            self._voiced_s = judged.voiced_s
        self._since_s = self._since_s + frame.duration_s if own else 0.0
        hang_s = HANG_VOICED_S if self._voiced_s >= VOICED_S else HANG_S
        return _hushed(frame) if self._since_s > hang_s else frame

    def _next(self) -> Pcm:
        frame, _ = self._line.popleft()
        self._lined_s -= frame.duration_s
        return frame

    def _clear(self) -> None:
        self._line.clear()
        self._lined_s = 0.0
        self._theirs = 0

    def _frames(self, pcm: Pcm) -> list[Pcm]:
        """`pcm` in stretches of 20 ms; a tail waits for the next call, unless the window is shut."""
        if self._rest is not None and self._rest.rate_hz == pcm.rate_hz:
            pcm = Pcm.join([self._rest, pcm])
        self._rest = None
        size = round(FRAME_S * pcm.rate_hz)
        whole = len(pcm) - len(pcm) % size
        if whole < len(pcm):
            self._rest = pcm.part(whole)
        return [pcm.part(at, at + size) for at in range(0, whole, size)]


def _hushed(frame: Pcm) -> Pcm:
    return _silence(len(frame), frame.rate_hz)


@lru_cache(maxsize=16)
def _silence(count: int, rate_hz: int) -> Pcm:
    return Pcm(np.zeros(count, dtype=np.float32), rate_hz)
