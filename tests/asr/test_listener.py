"""One session's ear, with real speech and real activity; words from a script where the words are not the point."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import numpy as np
import pytest
from asr_kit import RATE_HZ, Scripted, listening, noise, quiet
from hypothesis import given, settings
from hypothesis import strategies as st

from asr import (
    Ear,
    Judged,
    LanguageRefused,
    ListenSettings,
    Silero,
    SpeechEnded,
    SpeechPaused,
    SpeechStarted,
    WhisperRecogniser,
    Words,
)
from models import Lanes
from sound import Pcm, Samples, resample

Say = Callable[[str], Samples]
pytestmark = pytest.mark.models
ONE_TURN = ["Started", "Paused", "final", "Judged", "Ended"]


async def test_a_sentence_is_one_turn_with_its_words_before_its_end(
    silero: Silero, whisper: WhisperRecogniser, say: Say
) -> None:
    async with listening(whisper, silero, settings=ListenSettings()) as fed:
        await fed.feed(np.concatenate([quiet(0.8), say("What is the capital of France?"), quiet(1.0)]))
        names = await fed.names()
        started, *_, words, judged, ended = fed.events
    assert [name for name in names if name != "partial"] == ONE_TURN
    assert "partial" in names
    assert isinstance(words, Words)
    assert words.text == "What is the capital of France?"
    assert words.verdict == "complete"
    assert judged == Judged(words.turn, words.generation, "complete", "words")
    assert isinstance(started, SpeechStarted)
    assert started.at_s == pytest.approx(0.85, abs=0.1)
    assert isinstance(ended, SpeechEnded)
    assert 190 <= ended.waited_ms <= 320


@pytest.mark.parametrize("word", [pytest.param("Stop.", id="V3"), pytest.param("Yes.", id="V1")])
async def test_a_short_word_keeps_its_onset(silero: Silero, whisper: WhisperRecogniser, say: Say, word: str) -> None:
    async with listening(whisper, silero) as fed:
        await fed.feed(np.concatenate([quiet(1.0), say(word), quiet(1.5)]))
        finals = await fed.finals()
    assert [text.strip(".!").lower() for text in finals] == [word.strip(".").lower()]


async def test_sound_before_the_first_speech_sample_reaches_the_recogniser(silero: Silero, say: Say) -> None:
    script = Scripted()
    speech = say("What is the capital of France?")
    async with listening(script, silero) as fed:
        await fed.feed(np.concatenate([quiet(1.0), speech, quiet(1.0)]))
        started = fed.events[0]
    assert isinstance(started, SpeechStarted)
    spoken_s = len(speech) / RATE_HZ - (started.at_s - 1.0)
    assert script.asked[-1] >= spoken_s + 0.25


async def test_speech_that_comes_back_before_the_end_voids_the_words(silero: Silero, say: Say) -> None:
    script = Scripted(lambda _pcm: "I would like and")
    part = say("I would like to go.")
    async with listening(script, silero) as fed:
        await fed.feed(np.concatenate([quiet(0.5), part, quiet(0.6), part, quiet(2.0)]))
        seen = await fed.seen()
    assert [(type(e).__name__, e.turn, e.generation) for e in seen if not isinstance(e, Words)] == [
        ("SpeechStarted", 1, 1),
        ("SpeechPaused", 1, 1),
        ("Judged", 1, 1),
        ("SpeechStarted", 1, 2),
        ("SpeechPaused", 1, 2),
        ("Judged", 1, 2),
        ("SpeechEnded", 1, 2),
    ]
    assert script.asked[-1] > 2 * len(part) / RATE_HZ


async def test_speech_before_the_answer_was_heard_reopens_the_turn_and_afterwards_begins_another(
    silero: Silero, say: Say
) -> None:
    script = Scripted()
    part = np.concatenate([quiet(0.5), say("I would like to go."), quiet(1.5)])
    async with listening(script, silero) as fed:
        for text in ("One.", "Two.", "Three."):
            script.says = lambda _pcm, text=text: text  # type: ignore[misc]
            await fed.feed(part)
            await fed.seen()
            if text == "Two.":
                fed.listener.answer_heard()
        ended = {(e.turn, e.generation) for e in fed.events if isinstance(e, SpeechEnded)}
        said = [(e.turn, e.generation, e.text) for e in fed.events if isinstance(e, Words)]
        finals = [(turn, text) for turn, generation, text in said if (turn, generation) in ended]
    assert finals == [(1, "One."), (1, "Two."), (2, "Three.")]


async def test_the_wait_follows_the_verdict_and_the_scale_of_the_bot(silero: Silero, say: Say) -> None:
    waits: list[float] = []
    for text, scale in (("Done.", 1.0), ("the red one", 1.0), ("Done.", 2.0), ("and", 1.0), ("and", 9.0)):
        async with listening(Scripted(lambda _p, t=text: t), silero, settings=ListenSettings(wait=scale)) as fed:
            await fed.feed(np.concatenate([quiet(0.5), say("I would like to go."), quiet(3.0)]))
            await fed.seen()
            waits.append(next(e.waited_ms for e in fed.events if isinstance(e, SpeechEnded)))
    assert waits == [pytest.approx(ms, abs=33) for ms in (224, 608, 448, 1_216, 2_512)]


@pytest.mark.parametrize("language", ["en", pytest.param("ja", id="W3-ja")])
@pytest.mark.parametrize(
    "sound",
    [
        pytest.param(quiet(3.0), id="W1-zeros"),
        pytest.param(noise(3.0, 0.002), id="W1-noise"),
        pytest.param(quiet(1.0), id="V10"),
        pytest.param((0.3 * np.sin(2 * np.pi * 880 * np.arange(3_200) / RATE_HZ)).astype(np.float32), id="E11-beep"),
        pytest.param(noise(0.05, 0.2), id="click"),
    ],
)
async def test_where_nobody_speaks_no_recogniser_is_asked(silero: Silero, sound: Samples, language: str) -> None:
    script = Scripted()
    async with listening(script, silero, language=language) as fed:
        await fed.feed(np.concatenate([sound, quiet(1.0)]))
        assert [text for text in await fed.finals() if text] == []
    assert script.asked == []


async def test_noise_after_a_real_line_says_nothing_more(silero: Silero, say: Say) -> None:
    script = Scripted()
    async with listening(script, silero) as fed:
        await fed.feed(np.concatenate([quiet(0.5), say("What is the capital of France?"), quiet(1.0)]))
        fed.listener.answer_heard()
        for _ in range(3):
            await fed.feed(np.concatenate([noise(2.0, 0.004), quiet(0.5)]))
        assert await fed.finals() == ["Hello there."], "W6"


async def test_an_empty_transcript_ends_its_turn_and_leaves_nothing_to_reopen(silero: Silero, say: Say) -> None:
    line = np.concatenate([quiet(0.5), say("I would like to go."), quiet(1.0)])
    async with listening(Scripted(lambda _pcm: ""), silero) as fed:
        await fed.feed(line)
        await fed.feed(line)
        assert await fed.names() == ONE_TURN * 2, "E13"
        assert [e.turn for e in fed.events if isinstance(e, SpeechStarted)] == [1, 2]


async def test_a_microphone_that_stops_mid_word_ends_the_turn(silero: Silero, say: Say) -> None:
    naps: list[float] = []
    gone = asyncio.Event()

    async def sleep(seconds: float) -> None:
        naps.append(seconds)
        await gone.wait()

    async with listening(Scripted(), silero, sleep=sleep) as fed:
        await fed.feed(np.concatenate([quiet(0.5), say("What is the capital of France?")[:16_000]]))
        assert "Ended" not in await fed.names()
        gone.set()
        await fed.until("Ended")
        assert await fed.names() == ONE_TURN
    assert set(naps) == {1.0}, "V5"


async def test_push_to_talk_ends_on_release_alone_and_hears_the_last_word(silero: Silero, say: Say) -> None:
    script = Scripted()
    speech = say("What is the capital of France?")
    async with listening(script, silero) as fed:
        fed.listener.set_mode("push")
        await fed.feed(np.concatenate([quiet(0.3), speech, quiet(3.0), speech[: -RATE_HZ // 4]]))
        assert await fed.names() == ["Started"]
        fed.listener.commit()
        await fed.feed(np.concatenate([speech[-RATE_HZ // 4 :], quiet(0.2)]))
        assert await fed.names() == ONE_TURN
    whole_s = 2 * len(speech) / RATE_HZ + 3.0
    assert script.asked[-1] >= whole_s - 0.1, "V8"


async def test_a_release_in_which_nobody_spoke_says_so(silero: Silero) -> None:
    script = Scripted()

    async def at_once(_seconds: float) -> None:
        await asyncio.sleep(0)

    async with listening(script, silero, sleep=at_once) as fed:
        fed.listener.set_mode("push")
        await fed.feed(quiet(0.5))
        fed.listener.commit()
        await fed.until("Ended")
        assert await fed.finals() == [""]
    assert script.asked == []


async def test_clearing_forgets_what_was_said(silero: Silero, say: Say) -> None:
    async with listening(Scripted(), silero) as fed:
        await fed.feed(np.concatenate([quiet(0.5), say("I would like to go.")]))
        fed.listener.clear()
        await fed.feed(quiet(2.0))
        assert await fed.finals() == [""]


async def test_an_utterance_without_end_is_committed_and_goes_on(silero: Silero, say: Say) -> None:
    script = Scripted()
    talk = np.concatenate([say("I would like to go to the market tomorrow morning.")[:30_000]] * 8)
    async with listening(script, silero, settings=ListenSettings(longest_s=6.0, partials=False)) as fed:
        await fed.feed(np.concatenate([talk, quiet(2.0)]))
        ends = [e for e in await fed.seen() if isinstance(e, SpeechEnded)]
    assert len(ends) >= 2
    assert max(script.asked) <= 7.0
    assert sum(script.asked) >= len(talk) / RATE_HZ - 0.5


async def test_a_recogniser_that_fails_ends_the_turn_with_no_words(
    silero: Silero, say: Say, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(_pcm: Pcm) -> str:
        raise RuntimeError("no memory")

    line = np.concatenate([quiet(0.5), say("I would like to go."), quiet(1.0)])
    async with listening(Scripted(fails), silero) as fed:
        await fed.feed(line)
        await fed.feed(line)
        assert await fed.names() == ONE_TURN * 2
    assert "could not be recognised" in caplog.text


async def test_a_language_that_the_recogniser_does_not_know_is_refused_in_words(silero: Silero) -> None:
    lanes = Lanes()
    english = Scripted(languages=frozenset({"en"}))
    with pytest.raises(LanguageRefused, match="does not understand 'de'"):
        Ear(english, lanes.lane("ear"), silero=silero, language="de")
    async with listening(english, silero) as fed:
        with pytest.raises(LanguageRefused):
            fed.listener.language = "fr"
        assert fed.listener.language == "en"
    lanes.close()


async def test_the_language_passes_through(silero: Silero, say: Say) -> None:
    script = Scripted()
    async with listening(script, silero, language="nl") as fed:
        await fed.feed(np.concatenate([quiet(0.5), say("I would like to go."), quiet(1.0)]))
        assert await fed.finals() == ["Hello there."]
    assert set(script.languages_asked) == {"nl"}, "W8"


def _stereo(samples: Samples) -> Samples:
    return np.stack([samples, samples], axis=1)


@pytest.mark.parametrize(
    ("rate_hz", "change"),
    [
        pytest.param(8_000, lambda x: x, id="8k"),
        pytest.param(24_000, lambda x: x, id="24k"),
        pytest.param(48_000, _stereo, id="A6-48k-stereo"),
        pytest.param(96_000, lambda x: x, id="96k"),
        pytest.param(16_000, lambda x: x + np.float32(0.2), id="dc"),
        pytest.param(16_000, lambda x: np.clip(x * 8, -1, 1), id="clipped"),
        pytest.param(16_000, lambda x: np.where(np.arange(len(x)) % 997 == 0, np.nan, x), id="nan"),
    ],
)
async def test_sound_of_any_kind_gives_the_right_words(
    silero: Silero,
    whisper: WhisperRecogniser,
    say: Say,
    rate_hz: int,
    change: Callable[[Samples], Samples],
) -> None:
    line = np.concatenate([quiet(0.8), say("What is the capital of France?"), quiet(1.2)])
    samples = change(resample(Pcm(line, RATE_HZ), rate_hz).samples)
    async with listening(whisper, silero) as fed:
        await fed.feed(samples.astype(np.float32), rate_hz=rate_hz, frame=rate_hz // 50)
        # A pause inside the sentence may have voided an earlier guess at it: the last final stands.
        assert (await fed.finals())[-1] == "What is the capital of France?"
        assert {event.turn for event in fed.events} == {1}


@given(st.lists(st.integers(1, 9_000), min_size=1, max_size=12))
@settings(max_examples=8, deadline=None)
def test_frames_of_any_size_give_the_same_events(silero: Silero, say: Say, sizes: list[int]) -> None:
    line = np.concatenate([quiet(0.5), say("I would like to go."), quiet(1.0)])

    async def events(cuts: list[int]) -> list[object]:
        async with listening(Scripted(), silero) as fed:
            at, turn = 0, 0
            while at < len(line):
                part = line[at : at + cuts[turn % len(cuts)]]
                await fed.feed(part, frame=len(part))
                at, turn = at + len(part), turn + 1
            return [(type(e).__name__, getattr(e, "at_s", None)) for e in await fed.seen() if not isinstance(e, Words)]

    assert asyncio.run(events(sizes)) == asyncio.run(events([320]))


async def test_sessions_leave_no_thread_and_no_task_behind(silero: Silero, say: Say) -> None:
    before, tasks = set(threading.enumerate()), len(asyncio.all_tasks())
    speech = Pcm(np.concatenate([quiet(0.2), say("I would like to go.")]), RATE_HZ)
    for _ in range(50):
        async with listening(Scripted(), silero) as fed:
            fed.listener.push(speech)
            await asyncio.sleep(0)
    assert not set(threading.enumerate()) - before, "L1"
    assert len(asyncio.all_tasks()) == tasks


@given(st.lists(st.sampled_from(["say", "quiet", "commit", "clear", "push", "open", "heard", "noise"]), max_size=10))
@settings(max_examples=15, deadline=None)
def test_whatever_is_asked_in_whatever_order_the_events_keep_their_order(
    silero: Silero, say: Say, orders: list[str]
) -> None:
    sounds = {"say": say("I would like to go.")[:14_400], "quiet": quiet(0.4), "noise": noise(0.2, 0.05)}

    async def run() -> list[object]:
        async def soon(_seconds: float) -> None:
            await asyncio.sleep(0)

        async with listening(Scripted(), silero, sleep=soon) as fed:
            for order in [*orders, "quiet"]:
                if order in sounds:
                    await fed.feed(sounds[order], frame=1_600)
                elif order in ("push", "open"):
                    fed.listener.set_mode("push" if order == "push" else "open")
                else:
                    {"commit": fed.listener.commit, "clear": fed.listener.clear, "heard": fed.listener.answer_heard}[
                        order
                    ]()
            return list(await fed.seen())

    stage, last = "ended", (0, 0)
    for event in asyncio.run(run()):
        match event:
            case SpeechStarted(turn=turn, generation=generation):
                assert (turn, generation) > last
                last, stage = (turn, generation), "started"
            case SpeechPaused():
                assert stage == "started"
                stage = "paused"
            case Words(kind="final"):
                assert stage == "paused"
                stage = "final"
            case Judged():
                assert stage == "final"
                stage = "judged"
            case SpeechEnded():
                assert stage == "judged"
                stage = "ended"
        assert (event.turn, event.generation) == last  # type: ignore[attr-defined]
