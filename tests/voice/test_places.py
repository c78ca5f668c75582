"""Sessions at once."""

from __future__ import annotations

import pytest

from firstword.testing.clock import VirtualClock
from voice import TooMany
from voice.outbox import Outbox
from voice.places import STALE_S, Places


def test_l8_places_that_nobody_renews_age_out() -> None:
    clock = VirtualClock()
    places = Places(1_000, 1_000, clock)
    for _ in range(1_000):
        places.take("ada")
    with pytest.raises(TooMany):
        places.take("ada")
    clock.forward(STALE_S)
    assert places.taken == 0


def test_a_renewed_place_stays_and_a_left_one_is_free() -> None:
    clock = VirtualClock()
    places = Places(2, 1, clock)
    held = places.take("ada")
    clock.forward(STALE_S - 1)
    places.renew(held)
    clock.forward(STALE_S - 1)
    with pytest.raises(TooMany, match="do not retry"):
        places.take("ada")
    places.leave(held)
    places.leave(held)
    places.take("ada")


def test_l3_a_client_that_reads_nothing_loses_sound_and_is_given_up() -> None:
    outbox = Outbox()
    for _ in range(30_000):
        outbox.put({"type": "response.output_audio.delta", "delta": "x" * 1_280})
    assert outbox.dropped > 29_000
    assert not outbox.stuck
    for _ in range(5_000):
        outbox.put({"type": "response.output_audio_transcript.delta", "delta": "word"})
    assert outbox.stuck
