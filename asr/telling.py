"""What a listener tells: the turn's bookkeeping and what was understood, made into the events of `asr/events.py`.

It decides nothing. The one rule: of one generation the pause, the final words and the judgement are told once.
"""

from __future__ import annotations

from typing import Literal

from asr.ear import Understood
from asr.events import Judged, SpeechEnded, SpeechPaused, SpeechStarted, Words, moved
from asr.features import RATE_HZ
from asr.inbox import Outbox
from asr.stable import StablePrefix
from asr.turn import Turn


class Telling:
    """One session's events, into its outbox."""

    def __init__(self, outbox: Outbox, turn: Turn) -> None:
        self._outbox = outbox
        self._turn = turn
        self._stable = StablePrefix()

    def begin(self) -> None:
        """Another utterance: nothing of it is stable yet."""
        self._stable.clear()

    def started(self, at: int) -> None:
        """Somebody speaks from sample `at` on."""
        self._outbox.put(SpeechStarted(self._turn.number, self._turn.generation, at / RATE_HZ))

    def paused(self) -> None:
        """They are silent."""
        turn = self._turn
        if not turn.announced:
            turn.announced = True
            self._outbox.put(SpeechPaused(turn.number, turn.generation, turn.speech_stop / RATE_HZ))

    def guess(self, seen: Understood, stop: int) -> None:
        """What seems to have been said up to sample `stop`."""
        self._words("partial", seen, stop, stable=self._stable.push(seen.transcript.text))

    def final(self, understood: Understood) -> None:
        """What was said, and what is made of it once that is known."""
        turn, judgement = self._turn, understood.judgement
        if not turn.said:
            turn.said = True
            self._words("final", understood, turn.speech_stop, stable=understood.transcript.text)
        if understood.judged and not turn.judged:
            turn.judged = True
            verdict, who, sound = judgement.verdict, judgement.decided_by, judgement.sound
            self._outbox.put(Judged(turn.number, turn.generation, verdict, who, sound))

    def ended(self, understood: Understood, waited_ms: float) -> None:
        """The words stand."""
        turn, verdict = self._turn, understood.judgement.verdict
        at_s = turn.speech_stop / RATE_HZ
        self._outbox.put(SpeechEnded(turn.number, turn.generation, at_s, verdict, round(waited_ms, 1)))

    def _words(self, kind: Literal["partial", "final"], understood: Understood, stop: int, *, stable: str) -> None:
        turn, heard = self._turn, understood.transcript
        self._outbox.put(
            Words(
                kind=kind,
                turn=turn.number,
                generation=turn.generation,
                text=heard.text,
                language=heard.language,
                speech_end_s=stop / RATE_HZ,
                words=moved(heard.words, turn.audio_start / RATE_HZ),
                verdict=understood.judgement.verdict,
                recognise_ms=understood.recognise_ms,
                stable=stable,
                no_speech=heard.no_speech,
                mean_log_probability=heard.mean_log_probability,
            )
        )
