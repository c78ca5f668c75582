"""`firstword bench barge-in`: does it stop when somebody speaks, and only then?

A person made of recordings, a room made of numbers, and everything between them real: the session, the bar, the turn,
the cut, the recogniser. Time is virtual, so that a thousand minutes take minutes. The one rule: every figure is counted
from what was sent and what was played, and a fixed threshold is measured on the same sound beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.barge_in_pool import Result, Task, has_webrtc, run_all
from benchmarks.barge_in_runs import AloneResult, SoundingResult
from benchmarks.barge_in_scenes import BACKCHANNELS, INTERRUPTIONS, TAKES, Alone, Sounding, alone, interruptions, noises
from benchmarks.barge_in_speech import speak
from benchmarks.machine import head
from benchmarks.spread import spread
from firstword.settings import Settings

# Minutes with nobody there, interruptions, and sounds that are none; a tenth of each with `--quick`.
MINUTES, PEOPLE, SOUNDS = 1_000.0, 500, 500
# What a fixed threshold might be set to: from just over a headset's breath to half of full scale.
THRESHOLDS = (0.03, 0.06, 0.12, 0.25, 0.5)
# One scene in so many is run again with WebRTC's echo canceller before everything else: a prime, or it would be the
# same kind of sound each time.
_BESIDE = 11


def measure(settings: Settings, *, quick: bool, jobs: int, told: Callable[[str], None]) -> dict[str, Any]:
    """Run every scene on `jobs` processes; gives the result object. `told` hears how far it is."""
    part = 10 if quick else 1
    began = time.monotonic()
    scenes: list[Alone | Sounding] = [
        *alone(MINUTES / part),
        *interruptions(PEOPLE // part),
        *noises(SOUNDS // part),
    ]
    beside = scenes[::_BESIDE] if has_webrtc() else []
    tasks = [*(Task(scene) for scene in scenes), *(Task(scene, webrtc=True) for scene in beside)]
    done: list[Result] = []
    told("speaking what will be said")
    texts = (*INTERRUPTIONS, *BACKCHANNELS)
    for result in run_all(settings, tasks, lambda: speak(settings, texts, takes=TAKES), jobs=jobs):
        done.append(result)
        if len(done) % max(1, len(tasks) // 20) == 0:
            told(f"{len(done)} of {len(tasks)} scenes, {time.monotonic() - began:.0f} s")
    ours, theirs = done[: len(scenes)], done[len(scenes) :]
    return {
        "bench": "barge-in",
        **head(threads=1, models={"listen": settings.listen_model, "voice": settings.voice_model}),
        "jobs": jobs,
        "clock": "virtual",
        **summary(ours),
        "failed": failed(scenes, ours),
        "cancellers": {"ours": _shares(ours[::_BESIDE]), "webrtc": _shares(theirs)} if theirs else None,
    }


def summary(done: Sequence[Result]) -> dict[str, Any]:
    """What came of it all. Pure."""
    lonely = [one for one in done if isinstance(one, AloneResult)]
    sounds = [one for one in done if isinstance(one, SoundingResult)]
    people = [one for one in sounds if one.kind == "person"]
    others = [one for one in sounds if one.kind != "person"]
    return {
        "nobody": _nobody(lonely),
        "interruptions": {
            **_people(people),
            "by_setting": {name: _people(group) for name, group in _grouped(people, "setting").items()},
        },
        "noises": {
            **_others(others),
            "by_kind": {name: _others(group) for name, group in _grouped(others, "kind").items()},
        },
        "fixed": [_fixed(threshold, lonely, people, others) for threshold in THRESHOLDS],
    }


def failed(scenes: Sequence[Alone | Sounding], done: Sequence[Result]) -> list[dict[str, Any]]:
    """The sounds that were taken for what they are not, so that each can be run again by itself. Pure."""
    return [
        {
            "setting": one.setting,
            "kind": one.kind,
            "text": one.text,
            "level": round(scene.level, 3),
            "gain": round(scene.room.gain, 3),
            "delay_s": scene.room.delay_s,
            "reverberation_s": scene.room.reverberation_s,
            "first": scene.first,
            "voice": scene.voice,
            "take": scene.take,
            "seed": scene.room.seed,
            "early": one.early,
            "holds": one.holds,
            "heard": one.heard,
        }
        for scene, one in zip(scenes, done, strict=True)
        if isinstance(scene, Sounding)
        and isinstance(one, SoundingResult)
        and (one.early or one.interrupted != (one.kind == "person"))
    ]


def _shares(done: Sequence[Result]) -> dict[str, Any]:
    """The same scenes with one canceller: what it found, and what it lost."""
    whole = summary(done)
    return {
        "nobody": {name: whole["nobody"][name] for name in ("minutes", "self_interruptions", "holds")},
        "interruptions": {name: whole["interruptions"][name] for name in ("n", "found", "silence_ms", "words_heard")},
        "noises": {name: whole["noises"][name] for name in ("n", "held", "answers_lost")},
    }


def _nobody(lonely: Sequence[AloneResult]) -> dict[str, Any]:
    return {
        "minutes": round(sum(one.minutes for one in lonely), 1),
        "answers": sum(len(one.pair_levels) for one in lonely),
        "self_interruptions": sum(one.self_interruptions for one in lonely),
        "own_words_answered": sum(one.own_words_answered for one in lonely),
        "holds": sum(one.holds for one in lonely),
        "worst": [
            {"gain": one.gain, "delay_s": one.delay_s, "holds": one.holds, "self_interruptions": one.self_interruptions}
            for one in sorted(lonely, key=lambda one: (one.self_interruptions, one.holds), reverse=True)[:3]
            if one.holds
        ],
    }


def _people(people: Sequence[SoundingResult]) -> dict[str, Any]:
    found = [one for one in people if one.interrupted]
    return {
        "n": len(people),
        "found": _share(len(found), len(people)),
        "early": sum(one.early for one in people),
        "silence_ms": spread([one.silence_ms for one in found if one.silence_ms is not None]),
        "page_silence_ms": spread([one.page_silence_ms for one in found if one.page_silence_ms is not None]),
        "onset_heard": _share(sum(onset_heard(one.text, one.heard) for one in found), len(found)),
        "words_heard": _share(sum(words_heard(one.text, one.heard) for one in found), len(found)),
    }


def _others(others: Sequence[SoundingResult]) -> dict[str, Any]:
    held = [one for one in others if one.holds and not one.interrupted]
    lost = sum(one.interrupted or one.early for one in others)
    return {
        "n": len(others),
        "held": len(held),
        "answers_lost": _share(lost, len(others)),
        "resumed_at_same_sample": _share(sum(bool(one.same_samples) for one in held), len(held)),
    }


def _fixed(
    threshold: float,
    lonely: Sequence[AloneResult],
    people: Sequence[SoundingResult],
    others: Sequence[SoundingResult],
) -> dict[str, Any]:
    """A level of two frames over a fixed threshold interrupts, whatever it is: on the same sound."""
    times = [crossing(one.pair_levels, threshold) for one in people]
    found = [at for at in times if at is not None and at >= 0]
    minutes = sum(one.minutes for one in lonely)
    own = sum(level > threshold for one in lonely for level in one.pair_levels)
    return {
        "threshold": threshold,
        "self_interruptions": own,
        "self_interruptions_per_minute": round(own / minutes, 3) if minutes else None,
        "found": _share(len(found), len(people)),
        "early": sum(at is not None and at < 0 for at in times),
        "silence_ms": spread([at * 1000 for at in found]),
        "answers_lost": _share(sum(crossing(one.pair_levels, threshold) is not None for one in others), len(others)),
    }


def crossing(pair_levels: Sequence[tuple[float, float]], threshold: float) -> float | None:
    """When two frames were first over `threshold`, in seconds from the sound's first sample; None where never."""
    return next((at for at, level in pair_levels if level > threshold), None)


