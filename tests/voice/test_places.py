"""Sessions at once."""

from __future__ import annotations

import contextlib
import copy

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

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


def test_a_person_who_has_talked_for_their_day_is_told_when_to_come_back() -> None:
    clock = VirtualClock()
    places = Places(9, 9, clock, day_s=1_800.0)
    for _ in range(3):
        held = places.take("ada")
        for _ in range(20):
            clock.forward(30.0)
            spent = places.renew(held)
        places.leave(held)
    assert spent is not None
    assert len(spent.encode()) <= 123
    assert places.talked_s("ada") == pytest.approx(1_800.0)
    with pytest.raises(TooMany, match=r"your 30 minutes .* come back in 25 hour.* do not retry") as refused:
        places.take("ada")
    assert refused.value.again_s is None
    places.leave(places.take("bo"))
    clock.forward(25 * 3_600.0)
    assert places.talked_s("ada") == 0
    places.take("ada")


def test_what_died_without_a_word_was_held_until_it_fell_silent() -> None:
    clock = VirtualClock()
    places = Places(9, 9, clock, day_s=1_800.0)
    held = places.take("ada")
    clock.forward(50.0)
    places.renew(held)
    clock.forward(10_000.0)
    assert places.taken == 0
    assert places.talked_s("ada") == pytest.approx(50.0)


def test_l10_a_thousand_beginnings_that_fail_leave_nothing_and_cost_nothing() -> None:
    clock = VirtualClock()
    places = Places(2, 1, clock, day_s=60.0)
    for _ in range(1_000):
        places.leave(places.take("ada"))
    assert (places.taken, places.talked_s("ada")) == (0, 0)


def test_only_a_full_house_is_worth_another_try() -> None:
    places = Places(1, 1, VirtualClock())
    places.take("ada")
    with pytest.raises(TooMany, match="try again") as full:
        places.take("bo")
    assert full.value.again_s == 30.0
    with pytest.raises(TooMany, match="do not retry") as mine:
        places.take("ada")
    assert mine.value.again_s is None


class Holding(RuleBasedStateMachine):
    """Takes, renews, leaves and deaths in any order: no more places than there are, and no time made up or lost."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = VirtualClock()
        self.places = Places(3, 2, self.clock, day_s=600.0)
        self.held: dict[int, str] = {}
        self.passed = 0.0

    @rule(subject=st.sampled_from(["ada", "bo"]))
    def take(self, subject: str) -> None:
        with contextlib.suppress(TooMany):
            self.held[self.places.take(subject)] = subject

    @rule(seconds=st.sampled_from([1.0, 30.0, 59.0, 61.0, 3_600.0, 90_000.0]))
    def wait(self, seconds: float) -> None:
        self.clock.forward(seconds)
        self.passed += seconds

    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        self.places.renew(data.draw(st.sampled_from(sorted(self.held) or [99])))

    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.held) or [99]))
        self.places.leave(name)
        self.held.pop(name, None)

    @invariant()
    def nothing_is_made_up(self) -> None:
        assert self.places.taken <= min(3, len(self.held))
        for subject in ("ada", "bo"):
            assert 0 <= self.places.talked_s(subject) <= 2 * self.passed

    @invariant()
    def everything_ages_out(self) -> None:
        far = VirtualClock()
        far.forward(self.clock() + 100_000.0)
        kept = copy.deepcopy(self.places)
        kept._clock = far
        assert (kept.taken, kept.talked_s("ada"), kept.talked_s("bo")) == (0, 0, 0)


TestHolding = Holding.TestCase


def test_l3_a_client_that_reads_nothing_loses_sound_and_is_given_up() -> None:
    outbox = Outbox()
    for _ in range(30_000):
        outbox.put({"type": "response.output_audio.delta", "delta": "x" * 1_280})
    assert outbox.dropped > 29_000
    assert not outbox.stuck
    for _ in range(5_000):
        outbox.put({"type": "response.output_audio_transcript.delta", "delta": "word"})
    assert outbox.stuck
