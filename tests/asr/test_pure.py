"""What listening decides without sound: end of turn, verdicts, invented words, subtitles, kept sound, queues."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import asr
from asr.endpoint import LONGEST_MS, Pauses, ended, manner, wait_ms
from asr.events import SpeechStarted, Verdict, Word, Words
from asr.guards import believable
from asr.hear import Heard
from asr.inbox import Inbox, Outbox
from asr.judge import Judgement, judge, judge_words
from asr.subtitles import srt, verbose, vtt
from asr.utterance import Ring
from sound import Pcm

VERDICTS: list[Verdict] = ["complete", "unsure", "incomplete"]


def test_the_room_offers_these_names() -> None:
    assert sorted(asr.__all__) == [
        "Activity",
        "AsrError",
        "Ear",
        "EngineRefused",
        "Heard",
        "HearingSource",
        "Judged",
        "Judgement",
        "LanguageRefused",
        "ListenEvent",
        "ListenSettings",
        "Listener",
        "Recogniser",
        "Silero",
        "SmartTurn",
        "SpeechEnded",
        "SpeechPaused",
        "SpeechStarted",
        "Tick",
        "Transcript",
        "Verdict",
        "WhisperRecogniser",
        "Word",
        "Words",
        "create_transcriptions",
        "hear",
        "hear_on",
        "judge",
    ]
    assert all(hasattr(asr, name) for name in asr.__all__)


@given(st.sampled_from(VERDICTS), st.floats(0.1, 10), st.lists(st.floats(0, 60_000), max_size=20))
@settings(max_examples=60)
def test_no_wait_is_longer_than_the_longest_and_a_whole_sentence_waits_least(
    verdict: Verdict, scale: float, heard: list[float]
) -> None:
    pauses = Pauses()
    for pause in heard:
        pauses.heard(pause)
    assert 0.7 <= pauses.factor <= 2.0
    waits = [wait_ms(Judgement(one, "words"), scale=scale, factor=pauses.factor) for one in VERDICTS]
    assert waits == sorted(waits)
    assert ended(LONGEST_MS, Judgement(verdict, "words"), scale=scale, factor=pauses.factor)


@pytest.mark.parametrize(
    ("text", "sound", "wait"),
    [
        pytest.param("It rains.", 0.98, 224, id="the sound is sure"),
        pytest.param("It rains.", 0.5, 224, id="sure enough"),
        pytest.param("It rains.", 0.49, 448, id="whole words that the sound doubts"),
        pytest.param("It rains.", 0.2, 448, id="doubted no more than that"),
        pytest.param("It rains.", 0.1, 544, id="whole words of which the sound says that more comes"),
        pytest.param("It rains.", 0.0, 544, id="as little as there is"),
        pytest.param("It rains.", None, 224, id="nobody asked the sound"),
        pytest.param("the red one", 0.99, 608, id="a sure sound does not make words whole"),
        pytest.param("the red one", None, 608, id="words that may go on"),
        pytest.param("the red one", 0.1, 1_216, id="words that may go on and a sound that does"),
        pytest.param("It rains and", 0.99, 1_216, id="words that do go on"),
        pytest.param("", None, 224, id="nothing heard"),
    ],
)
def test_the_wait_is_graded_by_what_the_witnesses_say(text: str, sound: float | None, wait: float) -> None:
    assert wait_ms(judge(text, "en", sound=sound)) == wait


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(["It rains.", "the red one", "It rains and"]))
def test_a_surer_sound_never_waits_longer(one: float, other: float, text: str) -> None:
    less, more = sorted((one, other))
    assert wait_ms(judge(text, "en", sound=more)) <= wait_ms(judge(text, "en", sound=less))


def test_a_person_who_pauses_long_is_waited_for_and_one_who_never_pauses_is_not() -> None:
    whole, going_on = Judgement("complete", "both", 0.9), Judgement("incomplete", "words")
    slow, fluent = Pauses(), Pauses()
    for _ in range(8):
        slow.heard(600)
        slow.finished()
        fluent.finished()
    assert wait_ms(whole, factor=slow.factor) > wait_ms(whole) > wait_ms(whole, factor=fluent.factor)
    assert wait_ms(going_on, factor=slow.factor) == wait_ms(going_on)
    for _ in range(8):
        slow.heard(100)
    assert slow.factor > 1.5, "a consonant is no pause"


def test_a_word_alone_and_a_person_among_people_are_waited_for_a_little_longer() -> None:
    plain = manner("complete", voiced_ms=900, crowded=False)
    assert plain == 1.0
    assert manner("complete", voiced_ms=300, crowded=False) > plain
    assert manner("complete", voiced_ms=900, crowded=True) > plain
    assert manner("unsure", voiced_ms=300, crowded=True) == manner("incomplete", voiced_ms=300, crowded=True) == 1.0


@pytest.mark.parametrize(
    ("text", "language", "verdict"),
    [
        ("What is the capital of France?", "en", "complete"),
        ("What are you talking about?", "en", "complete"),
        ("I went to the shop and", "en", "incomplete"),
        ("I went to the shop and.", "en", "incomplete"),
        ("Tell me about, um...", "en", "incomplete"),
        ("Well,", "en", "incomplete"),
        ("I would like to go to.", "en", "unsure"),
        ("I would like to go to", "en", "incomplete"),
        ("My number is five five five", "en", "incomplete"),
        ("It is 555 12", "en", "incomplete"),
        ("Call 555 1234 567.", "en", "unsure"),
        ("It opened in 2024.", "en", "complete"),
        ("I would like to know how.", "en", "unsure"),
        ("How?", "en", "complete"),
        ("the red one in the corner", "en", "unsure"),
        ("Can you?", "en", "incomplete"),
        ("Is there a room with?", "en", "unsure"),
        ("What is it for?", "en", "complete"),
        ("Did you see that?", "en", "complete"),
        ("What is the difference between?", "en", "incomplete"),
        ("Let me see.", "en", "incomplete"),
        ("Fine. Well.", "en", "incomplete"),
        ("I want to.", "en", "incomplete"),
        ("When I was small.", "en", "incomplete"),
        ("When does it open?", "en", "complete"),
        ("If it snows, we stay.", "en", "complete"),
        ("Because I was ill.", "en", "unsure"),
        ("The old man in the corner.", "en", "unsure"),
        ("The shop opened late.", "en", "complete"),
        ("Wenn es regnet.", "de", "incomplete"),
        ("Könntest du?", "de", "incomplete"),
        ("Est-ce que vous?", "fr", "incomplete"),
        ("Si llueve.", "es", "incomplete"),
        ("Ich gehe nach Hause und", "de", "incomplete"),
        ("Ich gehe nach Hause.", "de", "complete"),
        ("Je voudrais un", "fr", "incomplete"),
        ("你好。", "zh", "complete"),
        ("…", "en", "incomplete"),
        ("'", "en", "unsure"),
    ],
)
def test_the_words_say_whether_a_phrase_is_finished(text: str, language: str, verdict: Verdict) -> None:
    assert judge_words(text, language) == verdict


@pytest.mark.parametrize(
    ("text", "sound", "verdict", "who"),
    [
        ("It rains.", 0.9, "complete", "both"),
        ("It rains.", 0.1, "unsure", "sound"),
        ("It rains.", None, "complete", "words"),
        ("It rains and", 0.99, "incomplete", "words"),
        ("the red one", 0.05, "incomplete", "sound"),
        ("the red one", 0.99, "unsure", "words"),
        ("", None, "complete", "nothing heard"),
    ],
)
def test_complete_needs_both_witnesses_and_the_judgement_says_who_decided(
    text: str, sound: float | None, verdict: Verdict, who: str
) -> None:
    said = judge(text, "en", sound=sound)
    assert (said.verdict, said.decided_by) == (verdict, who)


@given(st.text(max_size=60), st.sampled_from(["en", "de", "xx"]), st.one_of(st.none(), st.floats(0, 1)))
@settings(max_examples=100)
def test_the_judge_takes_any_text(text: str, language: str, sound: float | None) -> None:
    assert judge(text, language, sound=sound).verdict in VERDICTS


@pytest.mark.parametrize(
    ("said", "believed"),
    [
        pytest.param("you you you you", "", id="W5"),
        pytest.param("你 你 你 你", "", id="W5-zh"),
        ("No, no, no.", "No, no, no."),
        ("Bye bye", "Bye bye"),
        ("What is the capital? What is the capital?", "What is the capital?"),
        ("Is it far from here? Is it far from here? Is it far from here? Is it far from here?", "Is it far from here?"),
        ("How do I get there? How do I get there? How do I", "How do I get there?"),
        ("I want to go, I want to", "I want to go, I want to"),
        ("I said the the the same thing again", "I said the same thing again"),
        ("la di la di la di la di la di", ""),
        ("A plain sentence stays as it is.", "A plain sentence stays as it is."),
        ("Stop it. Stop it. Stop it.", "Stop it. Stop it. Stop it."),
        ("So he said and then we go and then we go and then we go and then we go", ""),
        (
            "It is a long story and so on and so on and so on and so on they say now",
            "It is a long story and so on they say now",
        ),
        ("", ""),
    ],
)
def test_what_a_decoder_says_in_a_loop_is_dropped_and_what_people_repeat_stays(said: str, believed: str) -> None:
    assert believable(said, no_speech=0.0, mean_log_probability=-0.3) == believed


def test_unlikely_words_over_likely_silence_are_dropped() -> None:
    assert believable("Thank you.", no_speech=0.9, mean_log_probability=-1.5) == ""
    assert believable("Thank you.", no_speech=0.9, mean_log_probability=-0.2) == "Thank you."


@given(st.lists(st.text("ab .", max_size=12), max_size=12))
@settings(max_examples=100)
def test_guards_only_ever_take_words_away(parts: list[str]) -> None:
    text = " ".join(parts)
    kept = believable(text, no_speech=0.0, mean_log_probability=0.0).split()
    assert all(word in text.split() for word in kept)
    assert len(kept) <= len(text.split())


@given(st.lists(st.integers(0, 4_000), max_size=30), st.integers(1, 20_000), st.data())
@settings(max_examples=60)
def test_a_ring_reads_back_what_was_written_within_its_bound(sizes: list[int], bound: int, data: st.DataObject) -> None:
    ring, whole = Ring(bound), np.zeros(0, dtype=np.float32)
    for size in sizes:
        part = np.arange(len(whole), len(whole) + size, dtype=np.float32)
        ring.append(part)
        whole = np.concatenate([whole, part])
        if data.draw(st.booleans()):
            ring.keep_from(data.draw(st.integers(0, len(whole))))
    assert ring.stop == len(whole)
    assert ring.capacity <= max(bound, 1)
    assert np.array_equal(ring.read(0, ring.stop), whole[ring.start :])
    if ring.stop - ring.start > 2:
        assert np.array_equal(ring.read(ring.start + 1, ring.stop - 1), whole[ring.start + 1 : -1])


def test_sound_that_was_dropped_is_not_read_back_as_silence_when_the_ring_grows() -> None:
    ring = Ring(20_000)
    ring.append(np.ones(16_000, dtype=np.float32))
    ring.keep_from(10_000)
    ring.append(np.ones(4_000, dtype=np.float32))
    ring.keep_from(0)
    ring.append(np.ones(1, dtype=np.float32))
    assert ring.start == 4_000
    assert ring.read(0, ring.stop).min() == 1


def test_kept_sound_grows_for_an_utterance_and_shrinks_after_it() -> None:
    ring = Ring(480_000)
    ring.keep_from(0)
    for _ in range(1_000):
        ring.append(np.ones(320, dtype=np.float32))
    assert len(ring.read(0, ring.stop)) == 320_000
    ring.keep_from(ring.stop)
    ring.append(np.ones(320, dtype=np.float32))
    assert ring.capacity < 40_000
    assert ring.read(ring.stop - 320, ring.stop).sum() == 320


@pytest.mark.parametrize("frames", [pytest.param(30_000, id="L3")])
def test_sound_that_nobody_takes_is_bounded_and_its_loss_is_counted(frames: int) -> None:
    inbox = Inbox()
    for _ in range(frames):
        inbox.put(Pcm.silence(0.02, 16_000))
    assert len(inbox) <= 501
    held = len(inbox) * 0.02
    assert held + inbox.lost_s() == pytest.approx(frames * 0.02, abs=0.05)


def test_a_released_key_outlives_the_sound_that_does_not_fit() -> None:
    inbox = Inbox()
    inbox.put(Pcm.silence(1.0, 16_000))
    inbox.put("commit")
    for _ in range(30):
        inbox.put(Pcm.silence(1.0, 16_000))
    assert inbox.take() == "commit"
    assert len(inbox) == 10
    for _ in range(1_000):
        inbox.put("clear")
    assert len(inbox) == 11


async def test_events_that_nobody_reads_are_bounded() -> None:
    outbox = Outbox()
    for number in range(10_000):
        outbox.put(SpeechStarted(number, 1, 0.0))
        outbox.put(Words("partial", number, 1, "a", "en", 0.0))
        outbox.put(Words("partial", number, 1, "a b", "en", 0.0))
    outbox.close()
    read = [event async for event in outbox.events()]
    assert len(read) <= 256
    assert isinstance(read[-1], Words)
    assert read[-1].text == "a b"


async def test_waiting_for_sound_ends_when_the_patience_does() -> None:
    inbox = Inbox()
    assert await inbox.wait(1.0, lambda _s: asyncio.sleep(0)) is False
    inbox.put("commit")
    assert await inbox.wait(1.0, lambda _s: asyncio.sleep(0)) is True
    assert await inbox.wait(None, lambda _s: asyncio.sleep(0)) is True


HEARD = [
    Heard("One.", 0.5, 1.25, (Word("One.", 0.5, 1.2, 0.9),), 80.0, 0.1, -0.3, 1.0),
    Heard("Two.", 3661.002, 3662.0, (), 80.0, 0.1, -0.3, 1.0),
]


def test_subtitles_have_the_shape_that_players_read() -> None:
    assert srt(HEARD) == ("1\n00:00:00,500 --> 00:00:01,250\nOne.\n\n2\n01:01:01,002 --> 01:01:02,000\nTwo.\n")
    assert vtt(HEARD).startswith("WEBVTT\n\n00:00:00.500 --> 00:00:01.250\nOne.\n\n")
    assert srt([]) == ""


def test_a_long_utterance_is_several_subtitles_and_loses_no_word() -> None:
    words = tuple(Word(f"word{n}", n * 0.5, n * 0.5 + 0.4, 1.0) for n in range(40))
    text = " ".join(word.text for word in words)
    lines = vtt([Heard(text, 0.0, 20.0, words, 1.0, 0.0, 0.0, 1.0)]).split("\n\n")[1:]
    spoken = [line.split("\n")[1] for line in lines]
    assert " ".join(spoken) == text
    assert all(len(line) <= 84 for line in spoken)


def test_verbose_json_holds_what_was_asked_for() -> None:
    body = verbose(HEARD, language="en", duration_s=5.0, words=True, segments=False)
    assert body["words"] == [{"word": "One.", "start": 0.5, "end": 1.2}]
    assert "segments" not in body
    assert body["language"] == "english"
