"""What the person of a listening benchmark says: lines with their pauses, spoken by the local voice.

It measures nothing. The one rule: where speech ends is known from the dry sound, to the sample, whatever room is put
around it afterwards.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

import numpy as np

from sound import AUDIBLE, Pcm, Samples, resample

RATE_HZ = 16_000
# Silence before the first word: longer than any pre-roll.
LEAD_S = 0.6
# Sound after the last word: longer than the longest wait.
TAIL_S = 3.0

Name = Literal["exam", "practice"]
Speak = Callable[[str], Pcm]


@dataclass(frozen=True, slots=True)
class Utterance:
    """`samples` at 16 kHz, of which speech ends at `end`; `pauses_ms` are those inside it."""

    text: str
    samples: Samples
    end: int
    pauses_ms: tuple[int, ...]

    def heard_as(self, samples: Samples) -> Utterance:
        """The same words at the same places, in another room."""
        return Utterance(self.text, samples, self.end, self.pauses_ms)


def lines(name: Name) -> list[str]:
    """The forty lines of a set."""
    data = tomllib.loads(files("benchmarks").joinpath("utterances.toml").read_text(encoding="utf-8"))
    return list(data[name])


def parts_of(line: str) -> tuple[list[str], list[int]]:
    """The pieces of a line, and the pauses between them in milliseconds."""
    pieces = re.split(r"\s*\|(\d+)\|\s*", line)
    return pieces[0::2], [int(pause) for pause in pieces[1::2]]


def spoken(line: str, speak: Speak) -> Utterance:
    """A line as sound, with silence before and after it."""
    texts, pauses_ms = parts_of(line)
    stretches = [np.zeros(round(LEAD_S * RATE_HZ), dtype=np.float32)]
    for number, text in enumerate(texts):
        if number:
            stretches.append(np.zeros(round(pauses_ms[number - 1] / 1000 * RATE_HZ), dtype=np.float32))
        stretches.append(_audible(resample(speak(text), RATE_HZ).samples))
    end = sum(len(stretch) for stretch in stretches)
    stretches.append(np.zeros(round(TAIL_S * RATE_HZ), dtype=np.float32))
    return Utterance(" ".join(texts), np.concatenate(stretches), end, tuple(pauses_ms))


def _audible(samples: Samples) -> Samples:
    """`samples` from the first that is heard to the last."""
    heard = np.flatnonzero(np.abs(samples) > AUDIBLE)
    return samples[heard[0] : heard[-1] + 1] if len(heard) else samples
