"""Runs the scenes of `firstword bench barge-in`: the real session, bar, turn and recogniser, on virtual time.

It gives back plain values and sums nothing up. The one rule: what is measured is what left the session and what the
loudspeaker did, never what the session says of itself.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from asr import Ear, Silero, WhisperRecogniser
from benchmarks.barge_in_scenes import ANSWERS, GREETING, Alone, Room, Sounding
from benchmarks.barge_in_speech import Prepared, from_onset
from echo import level_of
from firstword.testing.clock import run_virtually
from firstword.testing.device import Device
from firstword.testing.lanes import RememberingEngine, RememberingRecogniser, VirtualLane
from firstword.testing.room import EchoRoom
from firstword.testing.talks import FRAME_S, Talk, hears_with
from sound import Samples
from sound.noises import NOISES
from voice.answer import OUT_HZ
from voice.parts import CancellerPort

# What a recogniser call takes on two cores, in virtual time (tiny.en with a window of 8 s: 77 to 131 ms).
RECOGNISE_S = 0.13
# And what working out how to clean a candidate takes: 20 to 45 ms.
FIT_S = 0.045
# After the person has finished the server has this long to have understood.
_PATIENCE_S = 3.5
_FRAME = round(FRAME_S * OUT_HZ)
_BETWEEN_S = 1.5
# With nobody there, and once all is decided, nobody waits for a frame: two at a time take half the arithmetic. The bar
# judges 20 ms all the same, but learns the lag from every second level.
_ALONE_FRAME_S = 0.04

Canceller = Callable[[], CancellerPort]


@dataclass(slots=True)
class AloneResult:
    """What came of playback with nobody there. `pair_levels`: per answer, the loudest two adjacent frames."""

    gain: float
    delay_s: float
    minutes: float = 0.0
    self_interruptions: int = 0
    own_words_answered: int = 0
    holds: int = 0
    pair_levels: list[float] = field(default_factory=list)


@dataclass(slots=True)
class SoundingResult:
    """What came of a sound over an answer. Times in ms from its first sample (-30 dB of its loudest).

    `pair_levels` are seconds from that sample and levels, for fixed thresholds to look at.
    """

    setting: str
    kind: str
    text: str
    interrupted: bool = False
    early: bool = False
    silence_ms: float | None = None
    page_silence_ms: float | None = None
    holds: int = 0
    same_samples: bool | None = None
    heard: str = ""
    pair_levels: list[tuple[float, float]] = field(default_factory=list)


@dataclass(slots=True)
class World:
    """What every scene shares: speech that was made once, and the models."""

    made: Prepared
    recogniser: RememberingRecogniser
    careful: RememberingRecogniser
    silero: Silero


def world(prepared: Prepared, recogniser: WhisperRecogniser) -> World:
    """`prepared` with the models loaded."""
    return World(prepared, RememberingRecogniser(recogniser), RememberingRecogniser(recogniser.careful()), Silero())


def run(scene: Alone | Sounding, world: World, *, canceller: Canceller | None = None) -> AloneResult | SoundingResult:
    """One scene; `canceller` makes an echo canceller that hears the microphone first."""
    if isinstance(scene, Alone):
        return run_virtually(_alone(scene, world, canceller))
    return run_virtually(_sounding(scene, world, canceller))


def sound_of(scene: Sounding, world: World) -> Samples:
    """The person's or the thing's sound, at its level, from its first sample on."""
    if scene.text:
        return world.made.speech[scene.text, scene.voice, scene.take] * np.float32(scene.level)
    made = NOISES[scene.kind](np.random.default_rng(scene.room.seed), OUT_HZ)
    return from_onset(made.astype(np.float32)) * np.float32(scene.level)


async def _alone(scene: Alone, world: World, canceller: Canceller | None) -> AloneResult:
    result = AloneResult(scene.room.gain, scene.room.delay_s)
    engine = _engine(world)
    answers = [GREETING, *ANSWERS]
    talk = _talk(scene.room, world, answers, canceller, engine=engine, frame_s=_ALONE_FRAME_S)
    wanted = round(scene.minutes * 60 * OUT_HZ)
    try:
        while talk.device.played < wanted:
            engine.take = len(result.pair_levels) // len(answers) % world.made.takes
            talk.ask("Tell me more.")
            pairs = _Pairs()
            while talk.session.state.answer is not None or talk.device.waiting:
                pairs.take((await talk.frame()).samples)
            result.pair_levels.append(round(pairs.loudest, 4))
            await talk.run(_BETWEEN_S)
        result.minutes = talk.device.played / OUT_HZ / 60
        result.self_interruptions = _interrupted(talk)
        result.own_words_answered = len(_heard(talk))
        result.holds = _holds(talk)
    finally:
        await talk.close()
    return result


async def _sounding(scene: Sounding, world: World, canceller: Canceller | None) -> SoundingResult:
    result = SoundingResult(scene.room.setting, scene.kind, scene.text)
    answer = ANSWERS[scene.answer]
    talk = _talk(scene.room, world, [answer] if scene.first else [GREETING, answer], canceller, keeps=True)
    near = sound_of(scene, world)
    try:
        if not scene.first:
            talk.ask("Hello.")
            await talk.until_quiet()
            await talk.run(_BETWEEN_S)
        before, received = _interrupted(talk), talk.device.received
        talk.ask("Tell me more.")
        await talk.run(scene.at_s)
        result.early = _interrupted(talk) > before
        holds, onset = _holds(talk), talk.now
        if result.early or talk.session.state.answer is None:
            return result
        await _listen_to(talk, near, result, onset, before)
        result.interrupted = _interrupted(talk) > before
        result.holds = _holds(talk) - holds
        if result.interrupted:
            stopped = talk.of("output_audio_buffer.cleared")[before]["response_id"]
            result.silence_ms = max(0.0, (talk.sent_at[stopped] - onset) * 1000)
            result.heard = " ".join(_heard(talk))
        else:
            talk.frame_s = _ALONE_FRAME_S
            await talk.until_quiet()
            sent = np.frombuffer(bytes(talk.device.kept), dtype="<i2")[received:]
            result.same_samples = _digest(sent) == _digest(world.made.streams[answer])
    finally:
        await talk.close()
    result.pair_levels = _open_loop(scene, world, near)
    return result


async def _listen_to(talk: Talk, near: Samples, result: SoundingResult, onset: float, before: int) -> None:
    """The sound, and what comes after it until it is understood or the answer has gone on."""
    padded = np.concatenate([near, np.zeros(round(_PATIENCE_S * OUT_HZ) + -len(near) % _FRAME, dtype=np.float32)])
    for at in range(0, len(padded) // _FRAME * _FRAME, _FRAME):
        playing = talk.device.sounding
        await talk.frame(padded[at : at + _FRAME])
        if playing and not talk.device.sounding and _interrupted(talk) == before:
            result.page_silence_ms = (talk.now - FRAME_S - onset) * 1000
        if _interrupted(talk) > before:
            if result.page_silence_ms is None:
                result.page_silence_ms = (talk.now - FRAME_S - onset) * 1000
            if _heard(talk) and at > len(near):
                return


def _open_loop(scene: Sounding, world: World, near: Samples) -> list[tuple[float, float]]:
    """(seconds from the onset, level of two adjacent frames) with nothing held, for fixed thresholds to look at.

    Only the records are kept: a later pair that is no louder changes nothing for any threshold.
    """
    played: Samples = world.made.streams[ANSWERS[scene.answer]].astype(np.float32) / np.float32(32768)
    beside: Samples = np.zeros(len(played), dtype=np.float32)
    at = round(scene.at_s * OUT_HZ)
    beside[at : at + len(near)] = near[: len(beside) - at]
    heard = _echo_room(scene.room).hear(played, beside)
    frames = heard[: len(heard) // _FRAME * _FRAME].reshape(-1, _FRAME)
    levels = (frames.max(axis=1) - frames.min(axis=1)) / 2
    pairs = np.minimum(levels[1:], levels[:-1])
    records, loudest = [], 0.0
    for n, level in enumerate(pairs.tolist()):
        if level > loudest:
            loudest = level
            records.append((round((n + 2) * FRAME_S - scene.at_s, 3), round(level, 4)))
    return records


def _talk(
    room: Room,
    world: World,
    answers: list[str],
    canceller: Canceller | None,
    *,
    engine: RememberingEngine | None = None,
    keeps: bool = False,
    frame_s: float = FRAME_S,
) -> Talk:
    loop = asyncio.get_running_loop()
    lane = VirtualLane(job_s=RECOGNISE_S)
    ear = Ear(world.recogniser, lane, careful=world.careful, silero=world.silero, clock=loop.time)
    return Talk(
        Device(_echo_room(room), keeps=keeps),
        answers=answers,
        engine=engine or _engine(world),
        listener=hears_with(ear),
        lane=VirtualLane(),
        frame_s=frame_s,
        fit_s=FIT_S,
        canceller=canceller,
    )


def _engine(world: World) -> RememberingEngine:
    return RememberingEngine(None, sample_rate_hz=world.made.piece_hz, known=world.made.pieces)


def _echo_room(room: Room) -> EchoRoom:
    return EchoRoom(
        gain=room.gain,
        delay_s=room.delay_s,
        rate_hz=OUT_HZ,
        reverberation_s=room.reverberation_s,
        noise=room.noise,
        seed=room.seed,
    )


class _Pairs:
    """The loudest two adjacent frames."""

    def __init__(self) -> None:
        self._before = 0.0
        self.loudest = 0.0

    def take(self, samples: Samples) -> None:
        for at in range(0, len(samples), _FRAME):
            level = level_of(samples[at : at + _FRAME])
            self.loudest = max(self.loudest, min(level, self._before))
            self._before = level


def _interrupted(talk: Talk) -> int:
    return len(talk.of("output_audio_buffer.cleared"))


def _holds(talk: Talk) -> int:
    return sum(event["held"] for event in talk.of("firstword.hold"))


def _heard(talk: Talk) -> list[str]:
    """What was taken for a person's words."""
    return [event["transcript"] for event in talk.of("conversation.item.input_audio_transcription.completed")]


def _digest(samples: Samples) -> str:
    return hashlib.sha256(np.ascontiguousarray(samples).tobytes()).hexdigest()
