"""Spoken questions: what the benchmarks ask, some with a pause for thought inside.

Made with the local voice, so they are the same on every machine with the same weights. The one rule: a pause lies
between two words of one sentence spoken in one breath, so that the voice does not fall before it as it does at an end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sound import Pcm, Samples
from tts import Engine

# Room tone: a microphone is never digitally silent. RMS of full scale, -66 dB.
_TONE_RMS = 0.0005
_BEFORE_S, _AFTER_S = 0.4, 0.2
# A word's boundary is looked for this far around where the letters say that it is.
_AROUND_S = 0.2
_BLOCK_S = 0.01
_FADE_S = 0.005


@dataclass(frozen=True, slots=True)
class Question:
    """`text`, with a pause of `pause_ms` after its first `words` words; 0 for none."""

    text: str
    pause_ms: int = 0
    words: int = 0


QUESTIONS = (
    Question("What can you do for me?"),
    Question("How do I write a bot of my own?"),
    Question("Where do the bots live?"),
    Question("Can you hear me?", 300, 2),
    Question("Do I need an account or a key?"),
    Question("Does my voice go to the cloud?"),
    Question("I would like to know how fast you are.", 450, 6),
    Question("Which voice do you use?"),
    Question("What happens if I talk while you are talking?", 600, 4),
    Question("Is it free?"),
    Question("Tell me about the language model and the voice.", 700, 6),
    Question("How do you recognise speech?"),
    Question("What hardware do I need?"),
    Question("Could you tell me if I can use a better model?", 900, 5),
    Question("Who are you?"),
    Question("How do I start it and open the page?", 800, 6),
    Question("Which languages do you speak?"),
    Question("I want to change the voice of my bot.", 500, 3),
    Question("What is a bot?"),
    Question("When I use the graphics card, is it faster?", 350, 6),
)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A question as sound."""

    question: Question
    pcm: Pcm


def record(engine: Engine, questions: Sequence[Question] = QUESTIONS, *, seed: int = 1) -> list[Spoken]:
    """The questions, spoken by `engine`, each with 400 ms of room tone before it and 200 ms after."""
    tones = np.random.default_rng(seed)
    recordings = []
    for question in questions:
        rate_hz = engine.sample_rate_hz
        said = Pcm.join(list(engine.speak(question.text, language="en"))).samples
        parts = [np.zeros(round(_BEFORE_S * rate_hz), dtype=np.float32), said]
        if question.pause_ms:
            at = _boundary(said, rate_hz, _share(question))
            pause = np.zeros(round(question.pause_ms / 1000 * rate_hz), dtype=np.float32)
            parts[1:] = [_faded(said[:at], rate_hz), pause, _faded(said[at:][::-1], rate_hz)[::-1]]
        parts.append(np.zeros(round(_AFTER_S * rate_hz), dtype=np.float32))
        samples = np.concatenate(parts)
        samples = samples + tones.normal(0.0, _TONE_RMS, len(samples)).astype(np.float32)
        recordings.append(Spoken(question, Pcm(samples.astype(np.float32), rate_hz)))
    return recordings


def _share(question: Question) -> float:
    words = question.text.split()
    return len(" ".join(words[: question.words])) / len(question.text)


def _boundary(samples: Samples, rate_hz: int, share: float) -> int:
    """The quietest place around `share` of the sound."""
    block = round(_BLOCK_S * rate_hz)
    blocks = samples[: len(samples) // block * block].reshape(-1, block)
    power = np.square(blocks, dtype=np.float64).mean(axis=1)
    power = np.convolve(power, np.ones(3) / 3, mode="same")
    middle, around = round(len(power) * share), round(_AROUND_S / _BLOCK_S)
    first, last = max(1, middle - around), min(len(power) - 1, middle + around)
    return (first + int(np.argmin(power[first:last]))) * block + block // 2


def _faded(samples: Samples, rate_hz: int) -> Samples:
    """Its end faded out, so that the cut is no click."""
    faded, size = samples.copy(), round(_FADE_S * rate_hz)
    faded[-size:] *= np.linspace(1.0, 0.0, size, dtype=np.float32)
    return faded
