"""Benchmarks: what is made of a handful of measurements."""

from __future__ import annotations

import pytest

from benchmarks.machine import head
from benchmarks.spread import spread


def test_no_measurement_is_no_figure() -> None:
    told = spread([])
    assert told.pop("n") == 0
    assert set(told.values()) == {None}


@pytest.mark.parametrize(
    ("values_ms", "p50", "p95"),
    [([5.0], 5.0, 5.0), ([1.0, 3.0], 2.0, 2.9), ([float(n) for n in range(101)], 50.0, 95.0)],
    ids=["one", "two", "a hundred and one"],
)
def test_medians_and_percentiles(values_ms: list[float], p50: float, p95: float) -> None:
    told = spread(values_ms)
    assert (told["n"], told["p50"], told["p95"]) == (len(values_ms), p50, p95)


def test_the_head_names_machine_versions_and_models() -> None:
    told = head(threads=2, models={"listen": "whisper-tiny.en"})
    assert told["machine"]["cores"] >= 1
    assert told["versions"]["firstword"]
    assert told["models"] == {"listen": "whisper-tiny.en"}
