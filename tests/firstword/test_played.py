"""What a person made of files has heard by when."""

from __future__ import annotations

import numpy as np

from firstword.played import Played
from sound import Pcm

RATE_HZ = 1_000


def ramp(seconds: float) -> Pcm:
    return Pcm(np.arange(round(seconds * RATE_HZ), dtype=np.float32) / 1e6, RATE_HZ)


def test_it_hears_all_that_came() -> None:
    played = Played(RATE_HZ)
    played.push(ramp(0.3), 10.0)
    played.push(ramp(0.2), 10.1)
    assert len(played.heard) == 500


def test_what_is_cleared_was_not_heard() -> None:
    played = Played(RATE_HZ)
    played.push(ramp(1.0), 10.0)
    played.clear(10.25)
    assert np.array_equal(played.heard.samples, ramp(0.25).samples)


def test_a_hold_pauses_and_a_resume_goes_on_at_the_same_sample() -> None:
    played = Played(RATE_HZ)
    played.push(ramp(1.0), 10.0)
    played.hold(10.2)
    played.resume(15.0)
    played.clear(15.1)
    assert np.array_equal(played.heard.samples, ramp(0.3).samples)


def test_a_dry_spell_plays_nothing_in_advance() -> None:
    played = Played(RATE_HZ)
    played.push(ramp(0.1), 10.0)
    played.push(ramp(1.0), 20.0)
    played.clear(20.5)
    assert len(played.heard) == 600
