"""A session in a room that echoes, on virtual time: everything real but recogniser, voice and clock."""

from __future__ import annotations

import asyncio
import functools
import gc
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from alone import alone, resident_bytes

from asr import Ear, Silero, Transcript
from firstword.testing.clock import run_virtually
from firstword.testing.device import Device
from firstword.testing.lanes import RememberingEngine, VirtualLane
from firstword.testing.room import EchoRoom
from firstword.testing.talks import Talk, hears_with
from firstword.testing.voices import ToneEngine
from sound import Pcm
from sound.noises import NOISES, hum
from voice.answer import OUT_HZ, Answer
from voice.events import AllSent, Candidate
from voice.playout import Playout

ANSWER = (
    "The shop opens at nine in the morning. It closes at five in the afternoon. On Saturdays we are here until noon."
)


class Says:
    """A recogniser that hears the same in everything."""

    name = "says"
    languages = None

    def __init__(self, text: str) -> None:
        self.text = text

    def recognise(self, pcm: Pcm, *, language: str, hint: str = "", word_times: bool = False) -> Transcript:
        return Transcript(self.text, language)

    def warm(self) -> None:
        pass


class BabbleEngine(ToneEngine):
    """A tone that swings as syllables do."""

    def speak(self, piece: str, **how: Any) -> Any:
        whole = Pcm.join(list(super().speak(piece, **how)))
        tops = np.arange(0, len(whole) + 2_400, 2_400)
        levels = np.random.default_rng(len(piece)).random(len(tops))
        swing = np.interp(np.arange(len(whole)), tops, levels)
        yield Pcm((whole.samples * swing).astype(np.float32), whole.rate_hz)


def voice(seconds: float, level: float) -> np.ndarray:
    return hum(seconds, level, OUT_HZ)


def talked(
    scenario: Callable[[Talk], Coroutine[Any, Any, None]],
    *,
    text: str = "wait",
    gain: float = 0.0,
    delay_s: float = 0.1,
    answers: tuple[str, ...] = (ANSWER,),
) -> Talk:
    async def main() -> Talk:
        loop = asyncio.get_running_loop()
        ear = Ear(Says(text), VirtualLane(job_s=0.1), silero=Silero(), clock=loop.time)
        room = EchoRoom(gain=gain, delay_s=delay_s, rate_hz=OUT_HZ, reverberation_s=0.1, noise=0.001)
        talk = Talk(
            Device(room, keeps=True),
            answers=answers,
            engine=BabbleEngine(seconds_per_char=0.06, level=0.5),
            listener=hears_with(ear),
            lane=VirtualLane(),
        )
        try:
            await scenario(talk)
        finally:
            await talk.close()
        return talk

    return run_virtually(main())


