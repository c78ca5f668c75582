"""The whole loop by WebRTC on real models: somebody calls, asks aloud, and hears an answer on the line."""

from __future__ import annotations

import httpx2
import numpy as np
import pytest
from spoken_question import QUESTION, word_errors

from firstword.ear import listen
from firstword.settings import load_settings
from firstword.testing.caller import called
from sound import Pcm

pytestmark = [pytest.mark.models, pytest.mark.timeout(300)]


async def test_a_question_that_is_spoken_on_a_call_is_heard_and_answered_on_the_line(
    house_url: str, question: Pcm
) -> None:
    async with httpx2.AsyncClient(trust_env=False) as http:
        started = (await http.post(f"{house_url}/app/voice/guide/start")).json()
    async with called(house_url, started["grant"], session={"firstword": {"events": True}}) as caller:
        caller.microphone.speak(question)
        heard = await caller.until("conversation.item.input_audio_transcription.completed", limit_s=60)
        assert word_errors(QUESTION, heard["transcript"]) == 0
        await caller.until("output_audio_buffer.stopped", limit_s=120)
        said = caller.last("response.output_audio_transcript.done")["transcript"]
        trace = caller.last("firstword.trace")
    assert said
    assert trace["first_word_ms"] >= trace["eot_wait_ms"]
    sound = caller.sound()
    began = int(np.argmax(np.abs(sound.samples) > 0.01))
    answer = Pcm(sound.samples[max(0, began - 4_800) :], sound.rate_hz)
    understood = listen(load_settings(), answer, language="en", live=False, on_partial=None)
    assert word_errors(said, understood["text"]) < 0.25
