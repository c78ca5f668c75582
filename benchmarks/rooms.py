"""Where a person speaks: in a quiet room, among other people, in a small room with bare walls.

It adds to a recording what a microphone would hear there; nothing is recorded, all is made from spoken sentences and a
generated impulse response. The one rule: the speech itself keeps its place, to the sample.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sound import AUDIBLE, Samples

# Babble: this many people at once; with fewer single words are understood.
TALKERS = 6
BABBLE_SNR_DB = 15.0
# A furnished room of some 30 m³: a third of a second until 60 dB down, the direct sound 6 dB over all that follows.
_REVERBERATION_S = 0.35
_DIRECT_DB = 6.0
# The first reflection in such a room comes from the table or the nearest wall.
_FIRST_REFLECTION_S = 0.004


def babble(talkers: Sequence[Samples], count: int, *, seed: int) -> Samples:
    """`count` samples of people talking over one another, at RMS 1: each says all of `talkers`, from another place."""
    chooser = np.random.default_rng(seed)
    joined = np.concatenate(list(talkers))
    together = np.zeros(count, dtype=np.float64)
    for _ in range(TALKERS):
        together += np.resize(np.roll(joined, int(chooser.integers(len(joined)))), count)
    noise: Samples = (together / (np.sqrt(np.mean(np.square(together))) or 1.0)).astype(np.float32)
    return noise


def among_people(speech: Samples, noise: Samples, *, snr_db: float = BABBLE_SNR_DB) -> Samples:
    """`speech` with `noise` (RMS 1, at least as long) `snr_db` under the level of its audible samples."""
    loud = speech[np.abs(speech) > AUDIBLE]
    level = float(np.sqrt(np.mean(np.square(loud, dtype=np.float64)))) if len(loud) else 0.0
    heard: Samples = (speech + noise[: len(speech)] * np.float32(level * 10 ** (-snr_db / 20))).astype(np.float32)
    return heard


def impulse_response(rate_hz: int, *, seed: int = 1) -> Samples:
    """A small room: the direct sound at sample 0, then noise that dies away."""
    count = round(_REVERBERATION_S * rate_hz)
    at_s = np.arange(count) / rate_hz
    tail = np.random.default_rng(seed).standard_normal(count) * 10 ** (-3 * at_s / _REVERBERATION_S)
    tail[: round(_FIRST_REFLECTION_S * rate_hz)] = 0.0
    tail *= 10 ** (-_DIRECT_DB / 20) / np.sqrt(np.sum(np.square(tail)))
    tail[0] = 1.0
    response: Samples = tail.astype(np.float32)
    return response


def in_a_room(speech: Samples, response: Samples) -> Samples:
    """`speech` with the room's answer, as long as it was and no louder at its peak."""
    size = len(speech) + len(response)
    spectrum = np.fft.rfft(speech, size) * np.fft.rfft(response, size)
    heard = np.fft.irfft(spectrum, size)[: len(speech)]
    peak = np.abs(heard).max(initial=0.0)
    scaled: Samples = (heard * (np.abs(speech).max(initial=0.0) / peak if peak else 1.0)).astype(np.float32)
    return scaled
