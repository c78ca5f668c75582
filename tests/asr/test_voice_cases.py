"""Cases from the field and others of their kinds: starts, ends, words nobody said, any sound, long streams."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from asr_kit import RATE_HZ, Fed, Scripted, listening, never, noise, quiet

from asr import (
    Ear,
    Listener,
    ListenSettings,
    Silero,
    SpeechEnded,
    SpeechStarted,
    Transcript,
    WhisperRecogniser,
    Words,
)
from asr.ear import Stretch
from asr.guards import believable
from firstword.settings import Settings
from models import Lanes
from sound import FrameReader, Pcm, Samples, resample

Say = Callable[[str], Samples]
pytestmark = pytest.mark.models
QUESTION = "What is the capital of France?"


def _tone(hz: float, seconds: float, level: float = 0.3) -> Samples:
    at_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return (level * np.sin(2 * np.pi * hz * at_s)).astype(np.float32)


def _chirp(seconds: float) -> Samples:
    at_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return (0.3 * np.sin(2 * np.pi * (500 + 1_000 * at_s) * at_s)).astype(np.float32)


def _clicks(seconds: float, every: int) -> Samples:
    sound = quiet(seconds)
    sound[::every] = 0.9
    return sound


NOBODY = [
    pytest.param(quiet(3.0), id="W1-zeros"),
    pytest.param(noise(3.0, 0.002), id="W1-noise"),
    pytest.param(noise(3.0, 0.02), id="W1-louder noise"),
    pytest.param(noise(3.0, 0.2), id="W1-a storm"),
    pytest.param(quiet(1.0), id="V10-dead start"),
    pytest.param(np.concatenate([_tone(880, 0.2), quiet(1.0)]), id="E11-beep"),
    pytest.param(np.concatenate([_tone(440, 0.15), _tone(660, 0.15)]), id="E11-two notes"),
    pytest.param(_chirp(0.3), id="E11-chirp"),
    pytest.param(_tone(50, 3.0), id="mains hum"),
    pytest.param(_tone(1_000, 3.0), id="a steady tone"),
    pytest.param(_clicks(3.0, 4_000), id="keys"),
    pytest.param(np.full(2 * RATE_HZ, 0.5, dtype=np.float32), id="a constant"),
    pytest.param(np.full(RATE_HZ, np.nan, dtype=np.float32), id="nothing but NaN"),
    pytest.param(np.sign(_tone(3, 2.0)), id="full-scale squares"),
]


@pytest.mark.parametrize("language", ["en", pytest.param("ja", id="W3-ja"), pytest.param("th", id="W3-th")])
@pytest.mark.parametrize("sound", NOBODY)
async def test_where_nobody_speaks_nothing_is_said_in_any_language(
    silero: Silero, sound: Samples, language: str
) -> None:
    script = Scripted()
    async with listening(script, silero, language=language) as fed:
        await fed.feed(np.concatenate([sound, quiet(1.0)]))
        assert [text for text in await fed.finals() if text] == []
    assert script.asked == []


@pytest.mark.parametrize("soft", [0.4, 0.25])
@pytest.mark.parametrize("text", [pytest.param("Show me.", id="V1-show"), pytest.param("Five.", id="V1-five")])
async def test_a_soft_beginning_is_kept(
    silero: Silero, whisper: WhisperRecogniser, say: Say, text: str, soft: float
) -> None:
    word = say(text).copy()
    word[: round(0.12 * RATE_HZ)] *= soft
    async with listening(whisper, silero) as fed:
        await fed.feed(np.concatenate([quiet(1.0), word, quiet(1.5)]))
        assert (await fed.finals())[-1].strip(".!").lower().replace("5", "five") == text.strip(".").lower()


async def test_words_of_an_abandoned_generation_are_never_sent(silero: Silero, say: Say) -> None:
    """V6: the recogniser is still at the first part when the person goes on."""
    first, going_on = threading.Event(), threading.Event()

    def says(pcm: Pcm) -> str:
        if not first.is_set():
            first.set()
            going_on.wait(30)
            return "The first part alone."
        return "All of it."

    part = say("I would like to go.")
    async with listening(Scripted(says), silero) as fed:
        for at in range(0, len(line := np.concatenate([quiet(0.5), part, quiet(0.15)])), 320):
            fed.listener.push(Pcm(line[at : at + 320], RATE_HZ))
            await asyncio.sleep(0)
        await asyncio.to_thread(first.wait, 30)
        for at in range(0, len(part), 320):
            fed.listener.push(Pcm(part[at : at + 320], RATE_HZ))
            await asyncio.sleep(0)
        going_on.set()
        await fed.feed(quiet(1.5))
        assert await fed.finals() == ["All of it."]


@pytest.mark.parametrize("released_s", [0.0, 0.05, 0.15])
async def test_a_key_released_during_the_last_word_keeps_it(
    silero: Silero, whisper: WhisperRecogniser, say: Say, released_s: float
) -> None:
    line = np.concatenate([quiet(0.3), say(QUESTION)])
    early = len(line) - round(released_s * RATE_HZ)
    async with listening(whisper, silero) as fed:
        fed.listener.set_mode("push")
        await fed.feed(line[:early])
        fed.listener.commit()
        await fed.feed(np.concatenate([line[early:], quiet(0.3)]))
        assert await fed.finals() == [QUESTION], "V8"


@pytest.mark.parametrize("at", [0.3, 0.6, 0.9])
async def test_a_stream_that_stops_mid_word_gives_the_words_that_were_said_or_none(
    silero: Silero, whisper: WhisperRecogniser, say: Say, at: float
) -> None:
    gone = asyncio.Event()

    async def sleep(_seconds: float) -> None:
        await gone.wait()

    text = "I would like to go to the market tomorrow morning."
    line = say(text)
    async with listening(whisper, silero, sleep=sleep) as fed:
        await fed.feed(np.concatenate([quiet(0.5), line[: round(at * len(line))]]))
        gone.set()
        await fed.until("Ended")
        heard = (await fed.finals())[-1].lower().strip(".…-").split()
        said = [word.lower().strip(".") for word in text.split()]
        assert heard[:-1] == said[: len(heard) - 1]
        # The session lives: the next line is another turn, or the same one again.
        gone.clear()
        await fed.feed(np.concatenate([quiet(0.5), say(QUESTION), quiet(1.5)]))
        assert "france" in (await fed.finals())[-1].lower()


@pytest.mark.parametrize("noise_rms", [0.004, 0.02])
async def test_noise_after_a_line_is_no_second_line(silero: Silero, say: Say, noise_rms: float) -> None:
    script = Scripted()
    async with listening(script, silero) as fed:
        await fed.feed(np.concatenate([quiet(0.5), say(QUESTION), quiet(1.0)]))
        for _ in range(3):
            fed.listener.answer_heard()
            await fed.feed(np.concatenate([noise(2.0, noise_rms), quiet(0.5)]))
        assert len({e.turn for e in await fed.seen() if isinstance(e, SpeechEnded)}) == 1, "W6"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("you you you you", id="W5"),
        pytest.param("Danke. Danke. Danke. Danke. Danke.", id="W5-de"),
        pytest.param("ご視聴 ご視聴 ご視聴 ご視聴", id="W5-ja"),
        pytest.param("and and and and and and", id="W5-and"),
        pytest.param(" ".join(["so it goes on"] * 12), id="W5-phrase"),
    ],
)
def test_a_decoder_in_a_loop_says_nothing_or_its_phrase_once(text: str) -> None:
    said = believable(text, no_speech=0.0, mean_log_probability=-0.3)
    assert said in ("", "so it goes on")


def _other(left: Samples) -> Samples:
    return np.stack([left, np.zeros_like(left)], axis=1)


@pytest.mark.parametrize(
    ("rate_hz", "change"),
    [
        pytest.param(8_000, lambda x: x, id="8k"),
        pytest.param(11_025, lambda x: x, id="11k"),
        pytest.param(44_100, _other, id="44k one ear"),
        pytest.param(96_000, lambda x: np.stack([x] * 2, axis=1), id="96k stereo"),
        pytest.param(16_000, lambda x: x * 0.12, id="soft"),
        pytest.param(16_000, lambda x: np.clip(x * 15, -1, 1), id="clipped hard"),
        pytest.param(16_000, lambda x: x - np.float32(0.6), id="offset"),
        pytest.param(16_000, lambda x: -x, id="upside down"),
        pytest.param(16_000, lambda x: np.where(np.arange(len(x)) % 500 == 0, np.inf, x), id="infinite"),
        pytest.param(16_000, lambda x: x + noise(len(x) / RATE_HZ, 0.003)[: len(x)], id="noisy"),
    ],
)
async def test_sound_of_every_sort_gives_the_right_words_or_none(
    silero: Silero, whisper: WhisperRecogniser, say: Say, rate_hz: int, change: Callable[[Samples], Samples]
) -> None:
    line = np.concatenate([quiet(0.8), say(QUESTION), quiet(1.2)])
    samples = change(resample(Pcm(line, RATE_HZ), rate_hz).samples).astype(np.float32)
    async with listening(whisper, silero) as fed:
        await fed.feed(samples, rate_hz=rate_hz, frame=rate_hz // 50)
        assert (await fed.finals())[-1] == QUESTION


@pytest.mark.parametrize("size", [1, 3, 641, 7_777])
async def test_bytes_cut_anywhere_lose_nothing(silero: Silero, say: Say, size: int) -> None:
    line = np.concatenate([quiet(0.3), say("I would like to go."), quiet(0.8)])
    data = (line * 32_767).astype("<i2").tobytes()

    async def ended(size: int) -> tuple[float, float]:
        reader, script = FrameReader(RATE_HZ), Scripted()
        async with listening(script, silero) as fed:
            held = 0
            for at in range(0, len(data), size):
                pcm = reader.push(data[at : at + size])
                fed.listener.push(pcm)
                held += len(pcm)
                if held >= 1_600:
                    held = 0
                    await fed.listener.settled()
            (end,) = [e for e in await fed.seen() if isinstance(e, SpeechEnded)]
            return end.at_s, script.asked[-1]

    (end_s, heard_s), (other_s, others_s) = await ended(size), await ended(640)
    assert end_s == other_s
    # How much of the silence behind it has come by then depends on the pieces.
    assert heard_s == pytest.approx(others_s, abs=0.2)


async def test_half_an_hour_of_silence_is_heard_at_no_cost_and_then_a_line(silero: Silero, say: Say) -> None:
    script = Scripted()
    async with listening(script, silero) as fed:
        for _ in range(30):
            await fed.feed(quiet(60.0), frame=RATE_HZ)
        assert script.asked == []
        await fed.feed(np.concatenate([say("I would like to go."), quiet(1.0)]))
        started = next(e for e in await fed.seen() if isinstance(e, SpeechStarted))
    assert started.at_s == pytest.approx(1_800, abs=0.2)
    assert script.asked[-1] < 4


async def test_the_work_of_a_long_talk_is_the_same_all_along(silero: Silero, say: Say) -> None:
    """L6: somebody who never stops; what is recognised grows with the time and not with its square."""
    script = Scripted(lambda _pcm: "and so on and")
    talk = np.concatenate([say("I would like to go to the market tomorrow morning."), quiet(0.3)])
    minute = np.resize(talk, 20 * RATE_HZ)
    work = []
    async with listening(script, silero, settings=ListenSettings(partials=False, longest_s=10.0)) as fed:
        for _ in range(9):
            script.asked.clear()
            await fed.feed(minute, frame=1_600)
            work.append(sum(script.asked))
    assert max(work[1:]) <= 2 * min(work[1:])


async def test_two_hundred_sessions_leave_no_thread_no_task_and_nothing_of_themselves(silero: Silero, say: Say) -> None:
    """L1: what is there after the first twenty is there after all of them."""
    before = set(threading.enumerate())
    lanes = Lanes()
    ear = Ear(Scripted(), lanes.lane("ear"), silero=silero)
    speech = Pcm(np.concatenate([quiet(0.2), say("I would like to go."), quiet(0.4)]), RATE_HZ)
    sessions: list[weakref.ref[Listener]] = []
    held: list[tuple[int, int]] = []
    for number in range(1, 201):
        fed = Fed(Listener(ear, sleep=never))
        fed.listener.push(speech)
        if number % 2:
            await fed.listener.settled()
        await fed.close()
        sessions.append(weakref.ref(fed.listener))
        del fed
        if number in (20, 200):
            # Other tests' threads may still be ending.
            held.append((len(set(threading.enumerate()) - before), len(asyncio.all_tasks())))
    gc.collect()
    lanes.close()
    assert held[0] == held[1]
    assert [one for one in sessions if one() is not None] == []


async def test_a_partial_tells_the_part_that_will_stand(silero: Silero, whisper: WhisperRecogniser, say: Say) -> None:
    text = "I would like to go to the market tomorrow morning."
    async with listening(whisper, silero, settings=ListenSettings()) as fed:
        await fed.feed(np.concatenate([quiet(0.5), say(text), quiet(1.0)]))
        words = [e for e in await fed.seen() if isinstance(e, Words)]
    partials = [e for e in words if e.kind == "partial"]
    assert any(e.stable for e in partials)
    assert all(text.lower().startswith(e.stable.lower()) for e in partials)
    assert words[-1].stable == words[-1].text == text


async def test_words_are_given_their_times_in_the_stream_where_asked_for(
    silero: Silero, whisper: WhisperRecogniser, say: Say
) -> None:
    line = say(QUESTION)
    async with listening(whisper, silero, settings=ListenSettings(partials=False, word_times=True)) as fed:
        await fed.feed(np.concatenate([quiet(2.0), line, quiet(1.0)]))
        final = [e for e in await fed.seen() if isinstance(e, Words)][-1]
    assert " ".join(word.text for word in final.words) == final.text
    assert final.words[0].start_s == pytest.approx(2.0, abs=0.4)
    assert final.words[-1].end_s == pytest.approx(2.0 + len(line) / RATE_HZ, abs=0.4)


class _Unsure(Scripted):
    """A quick ear that says how likely its words are."""

    log_probability = 0.0

    def recognise(self, pcm: Pcm, *, language: str, hint: str = "", word_times: bool = False) -> Transcript:
        heard = super().recognise(pcm, language=language, hint=hint, word_times=word_times)
        return replace(heard, mean_log_probability=self.log_probability)


@pytest.mark.parametrize(
    ("log_probability", "waiting", "wanted", "text"),
    [
        pytest.param(-0.3, 0, True, "Quick.", id="sure"),
        pytest.param(-0.9, 0, True, "Careful.", id="unsure"),
        pytest.param(-0.9, 2, True, "Quick.", id="unsure while others wait"),
        pytest.param(-0.9, 0, False, "", id="for nobody"),
    ],
)
def test_the_careful_ear_is_asked_where_the_quick_one_was_unsure_and_time_allows(
    silero: Silero, log_probability: float, waiting: int, wanted: bool, text: str
) -> None:
    quick = _Unsure(lambda _pcm: "Quick.")
    quick.log_probability = log_probability
    lane = SimpleNamespace(waiting=waiting)
    ear = Ear(quick, lane, silero=silero, careful=Scripted(lambda _pcm: "Careful."))  # type: ignore[arg-type]
    somebody = Stretch(noise(1.0, 0.1), 0, RATE_HZ, RATE_HZ)
    assert ear.understand(somebody, language="en", wanted=lambda: wanted).transcript.text == text


def test_an_engine_takes_four_threads_at_most_unless_told() -> None:
    assert 1 <= Settings(single_user=True).engine_threads <= 4, "L13"
    assert Settings(single_user=True, threads=7).engine_threads == 7