def onset_heard(text: str, heard: str) -> bool:
    """Whether what was said began to be heard at its first word."""
    said, got = _words(text), _words(heard)
    return bool(got) and said[0] in got[:2]


def words_heard(text: str, heard: str) -> float:
    """The share of the words said that were heard."""
    said, got = _words(text), _words(heard)
    return sum(word in got for word in said) / len(said)


def _words(text: str) -> list[str]:
    return ["".join(c for c in word if c.isalnum()) for word in text.casefold().split()]


def _grouped(results: Sequence[SoundingResult], by: str) -> dict[str, list[SoundingResult]]:
    groups: dict[str, list[SoundingResult]] = {}
    for one in results:
        groups.setdefault(getattr(one, by), []).append(one)
    return dict(sorted(groups.items()))


def _share(part: float, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def table(result: dict[str, Any]) -> str:
    """The result as a table for a terminal."""
    nobody, people, others = result["nobody"], result["interruptions"], result["noises"]
    lines = [
        f"nobody there, {nobody['minutes']:.0f} min of playback: {nobody['self_interruptions']} self-interruptions, "
        f"{nobody['own_words_answered']} of its own words answered, {nobody['holds']} holds",
        f"{people['n']} interruptions:",
        f"  {'':12}{'n':>5}{'found':>8}{'p50 ms':>8}{'p95 ms':>8}{'onset':>8}{'words':>8}",
    ]
    for name, group in [("all", people), *people["by_setting"].items()]:
        silence = group["silence_ms"]
        lines.append(
            f"  {name:12}{group['n']:>5}{_shown(group['found']):>8}{_shown(silence['p50']):>8}"
            f"{_shown(silence['p95']):>8}{_shown(group['onset_heard']):>8}{_shown(group['words_heard']):>8}"
        )
    lines += [f"{others['n']} sounds that are none:", f"  {'':12}{'n':>5}{'held':>8}{'lost':>8}{'resumed':>9}"]
    for name, group in [("all", others), *others["by_kind"].items()]:
        lines.append(
            f"  {name:12}{group['n']:>5}{group['held']:>8}{_shown(group['answers_lost']):>8}"
            f"{_shown(group['resumed_at_same_sample']):>9}"
        )
    lines += ["a fixed threshold on the same sound:", f"  {'':12}{'self':>8}{'found':>8}{'p95 ms':>8}{'lost':>8}"]
    lines += [
        f"  {row['threshold']:<12}{row['self_interruptions']:>8}{_shown(row['found']):>8}"
        f"{_shown(row['silence_ms']['p95']):>8}{_shown(row['answers_lost']):>8}"
        for row in result["fixed"]
    ]
    for name, one in (result.get("cancellers") or {}).items():
        lines.append(
            f"one scene in {_BESIDE}, {name}: {one['nobody']['self_interruptions']} self-interruptions in "
            f"{one['nobody']['minutes']:.0f} min, {_shown(one['interruptions']['found'])} of "
            f"{one['interruptions']['n']} found, {_shown(one['noises']['answers_lost'])} of {one['noises']['n']} lost"
        )
    return "\n".join(lines)


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"
