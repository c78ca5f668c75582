"""Is anybody speaking? Two detectors: WebRTC's, which costs nothing, opens the gate to Silero, which decides.

`Silero` holds the model and is shared by every session; `Activity` is one session's state, about a kilobyte. It knows
nothing of turns or words. The one rule: sound of any length goes in, and each sample is judged once.
"""

from __future__ import annotations

import importlib
import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from asr.foreground import Foreground
from asr.onnx import open_onnx
from sound import Samples

RATE_HZ = 16_000
# Silero's window at 16 kHz, and the stretch before it that the model wants to see as well.
WINDOW = 512
_CONTEXT = 64
_STATE = (1, 1, 128)
# Speech begins over the first and ends under the second (Silero's own pair); the gap keeps a voice from flickering.
_BEGIN = 0.5
_END = 0.35
# Speech begins when two of three windows say so: one window alone is a click.
_CONFIRM = 2
_WITHIN = 3
# WebRTC's detector takes 10, 20 or 30 ms; 30 of each 32 ms window are shown to it. 1 of 0 to 3: it must miss nobody.
_GATE_SAMPLES = 480
_GATE_MODE = 1
# The gate stays open this many windows (0.5 s) after the last one it let through, so that quiet endings are judged.
_GATE_STAYS = 16
# Below this mean square (RMS 0.001, -60 dBFS) there is no voice to find.
_SILENT_POWER = 1e-6
# The detector notices an end 36 ms late in a quiet room and 73 ms late among bare walls (medians of 40 lines). A window
# this far under the loudest is silence whatever it says: 2 and 52 ms. At 30 dB every plosive is a gap.
_DROP_DB = 35.0
# The loudest is forgotten at 6 dB a second, so that a door that slams does not silence who speaks after it.
_FORGET_DB = 0.2
_SILENT_DB = -100.0
# Windows shown to Silero when the gate opens, so that it does not meet a voice unprepared.
_REPLAY = 4


@dataclass(frozen=True, slots=True)
class Tick:
    """One window judged. `start` and `stop` are samples at 16 kHz since the microphone was opened.

    `speech` is the decision; `onset` is where that stretch of speech began; `maybe` means that the next window may
    still turn this one into speech.
    """

    start: int
    stop: int
    probability: float
    speech: bool
    maybe: bool
    onset: int


class Silero:
    """The Silero voice detector (MIT) as faster-whisper ships it. One for the whole process; thread-safe."""

    def __init__(self, path: Path | None = None) -> None:
        self._session = open_onnx(path or _shipped(), threads=1)

    def judge(self, window: Samples, h: Samples, c: Samples) -> tuple[float, Samples, Samples]:
        """The probability of a voice in `window` (64 samples of context, then 512), and the state that follows."""
        said, h, c = self._session.run(None, {"input": window[None], "h": h, "c": c})
        return float(said.flat[0]), h, c


class Activity:
    """Speech activity of one stream of mono sound at 16 kHz.

    `foreground` leaves out people behind the one at the microphone: for a conversation, not for a recording, nor for
    somebody who holds a key while speaking.
    """

    def __init__(self, silero: Silero, *, foreground: bool = False) -> None:
        webrtcvad: Any = importlib.import_module("webrtcvad")

        self._silero = silero
        self.foreground = foreground
        self._background = Foreground(likely=_END)
        self._loudest_db = _SILENT_DB
        self._gate = webrtcvad.Vad(_GATE_MODE)
        self._rest = np.zeros(0, dtype=np.float32)
        self._at = 0
        self._stays = 0
        self._unseen: deque[Samples] = deque(maxlen=_REPLAY)
        self._context = np.zeros(_CONTEXT, dtype=np.float32)
        self._h = np.zeros(_STATE, dtype=np.float32)
        self._c = np.zeros(_STATE, dtype=np.float32)
        self._recent: deque[tuple[int, bool]] = deque(maxlen=_WITHIN)
        self._speaking = False
        self._onset = 0

    @property
    def crowded(self) -> bool:
        """Whether people speak behind the one at the microphone, whose soft sounds are then lost among them."""
        return self.foreground and self._background.crowded

    def push(self, samples: Samples) -> Iterator[Tick]:
        """A tick for every window that is now whole; the tail waits for the next call."""
        held = np.concatenate([self._rest, samples]) if len(self._rest) else samples
        whole = len(held) - len(held) % WINDOW
        self._rest = held[whole:].copy()
        for at in range(0, whole, WINDOW):
            yield self._judge(held[at : at + WINDOW])

    def skip(self, count: int) -> None:
        """Count `count` samples that were lost before they came here; what was half a window goes with them."""
        self._at += count + len(self._rest)
        self._rest = self._rest[:0]

    def _judge(self, window: Samples) -> Tick:
        start, stop = self._at, self._at + WINDOW
        self._at = stop
        probability = self._probability(window)
        if not self._background.hears(window, probability) and self.foreground:
            probability = 0.0
        loud = self._is_loud(window)
        if self._speaking:
            self._speaking = loud and probability >= _END
            if not self._speaking:
                self._recent.clear()
        else:
            self._recent.append((start, loud and probability >= _BEGIN))
            voiced = [at for at, voice in self._recent if voice]
            if len(voiced) >= _CONFIRM:
                self._speaking = True
                self._onset = voiced[0]
        maybe = not self._speaking and bool(self._recent) and self._recent[-1][1]
        return Tick(start, stop, probability, self._speaking, maybe, self._onset)

    def _is_loud(self, window: Samples) -> bool:
        """Whether `window` is loud enough, after what was heard before it, to hold speech."""
        level_db = 10 * math.log10(max(1e-10, float(np.dot(window, window)) / WINDOW))
        self._loudest_db = max(level_db, self._loudest_db - _FORGET_DB)
        return level_db > self._loudest_db - _DROP_DB

    def _probability(self, window: Samples) -> float:
        if self._sounds(window):
            if not self._stays:
                self._forget()
                for earlier in self._unseen:
                    self._ask(earlier)
                self._unseen.clear()
            self._stays = _GATE_STAYS
        elif self._stays:
            self._stays -= 1
        if self._stays:
            return self._ask(window)
        self._unseen.append(window.copy())
        return 0.0

    def _sounds(self, window: Samples) -> bool:
        if float(np.dot(window, window)) < _SILENT_POWER * WINDOW:
            return False
        pcm = (np.clip(window[:_GATE_SAMPLES], -1.0, 1.0) * 32767).astype("<i2").tobytes()
        return bool(self._gate.is_speech(pcm, RATE_HZ))

    def _ask(self, window: Samples) -> float:
        joined = np.concatenate([self._context, window])
        self._context = window[-_CONTEXT:].copy()
        probability, self._h, self._c = self._silero.judge(joined, self._h, self._c)
        return probability

    def _forget(self) -> None:
        self._context = np.zeros(_CONTEXT, dtype=np.float32)
        self._h = np.zeros(_STATE, dtype=np.float32)
        self._c = np.zeros(_STATE, dtype=np.float32)


def _shipped() -> Path:
    import faster_whisper

    folder = Path(faster_whisper.__file__).parent / "assets"
    found = sorted(folder.glob("silero_vad*.onnx"))
    # An absent file is refused by whoever opens it, with its name.
    return found[-1] if found else folder / "silero_vad.onnx"
