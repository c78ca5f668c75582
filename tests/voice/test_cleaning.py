"""What taking our own voice out of a microphone may not do: put it in."""

from __future__ import annotations

import numpy as np

from echo import Bar, level_of
from firstword.testing.room import EchoRoom
from sound import Pcm
from voice.cleaning import Cleaning

RATE_HZ = 16_000
FRAME = 320


def speech(seconds: float, level: float, seed: int) -> np.ndarray:
    """A buzz with syllables and breath: a pitch, and a swing four times a second."""
    at = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    phase = np.cumsum(2 * np.pi * (130 + 20 * np.sin(2 * np.pi * 0.7 * at + seed)) / RATE_HZ)
    wave = sum(np.sin(n * phase) / n for n in range(1, 8)) * (0.35 + 0.65 * np.abs(np.sin(2 * np.pi * 2 * at)))
    breath = np.random.default_rng(seed).normal(0, 0.02, len(at))
    return (wave / np.abs(wave).max() * level + breath).astype(np.float32)


def cleaned(near: np.ndarray, *, dropped_s: float) -> tuple[np.ndarray, np.ndarray, list[bool]]:
    """The last 0.6 s of 5 s of playback as cleaned and as the microphone read it, and which frames had a pitch.

    A candidate stands 0.6 s before the end; from there on the device drops `dropped_s` of what it is said to play.
    """
    played = speech(5, 0.6, seed=1)
    sounds = played.copy()
    stood = len(played) - round(0.6 * RATE_HZ)
    sounds[stood : stood + round(dropped_s * RATE_HZ)] = 0.0
    heard = EchoRoom(gain=0.5, delay_s=0.0, reverberation_s=0.0, noise=0.001).hear(
        sounds, np.concatenate([np.zeros(stood, dtype=np.float32), near])
    )
    cleaning, frames = Cleaning(Bar()), []
    for at in range(0, len(played), FRAME):
        if at == stood:
            cleaning.begin()
        cleaning.sounds(Pcm(played[at : at + FRAME], RATE_HZ), frame := Pcm(heard[at : at + FRAME], RATE_HZ))
        cleaning.take(frame)
        frames.append(frame)
    assert cleaning.ready
    out = cleaning.clean(frames[stood // FRAME :])
    return np.concatenate([one.frame.samples for one in out]), heard[stood:], [one.voiced for one in out]


def test_what_a_device_dropped_when_it_was_held_is_not_taken_out_of_what_it_never_was_in() -> None:
    quiet = np.zeros(round(0.6 * RATE_HZ), dtype=np.float32)
    rest, heard, voiced = cleaned(quiet, dropped_s=0.6)
    assert level_of(heard) < 0.02
    assert level_of(rest) < 0.02
    assert not any(voiced)


def test_a_persons_words_beside_ours_are_left_as_they_are() -> None:
    near = speech(0.6, 0.5, seed=5)
    rest, _, voiced = cleaned(near, dropped_s=0.0)
    # Beside their words a fifth (14 dB) of ours is left at most.
    assert np.std(rest - near) < 0.2 * 0.5 * np.std(speech(5, 0.6, seed=1))
    assert sum(voiced) > len(voiced) / 2
