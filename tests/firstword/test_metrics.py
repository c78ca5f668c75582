"""What an operator reads at `/metrics`: histograms that can be read, labels that name nobody."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from firstword.metrics import Metrics

TRACE = {
    "response_id": "resp_1",
    "first_word_ms": 431.0,
    "eot_wait_ms": 244.0,
    "words_ms": 131.0,
    "first_token_ms": None,
    "first_sound_ms": 63.0,
    "speculated": True,
    "interrupted": False,
    "provider": "local",
    "model": "smollm2-135m",
    "run": "run-canary",
    "underruns": 2,
    "wasted": 1,
    "fallen": "the speech endpoint voice.example answered 502",
}


def told(metrics: Metrics) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    text = bytes(metrics.response().body).decode()
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_a_receipt_is_counted_in_its_buckets_and_what_never_came_is_not() -> None:
    metrics = Metrics(lambda: {"breaker_open": {"openai": 1.0, "local": 0.0}})
    metrics.observe("guide", TRACE)
    metrics.observe("guide", {"provider": "", "interrupted": True})
    found = told(metrics)
    first = (("bot", "guide"), ("provider", "local"), ("speculated", "yes"))
    assert found["firstword_first_word_seconds_count"][first] == 1
    assert found["firstword_first_word_seconds_sum"][first] == pytest.approx(0.431)
    assert found["firstword_first_word_seconds_bucket"][(first[0], ("le", "0.5"), *first[1:])] == 1
    assert found["firstword_first_word_seconds_bucket"][(first[0], ("le", "0.4"), *first[1:])] == 0
    assert found["firstword_turn_part_seconds_count"] == {
        (("part", part),): 1 for part in ("eot_wait", "words", "first_sound")
    }
    answers = found["firstword_answers_total"]
    assert answers[(("bot", "guide"), ("ending", "whole"), ("provider", "local"))] == 1
    assert answers[(("bot", "guide"), ("ending", "interrupted"), ("provider", "none"))] == 1
    dry = found["firstword_answer_underruns_bucket"]
    assert [dry[(("bot", "guide"), ("le", most))] for most in ("0.0", "1.0", "2.0", "3.0")] == [1, 1, 2, 2]
    assert found["firstword_answer_underruns_sum"] == {(("bot", "guide"),): 2}
    assert found["firstword_speculations_wasted_total"] == {(("bot", "guide"),): 1}
    assert found["firstword_voices_fallen_total"] == {(("bot", "guide"),): 1}
    assert found["firstword_breaker_open"] == {(("of", "openai"),): 1, (("of", "local"),): 0}
    assert "process_resident_memory_bytes" in found


def test_a_breaker_is_counted_when_it_opens_and_measured_when_its_provider_answers_again() -> None:
    metrics = Metrics(dict, ["openai", "local"])
    openai, local = (("provider", "openai"),), (("provider", "local"),)
    assert told(metrics)["firstword_breaker_openings_total"] == {openai: 0, local: 0}
    metrics.breaker("openai", None)
    assert told(metrics)["firstword_breaker_rest_seconds_count"] == {openai: 0, local: 0}
    metrics.breaker("openai", 185.0)
    found = told(metrics)
    assert found["firstword_breaker_openings_total"] == {openai: 1, local: 0}
    assert found["firstword_breaker_rest_seconds_sum"] == {openai: 185.0, local: 0}
    assert found["firstword_breaker_rest_seconds_bucket"][(("le", "200.0"), *openai)] == 1


def test_nothing_of_a_person_or_a_run_is_told() -> None:
    metrics = Metrics(dict)
    metrics.observe("guide", TRACE | {"subject": "canary-ada", "said": "canary words"})
    text = bytes(metrics.response().body).decode()
    assert "canary" not in text
    assert "resp_1" not in text
