"""What `/metrics` tells an operator: how soon the first word is heard, and what went wrong on the way to it.

Counts and times only, in Prometheus' text form. The one rule: no person, no room and no word is ever in a label; the
labels are bots, providers and parts, of which a site has a handful.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.responses import Response

# Closer together where a person tells the difference: a pause of a fifth of a second is one, of two seconds a silence.
_FIRST_WORD_S = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
_PART_S = (0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0, 5.0)
# None is the rule; one is a click that most people let pass, and more are an answer that somebody could not follow.
_UNDERRUNS = (0, 1, 2, 3, 5, 10)
# A breaker leaves a provider alone for three minutes at least, so nothing is over sooner.
_REST_S = (200.0, 300.0, 450.0, 600.0, 900.0, 1800.0, 3600.0, 3 * 3600.0, 12 * 3600.0)
# The parts of a turn's wait, as its receipt names them.
PARTS = ("eot_wait", "words", "first_token", "first_sound")
# A name is what a file or a setting says; anything longer is nobody's name.
_LONGEST_LABEL = 64


class Metrics:
    """One server's figures. `now` gives what is counted by nobody: a gauge's name and what it says of each thing.

    `providers` are the names of those who think: a series that is there before anything went wrong can be watched.
    """

    def __init__(self, now: Callable[[], Mapping[str, Mapping[str, float]]], providers: Iterable[str] = ()) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._registry.register(_Now(now))
        self._first_word = self._histogram(
            "firstword_first_word_seconds",
            "End of speech to the first audible sample sent",
            ["bot", "provider", "speculated"],
            _FIRST_WORD_S,
        )
        self._part = self._histogram("firstword_turn_part_seconds", "The parts of a turn's wait", ["part"], _PART_S)
        self._answers = self._counter("firstword_answers", "Answers that were sounded", ["bot", "provider", "ending"])
        self._underruns = self._histogram(
            "firstword_answer_underruns", "Times an answer's sound ran dry on its way", ["bot"], _UNDERRUNS
        )
        self._fallen = self._counter("firstword_voices_fallen", "Conversations whose voice stopped working", ["bot"])
        self._wasted = self._counter("firstword_speculations_wasted", "Answers made for nothing", ["bot"])
        self._openings = self._counter("firstword_breaker_openings", "Times a provider failed too often", ["provider"])
        self._rests = self._histogram(
            "firstword_breaker_rest_seconds", "From there until it answered again", ["provider"], _REST_S
        )
        for name in providers:
            self._openings.labels(_label(name))
            self._rests.labels(_label(name))

    def observe(self, bot: str, trace: Mapping[str, Any]) -> None:
        """One answer's receipt."""
        bot, provider = _label(bot), _label(trace.get("provider"))
        if trace.get("first_word_ms") is not None:
            speculated = "yes" if trace.get("speculated") else "no"
            self._first_word.labels(bot, provider, speculated).observe(trace["first_word_ms"] / 1000)
        for part in PARTS:
            if trace.get(f"{part}_ms") is not None:
                self._part.labels(part).observe(trace[f"{part}_ms"] / 1000)
        self._answers.labels(bot, provider, "interrupted" if trace.get("interrupted") else "whole").inc()
        self._underruns.labels(bot).observe(trace.get("underruns") or 0)
        self._fallen.labels(bot).inc(trace.get("fallen") is not None)
        self._wasted.labels(bot).inc(trace.get("wasted") or 0)

    def breaker(self, provider: str, rested_s: float | None) -> None:
        """A provider failed too often and is left alone (None), or answers again after `rested_s`."""
        if rested_s is None:
            self._openings.labels(_label(provider)).inc()
        else:
            self._rests.labels(_label(provider)).observe(rested_s)

    def response(self) -> Response:
        """The page of figures."""
        return Response(generate_latest(self._registry), media_type="text/plain; version=0.0.4; charset=utf-8")

    def _histogram(self, name: str, told: str, labels: list[str], buckets: Sequence[float]) -> Histogram:
        return Histogram(name, told, labels, buckets=buckets, registry=self._registry)

    def _counter(self, name: str, told: str, labels: list[str]) -> Counter:
        return Counter(name, told, labels, registry=self._registry)


class _Now(Collector):
    """Gauges read at the moment somebody looks."""

    def __init__(self, now: Callable[[], Mapping[str, Mapping[str, float]]]) -> None:
        self._now = now

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """What is, by Prometheus' own name for asking."""
        for name, values in self._now().items():
            gauge = GaugeMetricFamily(f"firstword_{name}", f"{name.replace('_', ' ')} at this moment", labels=["of"])
            for of, value in values.items():
                gauge.add_metric([_label(of)], value)
            yield gauge


def _label(value: object) -> str:
    return str(value or "none")[:_LONGEST_LABEL]
