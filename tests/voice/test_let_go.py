"""What one event sets is reset however the thing it was for ends: one test for each that once was not."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Coroutine
from typing import Any

import pytest
from leaving import Talk

from firstword.testing.clock import run_virtually
from sound import Pcm
from voice.answer import OUT_HZ

WORDS = "when does it open"


def talked(main: Coroutine[Any, Any, None]) -> None:
    run_virtually(main)


async def asked(talk: Talk, text: str = WORDS) -> None:
    talk.hears("words", text)
    talk.ear.stop()
    await asyncio.sleep(0.01)


def test_a_text_answer_that_ends_while_it_is_held_lets_the_loudspeaker_go() -> None:
    async def main() -> None:
        talk = Talk(call=True, ours=True)
        talk.send("session.update", session={"output_modalities": ["text"]})
        talk.door.next_as = "slow"
        await asked(talk)
        await asyncio.sleep(1.6)
        talk.ear.start()
        await asyncio.sleep(0.3)
        assert talk.loudspeaker is not None
        await asyncio.sleep(5)
        assert not talk.loudspeaker.held
        assert not talk.watcher.held
        await talk.session.close()

    talked(main())


def test_text_alone_was_asked_for_once_and_the_next_answer_sounds() -> None:
    async def main() -> None:
        talk = Talk(call=False, ours=True)
        talk.write(WORDS)
        talk.send("response.create", response={"output_modalities": ["text"]})
        await asyncio.sleep(5)
        assert talk.samples == 0
        await asked(talk)
        await asyncio.sleep(5)
        assert talk.samples > 0
        await talk.session.close()

    talked(main())


def test_an_answer_prepared_with_sound_is_made_anew_where_text_is_chosen_before_it_is_shown() -> None:
    async def main() -> None:
        talk = Talk(call=False, ours=True)
        talk.hears("words", WORDS)
        await asyncio.sleep(0.05)
        assert talk.door.open == 1 or talk.session.state.answer is not None
        talk.send("session.update", session={"output_modalities": ["text"]})
        talk.ear.stop()
        await asyncio.sleep(5)
        assert talk.samples == 0
        assert len(talk.watcher.over) == 1
        await talk.session.close()

    talked(main())


def test_a_greeting_asked_for_while_somebody_speaks_is_no_answer_to_what_they_say() -> None:
    async def main() -> None:
        talk = Talk(call=False, ours=True, greeting="Welcome.")
        talk.ear.start()
        await asyncio.sleep(0.1)
        talk.send("session.update", session={"firstword": {"greet": True}})
        talk.hears("words", WORDS)
        talk.ear.stop()
        await asyncio.sleep(10)
        assert talk.session.history.messages()[0].content == WORDS
        assert "Welcome." not in [line.content for line in talk.session.history.messages()]
        await talk.session.close()

    talked(main())


def test_a_typed_line_ends_the_speech_that_it_came_over() -> None:
    async def main() -> None:
        talk = Talk(call=False, ours=True)
        talk.ear.start()
        await asyncio.sleep(0.1)
        talk.send("response.create")  # wanted once they have spoken
        talk.write(WORDS)
        talk.send("response.create")
        assert not talk.watcher.speaking
        await asyncio.sleep(10)
        assert talk.watcher.errors == []
        await talk.session.close()

    talked(main())


def test_a_line_that_was_taken_back_is_not_answered() -> None:
    async def main() -> None:
        talk = Talk(call=False, ours=True)
        part = {"type": "input_text", "text": WORDS}
        item = {"id": "item_1", "type": "message", "role": "user", "content": [part]}
        talk.send("conversation.item.create", item=item)
        talk.send("conversation.item.delete", item_id="item_1")
        assert talk.watcher.errors == []
        assert talk.session.history.find("item_1") is None
        await asked(talk, "and how late is it")
        assert [line.content for line in talk.session.history.messages()] == ["and how late is it"]
        await talk.session.close()

    talked(main())


def test_a_written_line_that_nobody_asked_to_answer_comes_before_what_is_said_after_it() -> None:
    async def main() -> None:
        talk = Talk(call=False, ours=True)
        talk.write("I am in Vienna.")
        await asked(talk)
        assert talk.session.history.messages()[0].content == f"I am in Vienna. {WORDS}"
        await talk.session.close()

    talked(main())


def test_a_refused_update_changes_nothing() -> None:
    async def main() -> None:
        talk = Talk(call=False, ours=True)
        form = {"type": "audio/pcm", "rate": 8_000}
        for session in (
            {"audio": {"input": {"format": form, "turn_detection": {"type": "by ear"}}}},
            {"audio": {"input": {"format": form}, "output": {"speed": 99}}},
            {"firstword": {"mode": "typed"}, "audio": {"output": {"speed": 99}}},
        ):
            talk.send("session.update", session=session)
        assert len(talk.watcher.errors) == 3
        assert talk.session.state.mode == "open"
        # A tenth of a second at the rate that holds.
        talk.send("input_audio_buffer.append", audio="AAAA" * 1_600)
        assert talk.ear.pushed_s == pytest.approx(0.1, abs=0.021)
        await talk.session.close()

    talked(main())


def test_a_language_that_nobody_here_understands_is_refused_in_words_and_leaves_the_rest_as_it_was() -> None:
    async def main() -> None:
        talk = Talk(call=False, ours=True)
        talk.ear.refuses = "xx"
        session = {"output_modalities": ["text"], "audio": {"input": {"transcription": {"language": "xx"}}}}
        talk.send("session.update", session=session)
        assert "'xx'" in talk.watcher.errors[0]
        assert talk.session.wire.audio
        assert talk.session.bot.language == "en"
        await talk.session.close()

    talked(main())


def test_half_a_sample_is_forgotten_with_the_sound_that_is_cleared() -> None:
    async def main() -> None:
        talk = Talk(call=False, ours=True)
        talk.send("input_audio_buffer.append", audio=base64.b64encode(b"\0").decode())
        talk.send("input_audio_buffer.clear")
        # Faint samples; by one byte off, they are loud.
        talk.send("input_audio_buffer.append", audio=base64.b64encode(b"\x40\0" * 960).decode())
        assert talk.ear.pushed_s > 0
        assert talk.ear.loudest < 0.01
        await talk.session.close()

    talked(main())


def test_what_is_heard_over_an_answer_is_not_measured_as_its_question() -> None:
    async def main() -> None:
        talk = Talk(call=False, ours=True)
        talk.door.next_as = "long"
        traces: list[dict[str, Any]] = []
        talk.session.wire.own = lambda name, **fields: traces.append(fields) if name == "trace" else None  # type: ignore[method-assign]
        talk.session.hear(Pcm.silence(0.02, OUT_HZ))
        await asked(talk)
        await asyncio.sleep(0.5)
        talk.session.hear(Pcm.silence(0.02, OUT_HZ))
        await asked(talk, "mhm")
        await asyncio.sleep(10)
        assert len(traces) == 1
        assert traces[0]["first_word_ms"] >= 0
        await talk.session.close()

    talked(main())


def test_a_conversation_whose_listener_ended_is_broken_and_not_deaf_for_ever() -> None:
    async def main() -> None:
        talk = Talk(call=False, ours=True)
        talk.ear.ended = True
        talk.ear.start()
        await asyncio.sleep(0.1)
        assert talk.session.broken
        await talk.session.close()

    talked(main())


def test_reading_a_thread_again_and_again_keeps_no_finished_work() -> None:
    async def main() -> None:
        talk = Talk(call=False, ours=True)
        for n in range(20):
            talk.send("session.update", session={"firstword": {"thread": f"thread_{n}"}})
            await asyncio.sleep(0.01)
        assert len(talk.session._tasks) == 2
        await talk.session.close()

    talked(main())


def test_lines_that_waited_for_a_thread_are_not_said_in_another_when_their_client_leaves() -> None:
    async def main() -> None:
        talk = Talk(call=False, ours=True)

        async def never(_thread: str) -> int:
            await asyncio.Event().wait()
            return 0

        talk.session.noted.go_on = never  # type: ignore[method-assign]
        talk.send("session.update", session={"firstword": {"thread": "thread_1"}})
        talk.write(WORDS)
        talk.send("response.create")
        await asyncio.sleep(0.1)
        await talk.session.close()
        assert talk.session.history.last_id is None

    talked(main())