@pytest.mark.parametrize("reverberation_s", [0.0, 0.2])
@pytest.mark.parametrize("delay_s", [0.0, 0.013, 0.3])
def test_a_room_is_the_same_however_its_sound_is_cut(delay_s: float, reverberation_s: float) -> None:
    random = np.random.default_rng(5)
    played = random.normal(0, 0.1, OUT_HZ).astype(np.float32)

    def room() -> EchoRoom:
        return EchoRoom(gain=0.5, delay_s=delay_s, rate_hz=OUT_HZ, reverberation_s=reverberation_s, seed=3)

    whole, cut, at = room().hear(played), [], 0
    in_parts = room()
    while at < len(played):
        size = int(random.integers(1, 2_000))
        cut.append(in_parts.hear(played[at : at + size]))
        at += size
    assert np.allclose(np.concatenate(cut), whole, atol=1e-5)
    late = round(delay_s * OUT_HZ)
    assert not whole[:late].any()
    # The direct sound comes first, and nothing of the walls within 5 ms of it.
    first = whole[late : late + OUT_HZ // 250]
    assert np.allclose(first / first[0], played[: len(first)] / played[0], rtol=1e-2, atol=1e-2)


def interrupted(talk: Talk) -> int:
    return len(talk.of("output_audio_buffer.cleared"))


def held(talk: Talk) -> list[bool]:
    return [event["held"] for event in talk.of("firstword.hold")]


async def whole(talk: Talk) -> None:
    talk.ask("Tell me.")
    await talk.until_quiet()


@functools.cache
def undisturbed() -> bytes:
    """What the device receives of an answer over which nobody makes a sound."""
    return bytes(talked(whole).device.kept)


@pytest.mark.parametrize(("gain", "delay_s"), [(0.3, 0.3), (0.9, 0.0), (0.9, 1.4)])
def test_e1_e6_it_never_answers_itself(gain: float, delay_s: float) -> None:
    async def scenario(talk: Talk) -> None:
        await whole(talk)
        await talk.run(1.5)

    talk = talked(scenario, gain=gain, delay_s=delay_s, text="something of its own")
    assert interrupted(talk) == 0
    assert not talk.of("conversation.item.input_audio_transcription.completed")


async def answered_then(talk: Talk, sound: np.ndarray) -> None:
    await whole(talk)
    await talk.run(1.0)
    talk.ask("And on Sundays?")
    await talk.run(2.0)
    await talk.say(sound)


def test_a_persons_words_stop_it_within_a_quarter_second_of_sound() -> None:
    async def scenario(talk: Talk) -> None:
        await answered_then(talk, voice(1.2, 0.4))
        await talk.run(1.5)

    talk = talked(scenario, text="wait, I meant Monday")
    assert interrupted(talk) == 1
    stopped = talk.of("output_audio_buffer.cleared")[0]
    hold = talk.of("firstword.hold")[0]
    # From the hold on not a frame of that answer left (S1), long before the words were known.
    assert talk.sent_at[stopped["response_id"]] <= hold["at_s"] + 0.021
    lines = talk.of("conversation.item.input_audio_transcription.completed")
    assert [line["transcript"] for line in lines] == ["wait, I meant Monday"]


@pytest.mark.parametrize("text", ["", ".", "Mhm.", "yeah, okay"], ids=["E3", "E13", "mhm", "yeah"])
def test_what_is_no_interruption_resumes_at_the_same_sample(text: str) -> None:
    async def scenario(talk: Talk) -> None:
        await answered_then(talk, voice(0.4, 0.4))
        await talk.until_quiet()

    talk = talked(scenario, text=text)
    assert held(talk)[:2] == [True, False]
    assert interrupted(talk) == 0
    assert bytes(talk.device.kept)[len(undisturbed()) :] == undisturbed()


@pytest.mark.parametrize("gain", [0.0, 0.4], ids=["headphones", "loudspeakers"])
def test_coughs_clicks_and_doors_lose_no_answer(gain: float) -> None:
    async def scenario(talk: Talk) -> None:
        await whole(talk)
        talk.ask("And on Sundays?")
        await talk.run(0.5)
        for make in (NOISES["cough"], NOISES["click"], NOISES["door"]):
            await talk.say(make(np.random.default_rng(4), OUT_HZ).astype(np.float32) * np.float32(0.5))
            await talk.run(1.0)
        await talk.until_quiet()

    # A recogniser that hears nothing in noise; the real one is measured by `firstword bench barge-in`.
    assert interrupted(talked(scenario, text="", gain=gain, answers=(ANSWER, f"{ANSWER} {ANSWER}"))) == 0


def test_h1_what_was_said_over_is_cut_in_the_history_and_h5_from_its_own_start() -> None:
    async def scenario(talk: Talk) -> None:
        await answered_then(talk, voice(1.2, 0.4))
        await talk.run(1.5)

    talk = talked(scenario, text="wait, I meant Monday")
    lines = [message.content for message in talk.door.asked[-1]]
    assert lines[1] == ANSWER
    assert lines[3].startswith("The shop opens")
    assert lines[3].endswith("—")
    assert len(lines[3]) < len(ANSWER) / 2


def test_s3_the_next_answer_begins_with_its_own_words() -> None:
    async def scenario(talk: Talk) -> None:
        await answered_then(talk, voice(1.2, 0.4))
        await talk.run(8.0)

    talk = talked(scenario, text="wait, I meant Monday", answers=(ANSWER, ANSWER, "On Mondays we are closed."))
    said = [event["transcript"] for event in talk.of("response.output_audio_transcript.done")]
    assert said[-1] == "On Mondays we are closed."


def three_hundred_interruptions() -> tuple[int, list[int], list[int]]:
    """How often it was interrupted; live objects of this session, and bytes of memory, after 100 and after 300."""
    counts: list[int] = []
    resident: list[int] = []

    async def scenario(talk: Talk) -> None:
        for n in range(300):
            talk.ask("Tell me.")
            await talk.run(0.04)
            if n in (99, 299):
                await talk.run(0.5)
                gc.collect()
                resident.append(resident_bytes())
                # Counted and not kept: a list of them would be what is left behind.
                counts.append(sum(isinstance(one, asyncio.Task | Answer | Playout) for one in gc.get_objects()))

    return interrupted(talked(scenario)), counts, resident


def test_l5_three_hundred_interruptions_leave_nothing_behind() -> None:
    times, counts, resident = alone(three_hundred_interruptions)
    assert times == 299
    assert counts[1] <= counts[0]
    # The sound of two hundred answers of 6 s would be 115 MB; the events that the test keeps are a few.
    assert resident[1] - resident[0] < 50_000_000


def test_a_speculation_is_used_where_it_fits_and_counted_where_it_does_not() -> None:
    async def scenario(talk: Talk) -> None:
        await talk.run(1.0)
        await talk.say(voice(1.0, 0.3))
        await talk.run(0.15)
        await talk.say(voice(0.8, 0.3))
        await talk.run(0.5)
        await talk.until_quiet()

    talk = talked(scenario, text="what time do you open?")
    traces = talk.of("firstword.trace")
    assert len(traces) == 1
    assert traces[0]["speculated"] is True
    assert traces[0]["wasted"] >= 1
    # Asked before the commit, shown after: the thrown-away one never reached the client.
    assert len(talk.door.asked) == 1 + traces[0]["wasted"]
    assert len(talk.of("response.created")) == 1


def test_a_yes_to_the_question_at_the_end_is_an_answer_and_before_it_a_noise() -> None:
    from test_converse import Talk as Turn
    from test_converse import started, words

    from voice.events import Interrupt, Resume

    for ending in (False, True):
        turn = Turn()
        answer = turn.speaking("It opens at nine. Shall I put you down?")
        if ending:
            turn(AllSent(answer))
        commands = turn(Candidate(), started(), words("Yes."))
        assert (Interrupt(answer, by_person=True) in commands) is ending
        assert (Resume(answer) in commands) is not ending


@pytest.mark.models
def test_v3_the_first_word_of_an_interruption_is_in_the_transcript(tmp_path: Path) -> None:
    """With the real voice, the real recogniser, and our own voice in the microphone."""
    from benchmarks.barge_in_runs import run, world
    from benchmarks.barge_in_scenes import ANSWERS, GREETING, Room, Sounding
    from benchmarks.barge_in_speech import prepare
    from firstword.hearing import recogniser_for
    from firstword.settings import load_settings
    from firstword.voices import engine_for

    settings = load_settings(single_user=True, data=tmp_path)
    texts = ("No, that is not what I meant.",)
    voice = engine_for(settings)
    engine = RememberingEngine(voice, sample_rate_hz=voice.sample_rate_hz)
    here = world(prepare(engine, texts, (GREETING, ANSWERS[0])), recogniser_for(settings))
    for text in texts:
        for gain in (0.0, 0.3):
            room = Room("loudspeaker", gain, 0.1, 0.15, 0.001, 7)
            result = run(Sounding(room, "person", text, 1, 0.5, 0, 2.5, first=False), here)
            assert result.interrupted
            assert result.heard.casefold().split()[0].strip(",.") == text.casefold().split()[0].strip(",.")


def test_an_engine_that_remembers_speaks_a_piece_once() -> None:
    tone = ToneEngine()
    engine = RememberingEngine(tone, sample_rate_hz=tone.sample_rate_hz)
    assert len(list(engine.speak("Hello."))) == len(list(engine.speak("Hello."))) == 1
    assert tone.spoken == ["Hello."]
